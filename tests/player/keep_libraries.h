/* SDL unloads the OpenGL driver with the last window. LeakSanitizer would then report memory that
 * only the driver's variables point to. */
#ifndef LUMEQ_TESTS_KEEP_LIBRARIES_H
#define LUMEQ_TESTS_KEEP_LIBRARIES_H

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct LoadedLibraries {
    char *names[512];
    int count;
} LoadedLibraries;

static inline int note_library(struct dl_phdr_info *info, size_t size, void *data)
{
    LoadedLibraries *loaded = data;
    (void)size;
    if (info->dlpi_name && info->dlpi_name[0] && loaded->count < 512)
        loaded->names[loaded->count++] = strdup(info->dlpi_name);
    return 0;
}

/* Keeps all loaded libraries in memory. Call after a window is opened. dl_iterate_phdr() holds a
 * lock that other threads need to load libraries, so its callback only collects names. */
static inline void keep_libraries(void)
{
    LoadedLibraries loaded = {0};
    dl_iterate_phdr(note_library, &loaded);
    for (int i = 0; i < loaded.count; i++) {
        if (loaded.names[i])
            dlopen(loaded.names[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        free(loaded.names[i]);
    }
}

#endif
