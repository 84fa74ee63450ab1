/* A temporary folder for a test's files, made at first use and removed at the end. */
#ifndef LUMEQ_TESTS_FOLDER_H
#define LUMEQ_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static char folder[128];

/* Removes the folder with all its files; the next use makes another one. */
static inline void remove_folder(void)
{
    char command[160];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    if (folder[0] && system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", folder);
    folder[0] = '\0';
}

/* A path in the folder; stays valid during the next three calls. */
static inline const char *in_folder(const char *name)
{
    static char paths[4][480];
    static int turn, registered;
    const char *temporary = getenv("TMPDIR");
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "%s/lumeq-test-XXXXXX", temporary ? temporary : "/tmp");
        if (!mkdtemp(folder) || (!registered++ && atexit(remove_folder) != 0)) {
            perror(folder);
            exit(1);
        }
    }
    char *path = paths[turn = (turn + 1) % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

/* Writes a file in the folder; returns its path. */
static inline const char *write_file(const char *name, const void *bytes, size_t size)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "cannot write %s",
          path);
    return path;
}

#endif
