#include "app/encoder_list.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/terminal.h"
#include "media/error.h"
#include "media/output/codec_list.h"
#include "media/process.h"

#define SECONDS 20 /* a working driver answers within this time */
#define MAX_ANSWER 32768

/* In a child process, since drivers may hang or crash: writes "NAME REASON", or "NAME " if the
 * encoder opens, for each hardware encoder. */
static int try_hardware(void *opaque, int output)
{
    const AVCodec *codec;
    void *at = NULL;
    FILE *to = fdopen(output, "w");
    const int null = open("/dev/null", O_RDWR);
    (void)opaque;
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void)dup2(null, fd); /* libraries print messages */
    while (to && (codec = codec_list_next(&at, 1))) {
        MediaError error = {0};
        const int works = codec_list_try(codec, &error) >= 0;
        fprintf(to, "%s %s\n", codec->name, works ? "" : error.text);
        fflush(to);
    }
    _exit(0); /* skip exit handlers of drivers */
}

static void read_answer(char answer[MAX_ANSWER])
{
    const ProcessOptions options = {.body = try_hardware};
    Process process;
    size_t size = 0;
    ssize_t n = 0;
    if (process_start(&process, &options) == 0) {
        while (size < MAX_ANSWER - 1 &&
               (n = process_read(&process, answer + size, MAX_ANSWER - 1 - size, SECONDS * 1000)) >
                   0)
            size += (size_t)n;
        if (n != 0)
            (void)kill(process.pid, SIGKILL);
        (void)process_wait(&process, 500);
    }
    answer[size] = '\0';
}

/* Prints why the encoder does not work, or "" if it does. */
static void find_reason(const char *answer, const char *name, char *reason, size_t size)
{
    const size_t n = strlen(name);
    for (const char *line = answer; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name, n) == 0 && line[n] == ' ') {
            snprintf(reason, size, "%.*s", (int)strcspn(line + n + 1, "\n"), line + n + 1);
            return;
        }
    snprintf(reason, size, "its driver does not answer");
}

static void print_hardware(const char *answer, int working)
{
    const AVCodec *codec;
    void *at = NULL;
    while ((codec = codec_list_next(&at, 1))) {
        char reason[512];
        find_reason(answer, codec->name, reason, sizeof(reason));
        const int works = !*reason;
        if (works != working)
            continue;
        codec_list_encoder(codec, say_answer_line);
        if (!working)
            say_answer("   does not work here: %s", reason);
    }
}

void encoder_list_print(void)
{
    char answer[MAX_ANSWER];
    const AVCodec *codec;
    void *at = NULL;
    read_answer(answer);
    print_hardware(answer, 1);
    while ((codec = codec_list_next(&at, 0)))
        codec_list_encoder(codec, say_answer_line);
    print_hardware(answer, 0);
}
