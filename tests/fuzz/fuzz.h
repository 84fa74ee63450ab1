/* Helpers of all targets. */
#ifndef LUMEQ_TESTS_FUZZ_H
#define LUMEQ_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"

/* Runs one input. libFuzzer passes generated inputs; replay.c passes stored inputs. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The number of inputs that the code under test accepted. Replaying a corpus fails if this is 0,
 * because the format of the corpus must be outdated. */
extern int fuzz_valid;

/* If the condition is false, prints it and aborts. */
#define FUZZ_CHECK(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct FuzzBytes {
    const uint8_t *at;
    size_t left;
} FuzzBytes;

/* Takes the next byte; 0 after the end. */
static inline int fuzz_byte(FuzzBytes *b)
{
    if (!b->left)
        return 0;
    b->left--;
    return *b->at++;
}

/* A number from 0 to count - 1, made from a byte; `count` is at most 256. */
static inline int fuzz_below(FuzzBytes *b, int count)
{
    return fuzz_byte(b) % count;
}

static inline void fuzz_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(bytes, 1, size, file) == size, "cannot write %s", path);
    FUZZ_CHECK(fclose(file) == 0, "cannot write %s", path);
}

/* Makes a file in memory. Its path is valid while the returned descriptor is open. */
static inline int fuzz_file(const void *bytes, size_t size, char path[32])
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "cannot make a file");
    FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0, "cannot rewind a file");
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
