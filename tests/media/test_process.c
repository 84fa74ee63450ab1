/* A child's lines. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "media/process.h"

static int write_lines(void *opaque, int output)
{
    (void)opaque;
    char bytes[3000];
    memset(bytes, 'a', sizeof(bytes));
    memcpy(bytes + 2990, "\nlast line\n", 10);
    memcpy(bytes, "first", 5);
    return write(output, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes) ||
           write(output, "\n", 1) != 1;
}

static char lines[2][1300];
static int count;

static void take(void *opaque, const char *line)
{
    (void)opaque;
    if (count < 2)
        (void)snprintf(lines[count], sizeof(lines[0]), "%s", line);
    count++;
}

TEST(long_lines_keep_their_beginning)
{
    Process process = {0};
    CHECK(process_start(&process, &(ProcessOptions){.body = write_lines}) == 0, "no child");
    while (process_read_lines(&process, take, NULL))
        (void)usleep(1000);
    CHECK(process_wait(&process, -1) == 0, "the child failed");
    CHECK(count == 2 && strncmp(lines[0], "firsta", 6) == 0 &&
              strlen(lines[0]) + 1 == sizeof(process.line) && strcmp(lines[1], "last line") == 0,
          "%d lines: %.8s (%zu), %s", count, lines[0], strlen(lines[0]), lines[1]);
}

TEST_MAIN
