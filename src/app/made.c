#include "app/made.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "app/options/option_arguments.h"
#include "media/checksum.h"

#define ATTRIBUTE "user.lumeq.made"
#define ROOM 128

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
    const int64_t numbers[] = {in.st_size, in.st_mtim.tv_sec, in.st_mtim.tv_nsec};
    uint32_t sum = checksum(0, numbers, sizeof(numbers));
    sum = checksum(sum, &o->lookahead, sizeof(o->lookahead)); /* it is not among the arguments */
    (void)add(&sum, path);
    (void)option_arguments(o, add, &sum);
    return sum;
}

/* The note, without the exit code that ends it. Returns 0 or -1. */
static int print(char text[ROOM], const char *output, uint32_t how)
{
    struct stat out;
    if (lstat(output, &out) < 0)
        return -1;
    snprintf(text, ROOM, "%08x %lld bytes %lld.%09ld s, code ", how, (long long)out.st_size,
             (long long)out.st_mtim.tv_sec, out.st_mtim.tv_nsec);
    return 0;
}

int made_note(const char *output, uint32_t how, int code)
{
    char text[ROOM];
    if (print(text, output, how) < 0)
        return -1;
    snprintf(text + strlen(text), ROOM - strlen(text), "%d", code);
    return lsetxattr(output, ATTRIBUTE, text, strlen(text), 0);
}

int made_code(const char *output, uint32_t how)
{
    char text[ROOM], there[ROOM] = "";
    if (print(text, output, how) < 0 || lgetxattr(output, ATTRIBUTE, there, ROOM - 1) < 0 ||
        strncmp(there, text, strlen(text)) != 0)
        return -1;
    return atoi(there + strlen(text));
}
