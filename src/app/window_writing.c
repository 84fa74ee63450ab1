#include "app/window_writing.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/options/option_arguments.h"
#include "app/run_end.h"
#include "app/setup.h"
#include "app/terminal.h"
#include "media/file_name.h"
#include "media/output/output_file.h"
#include "media/printable.h"
#include "media/text_list.h"

#define MAX_NUMBERS 1000 /* names to try */
#define ENDING_ROOM 32   /* for "-lumeq-N.EXT" and the name of the temporary file */

/* ---- the command line ---- */

/* Adds the current settings as options for the whole film. */
static int add_settings(TextList *a, const Options *o)
{
    Options film = *o;
    film.from_us = film.to_us = film.frames = -1;
    film.virtual_camera = NULL;
    film.lookahead = -1;
    film.reference &= film.mode != LUMEQ_MODE_OFF; /* mode off excludes --reference */
    return option_arguments(&film, text_list_add, a);
}

/* Returns an unused name in `folder` (NULL: the current one), or NULL. Release it with free(). */
static char *free_name(const char *folder, const char *path, const char *extension)
{
    const char *base = file_name_base(path), *dot = strrchr(base, '.');
    const size_t room = file_name_room(folder ? folder : ".");
    char stem[NAME_MAX + 1], name[PATH_MAX];
    snprintf(stem, sizeof(stem), "%.*s", (int)(dot && dot != base ? dot - base : NAME_MAX), base);
    stem[file_name_cut(stem, room > ENDING_ROOM ? room - ENDING_ROOM : 0)] = '\0';
    for (int i = 1; i < MAX_NUMBERS; i++) {
        struct stat there;
        char number[16] = "";
        if (i > 1)
            snprintf(number, sizeof(number), "-%d", i);
        const int n =
            snprintf(name, sizeof(name), "%s%s%s-lumeq%s.%s", folder ? folder : "",
                     folder && strcmp(folder, "/") != 0 ? "/" : "", stem, number, extension);
        if (n >= (int)sizeof(name))
            return NULL;
        if (lstat(name, &there) < 0)
            return errno == ENOENT ? strdup(name) : NULL;
    }
    return NULL;
}

/* Names the output. Files in mp4 and mov keep their container, except with --vcodec. Other files
 * become Matroska, which holds all tracks and codecs. */
static char *find_output(const Options *o, const char *path)
{
    static const char *const kept[][2] = {{".mp4", "mp4"}, {".m4v", "mp4"}, {".mov", "mov"}};
    const char *dot = strrchr(file_name_base(path), '.'), *extension = "mkv";
    char *folder = file_name_folder(path);
    const bool beside = folder && strchr(path, '/') && access(folder, W_OK | X_OK) == 0;
    for (size_t i = 0; dot && !o->vcodec && i < sizeof(kept) / sizeof(kept[0]); i++)
        if (strcasecmp(dot, kept[i][0]) == 0)
            extension = kept[i][1];
    char *output = free_name(beside ? folder : NULL, path, extension);
    av_free(folder);
    return output;
}

static void forget_output(WindowWriting *w)
{
    free(w->output);
    w->output = NULL;
}

static bool can_write(const char *path, const Source *source, char *text, size_t size)
{
    if (S_ISREG(source->file.st_mode) && !source->camera && strcmp(path, "-") != 0)
        return 1;
    snprintf(text, size, "Only files can be written, not live video");
    return 0;
}

/* ---- writing ---- */

/* Adds a file name; "./" keeps a name with a dash from looking like an option. */
static int add_file(TextList *a, const char *before, const char *path)
{
    return text_list_print(a, "%s%s%s", before, path[0] == '-' ? "./" : "", path);
}

static int add_all(TextList *a, const Options *o, const char *path, const char *output)
{
    static const char *const fixed[] = {"--lookahead=10", "--no-config", "--quiet",
                                        "--progress=json"};
    static const char *const backends[] = {"auto", "cpu", "cuda"};
    static const char *const sandboxes[] = {"auto", "on", "off"};
    int ret = text_list_add(a, "lumeq");
    ret = ret < 0 ? ret : add_file(a, "", path);
    ret = ret < 0 ? ret : add_file(a, "--output=", output);
    for (size_t i = 0; ret >= 0 && i < sizeof(fixed) / sizeof(fixed[0]); i++)
        ret = text_list_add(a, fixed[i]);
    ret = ret < 0 ? ret : add_settings(a, o);
    ret = ret < 0 ? ret : text_list_print(a, "--backend=%s", backends[o->backend]);
    ret = ret < 0 ? ret : text_list_print(a, "--sandbox=%s", sandboxes[o->sandbox]);
    ret = ret < 0 ? ret : text_list_print(a, "--device=%d", (int)o->device);
    return ret < 0 ? ret : text_list_print(a, "--threads=%d", (int)o->threads);
}

