/* Memory of a GPU that callers of the library write their outputs to. Any thread. */
#ifndef LUMEQ_CUDA_DEVICE_MEMORY_H
#define LUMEQ_CUDA_DEVICE_MEMORY_H

#include <stddef.h>

/* Aligned to 256 bytes; NULL when there is none left. */
void *lumeq_device_alloc(int device, size_t size);

/* May wait for the GPU. */
void lumeq_device_free(int device, void *memory);

/* Whether `memory` points into memory of that device. 1 also where CUDA does not answer: then the
 * device is lost, and the next call says so. */
int lumeq_device_owns(int device, const void *memory);

#endif
