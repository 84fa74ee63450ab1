/* Temporary files, when a signal handler removes them while another thread is at work on them. */
#include "media/output/output_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static OutputFile first, second;
static char removed[8][256];
static int removed_count, gets_ahead;

/* The system's, which another thread gets ahead of: what that frees is used again at once. */
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

static void test_closed_in_the_middle(void)
{
    char folder[] = "/tmp/lumeq-test-XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL, "no folder") || !open_in(&first, folder, "a.mkv") ||
        !open_in(&second, folder, "b.mkv"))
        return;
    removed_count = 0;
    gets_ahead = 1;
    temp_file_remove_all(NULL);
    CHECK(removed_count > 0, "nothing was removed");
    for (int i = 0; i < removed_count; i++)
        CHECK(strncmp(removed[i], folder, strlen(folder)) == 0, "'%s' was removed", removed[i]);
    CHECK(rmdir(folder) == 0, "something is left");
}

static void test_only_what_is_being_written(void)
{
    char folder[] = "/tmp/lumeq-test-XXXXXX", whole[64];
    MediaError error = {0};
    if (!CHECK(mkdtemp(folder) != NULL, "no folder") || !open_in(&first, folder, "a.mkv") ||
        !open_in(&second, folder, "b.mkv"))
        return;
    CHECK(output_file_commit(&first, OUTPUT_OWN_NAME, &error) == 0, "%s", error.text);
    temp_file_remove_all(NULL);
    snprintf(whole, sizeof(whole), "%s/a.mkv", folder);
    CHECK(is_there(whole), "what was finished is gone");
    CHECK(!is_there(second.temp.name), "what was not finished is there");
    output_file_close(&first);
    output_file_close(&second);
    CHECK(is_there(whole), "what was finished is gone");
    (void)remove(whole);
    CHECK(rmdir(folder) == 0, "something is left");
}

static const CheckTest tests[] = {
    {"closed_in_the_middle", test_closed_in_the_middle},
    {"only_what_is_being_written", test_only_what_is_being_written},
};
CHECK_MAIN(tests)
