/* lumeq-manual HEADER DATE FOLDER: writes the manual pages during the build. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "manual/pages.h"

static const struct {
    const char *name;
    void (*page)(FILE *to, const char *date);
} files[] = {
    {"lumeq.1", page_program},
    {"lumeq.5", page_settings},
    {"lumeq-bench.1", page_bench},
    {"liblumeq.3", NULL},
};

static int write_file(int i, FILE *to, const char *header_name, const char *date)
{
    if (files[i].page) {
        files[i].page(to, date);
        return 0;
    }
    FILE *header = fopen(header_name, "r");
    const int ret = header ? page_library(to, date, header) : -1;
    if (header)
        fclose(header);
    return ret;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: lumeq-manual HEADER DATE FOLDER\n");
        return 1;
    }
    for (int i = 0; i < (int)(sizeof(files) / sizeof(files[0])); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", argv[3], files[i].name);
        FILE *to = fopen(path, "w");
        int failed = !to || write_file(i, to, argv[1], argv[2]) < 0;
        failed |= to && ferror(to);
        if ((to && fclose(to) != 0) || failed) {
            fprintf(stderr, "lumeq-manual: cannot make %s: %s\n", path, strerror(errno));
            return 1;
        }
    }
    return 0;
}
