/* Memory of a GPU that callers of the library write their outputs to. Any thread. */
#ifndef LUMEQ_CUDA_DEVICE_MEMORY_H
#define LUMEQ_CUDA_DEVICE_MEMORY_H

#include <stddef.h>

/* Aligned to 256 bytes; NULL when there is none left. */
void *lumeq_device_alloc(int device, size_t size);

/* May wait for the GPU. */
void lumeq_device_free(int device, void *memory);

/* Where memory lies, for work in the primary context of a device, which is current. */
typedef enum LumeqPlace {
    LUMEQ_PLACE_PAGEABLE, /* ordinary memory of the host */
    LUMEQ_PLACE_HOST,     /* pinned, or managed: the GPU reaches it by itself */
    LUMEQ_PLACE_DEVICE,
    LUMEQ_PLACE_OTHER_CONTEXT, /* of that device, but not to be reached from the primary context */
    LUMEQ_PLACE_OTHER_DEVICE,
    LUMEQ_PLACE_UNKNOWN, /* CUDA does not answer: the device may be lost, and the next call says so
                          */
} LumeqPlace;

LumeqPlace lumeq_device_place(int device, const void *memory);

#endif
