#include "app/made.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "app/options/option_arguments.h"
#include "media/checksum.h"
#include "media/regular_file.h"

#define ATTRIBUTE "user.lumeq.made"

static int add(void *sum, const char *text)
{
    *(uint32_t *)sum = checksum(*(uint32_t *)sum, text, strlen(text) + 1);
    return 0;
}

uint32_t made_how(const Options *o, const char *input)
{
    struct stat in = {0};
    char path[PATH_MAX] = "";
    if (stat(input, &in) < 0 || !realpath(input, path))
        in = (struct stat){0};
    const int64_t id[] = {in.st_size, in.st_mtim.tv_sec, in.st_mtim.tv_nsec};
    uint32_t sum = checksum(0, id, sizeof(id));
    (void)add(&sum, path);
    (void)option_arguments(o, add, &sum);
    return sum;
}

int made_print(char text[MADE_ROOM], const struct stat *out, uint32_t how, int code)
{
    return snprintf(text, MADE_ROOM, "%08x %lld bytes %lld.%09ld s, code %d", how,
                    (long long)out->st_size, (long long)out->st_mtim.tv_sec, out->st_mtim.tv_nsec,
                    code);
}

int made_note(const char *output, uint32_t how, int code)
{
    char text[MADE_ROOM];
    struct stat out;
    if (lstat(output, &out) < 0)
        return -1;
    const int length = made_print(text, &out, how, code);
    return lsetxattr(output, ATTRIBUTE, text, (size_t)length, 0);
}

/* Returns the exit code in a note, or -1 if the note is for another output or another `how`. */
static int code_of(const char *note, const struct stat *out, uint32_t how)
{
    char text[MADE_ROOM];
    const char *code = strrchr(note, ' ');
    const int number = code ? atoi(code) : -1;
    (void)made_print(text, out, how, number);
    return strcmp(note, text) == 0 ? number : -1;
}

int made_code(const char *output, uint32_t how, const char *path)
{
    char note[MADE_ROOM] = "";
    struct stat out;
    if (lstat(output, &out) < 0)
        return -1;
    if (lgetxattr(output, ATTRIBUTE, note, MADE_ROOM - 1) > 0 && code_of(note, &out, how) >= 0)
        return code_of(note, &out, how);
    FILE *file = path ? regular_file_stream(path, O_NOFOLLOW) : NULL;
    const int code = file && fgets(note, sizeof(note), file) ? code_of(note, &out, how) : -1;
    if (file)
        fclose(file);
    return code;
}
