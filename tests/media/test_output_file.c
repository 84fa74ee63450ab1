/* Temporary files: names, memory, and removal while another thread uses them. */
#include "media/output/output_file.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static OutputFile first, second;
static char removed[8][256];
static int removed_count, gets_ahead;
static uint32_t next_number;

/* Replaces libavutil's function. Temporary names contain these numbers. */
uint32_t av_get_random_seed(void)
{
    return next_number++;
}

/* Replaces the system's function. If `gets_ahead` is set, first closes the files and reuses their
 * memory, as another thread might. */
int unlink(const char *name)
{
    if (gets_ahead) {
        gets_ahead = 0;
        output_file_close(&first);
        output_file_close(&second);
        for (size_t size = 16; size <= 256; size += 16) {
            char *other = malloc(size);
            if (other)
                memset(other, 'x', size);
            free(other);
        }
    }
    if (removed_count < 8)
        snprintf(removed[removed_count++], sizeof(removed[0]), "%s", name);
    return remove(name);
}

static int is_there(const char *name)
{
    struct stat there;
    return lstat(name, &there) == 0;
}

static int open_in(OutputFile *file, const char *folder, const char *name)
{
    char path[256];
    MediaError error = {0};
    *file = (OutputFile){0};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int ret = output_file_check(file, path, 0, NULL, &error) >= 0
                        ? output_file_open(file, &error)
                        : error.fault;
    return CHECK(ret >= 0, "%s", error.text);
}

TEST(files_closed_during_removal)
{
    char folder[] = "/tmp/lumeq-test-XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL, "no folder") || !open_in(&first, folder, "a.mkv") ||
        !open_in(&second, folder, "b.mkv"))
        return;
    removed_count = 0;
    gets_ahead = 1;
    output_file_remove_all(NULL);
    CHECK(removed_count > 0, "nothing was removed");
    for (int i = 0; i < removed_count; i++)
        CHECK(strncmp(removed[i], folder, strlen(folder)) == 0, "'%s' was removed", removed[i]);
    CHECK(rmdir(folder) == 0, "the folder is not empty");
}

/* If a new file's name is taken, by a file or by a dangling link, another name is tried. */
TEST(taken_names_are_skipped)
{
    char folder[] = "/tmp/lumeq-test-XXXXXX", whole[128], link[128], nowhere[64];
    char said[8] = "";
    if (!CHECK(mkdtemp(folder) != NULL, "no folder"))
        return;
    snprintf(nowhere, sizeof(nowhere), "%s/nowhere", folder);
    snprintf(whole, sizeof(whole), "%s/.a.mkv.lumeq-%08x.part", folder, 0x10u);
    snprintf(link, sizeof(link), "%s/.a.mkv.lumeq-%08x.part", folder, 0x11u);
    FILE *file = fopen(whole, "w");
    CHECK(file && fputs("whole", file) >= 0 && fclose(file) == 0 && chmod(whole, 0444) == 0 &&
              symlink(nowhere, link) == 0,
          "no files");
    next_number = 0x10;
    if (open_in(&first, folder, "a.mkv")) {
        const char *name = first.temp.name;
        CHECK(strcmp(name, whole) != 0 && strcmp(name, link) != 0, "the name is '%s'", name);
        CHECK(next_number == 0x13, "%u names were tried", next_number - 0x10);
        CHECK(write(first.temp.fd, "other", 5) == 5, "the file cannot be written");
    }
    CHECK(!is_there(nowhere), "the link was followed");
    output_file_close(&first);
    file = fopen(whole, "r");
    CHECK(file && fgets(said, sizeof(said), file) && fclose(file) == 0 &&
              strcmp(said, "whole") == 0,
          "the file with the taken name holds '%s'", said);
    (void)remove(whole);
    (void)remove(link);
    CHECK(rmdir(folder) == 0, "the folder is not empty");
}

/* A recording in segments creates files for days. */
TEST(memory_does_not_grow)
{
    char folder[] = "/tmp/lumeq-test-XXXXXX";
    size_t before = 0;
    if (!CHECK(mkdtemp(folder) != NULL, "no folder"))
        return;
    for (int i = 0; i < 2000; i++) {
        if (i == 100)
            before = mallinfo2().uordblks;
        if (!open_in(&first, folder, "a.mkv"))
            break;
        output_file_close(&first);
    }
    const size_t after = mallinfo2().uordblks; /* 0 with a sanitizer */
    CHECK(after < before + 20000, "%zu bytes became %zu", before, after);
    CHECK(rmdir(folder) == 0, "the folder is not empty");
}

TEST_MAIN