void window_writing_start(WindowWriting *w, const Options *o, const char *path,
                          const Source *source, char *text, size_t size)
{
    MediaError error = {0};
    TextList a = {0};
    ProcessOptions options = {.stream = STDERR_FILENO};
    int reason;
    text[0] = '\0';
    if (w->output) {
        snprintf(text, size, "%s is still being written", file_name_base(w->output));
        return;
    }
    if (!can_write(path, source, text, size))
        return;
    *w = (WindowWriting){.output = find_output(o, path)};
    if (!w->output || add_all(&a, o, path, w->output) < 0)
        (void)media_fail(&error, MEDIA_OUTPUT, "no unused file name");
    options.argv = a.all;
    if (!error.fault && (reason = process_start(&w->process, &options)) != 0)
        (void)media_fail(&error, MEDIA_OUTPUT, "cannot start a process: %s", strerror(reason));
    if (error.fault) {
        snprintf(text, size, "Not written: %s", error.text);
        forget_output(w);
    }
    text_list_free(&a);
}

/* Returns the number after a key of a JSON object, or -1. */
static double number_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    char *end;
    if (!at)
        return -1;
    const double number = strtod(at + strlen(key), &end);
    return end == at + strlen(key) ? -1 : number;
}

static void take_line(void *opaque, const char *line)
{
    WindowWriting *w = opaque;
    if (line[0] != '{') {
        snprintf(w->last, sizeof(w->last), "%s", process_words(line));
        return;
    }
    const double percent = number_of(line, "\"percent\":"), left = number_of(line, "\"eta\":");
    const int seconds = (int)left;
    if (percent >= 0 && left >= 0)
        snprintf(w->progress, sizeof(w->progress), ": %.0f %%, %d:%02d left", percent, seconds / 60,
                 seconds % 60);
    else if (percent >= 0)
        snprintf(w->progress, sizeof(w->progress), ": %.0f %%", percent);
}

static void finish(WindowWriting *w, char *text, size_t size)
{
    const int status = process_wait(&w->process, -1);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == EXIT_DONE)
        snprintf(text, size, "Written: %s", w->output);
    else if (code == EXIT_DAMAGED)
        snprintf(text, size, "Written: %s; %s", w->output, w->last);
    else
        snprintf(text, size, "Not written: %s", w->last[0] ? w->last : "the process ended");
    say(code == EXIT_DONE ? SAY_NORMAL : SAY_WARNINGS, "%s", text);
    forget_output(w);
}

void window_writing_follow(WindowWriting *w, PlayerWriting *to)
{
    *to = (PlayerWriting){.on = 0};
    if (!w->output)
        return;
    if (!process_read_lines(&w->process, take_line, w))
        finish(w, to->message, sizeof(to->message));
    to->on = w->output != NULL;
    if (to->on)
        snprintf(to->line, sizeof(to->line), "Writing %s%s", file_name_base(w->output),
                 w->progress);
}

void window_writing_cancel(WindowWriting *w)
{
    if (!w->output)
        return;
    (void)kill(w->process.pid, SIGKILL);
    (void)process_wait(&w->process, -1);
    output_file_remove_leftovers(w->output);
    say(SAY_NORMAL, "%s was not finished and is removed", media_quote(w->output));
    forget_output(w);
}

/* ---- the command ---- */

/* True if a terminal cannot show the first character of `text`. Sets *length to its size. */
static bool is_unfit(const char *text, int *length)
{
    char shown[PRINTABLE_BYTES];
    *length = printable_character(text, shown);
    return strncmp(text, shown, (size_t)*length) != 0;
}

/* Quotes an argument for a shell. Uses $'' for characters that a terminal cannot show. */
static void print_argument(FILE *to, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./=,:+%@";
    int n, escapes = 0;
    if (*text && strspn(text, plain) == strlen(text)) {
        fputs(text, to);
        return;
    }
    for (const char *c = text; *c; c += n)
        escapes |= is_unfit(c, &n);
    fputs(escapes ? "$'" : "'", to);
    for (; *text; text += n) {
        const int unfit = is_unfit(text, &n) || (escapes && (*text == '\'' || *text == '\\'));
        for (int i = 0; unfit && i < n; i++)
            fprintf(to, "\\%03o", (unsigned char)text[i]);
        if (!unfit && *text == '\'')
            fputs("'\\''", to);
        else if (!unfit)
            fprintf(to, "%.*s", n, text);
    }
    fputc('\'', to);
}

char *window_writing_command(const Options *o, const char *path, const Source *source, char *text,
                             size_t size)
{
    TextList a = {0};
    char *command = NULL, *output = NULL;
    size_t length;
    if (!can_write(path, source, text, size))
        return NULL;
    output = find_output(o, path);
    int ret = output ? text_list_add(&a, "lumeq") : -1;
    ret = ret < 0 ? ret : add_file(&a, "", path);
    ret = ret < 0 ? ret : text_list_add(&a, "-o");
    ret = ret < 0 ? ret : add_file(&a, "", output);
    ret = ret < 0 ? ret : add_settings(&a, o);
    FILE *to = ret < 0 ? NULL : open_memstream(&command, &length);
    for (int i = 0; to && i < a.count; i++) {
        if (i)
            fputc(' ', to);
        print_argument(to, a.all[i]);
    }
    if (!to || fclose(to) != 0)
        snprintf(text, size, "No command: no unused file name, or out of memory");
    text_list_free(&a);
    free(output);
    return command;
}
