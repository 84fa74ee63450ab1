/* SDL unloads the OpenGL driver with the last window. What Mesa's drivers keep for ever is a leak
 * then, of nobody; while they are loaded, their own variables still refer to it. */
#ifndef LUMEQ_TESTS_KEEP_LIBRARIES_H
#define LUMEQ_TESTS_KEEP_LIBRARIES_H

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

static inline int keep_library(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    if (info->dlpi_name && info->dlpi_name[0])
        dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return 0;
}

/* Once a window is open: nothing that is loaded now is unloaded any more. */
static inline void keep_libraries(void)
{
    dl_iterate_phdr(keep_library, NULL);
}

#endif
