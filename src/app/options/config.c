#include "app/options/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/options/option_value.h"
#include "media/error.h"

#define MAX_CONFIG (1 << 20) /* bytes; a larger file is not a settings file */
#define BLANK " \t\r"
#define MAX_SENTENCE 700 /* bytes, including a quoted value */

typedef struct Lines {
    Options *options;
    const char *path;
    int line;
    const Refusal *refusal;
} Lines;

int config_print_path(char *path, size_t size, const char *variable, const char *usual,
                      const char *name)
{
    const char *folder = getenv(variable), *home = getenv("HOME");
    if (folder && folder[0] == '/') /* the XDG specification says to ignore relative paths */
        return snprintf(path, size, "%s/lumeq/%s", folder, name) < (int)size;
    if (home && home[0] == '/')
        return snprintf(path, size, "%s/%s/lumeq/%s", home, usual, name) < (int)size;
    return 0;
}

static int refuse_line(const Lines *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int refuse_line(const Lines *l, const char *format, ...)
{
    char sentence[MAX_SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return refuse(l->refusal, "%s line %d: %s", media_quote(l->path), l->line, sentence);
}

/* Cuts off a comment and trailing blanks. A # starts a comment if it is not in quotes and has
 * a blank or nothing before it. */
static void cut_comment(char *text)
{
    char *end = text;
    char quote = '\0', before = ' ';
    for (char *c = text; *c && !(*c == '#' && !quote && strchr(BLANK, before)); c++) {
        if (quote ? *c == quote : (*c == '"' || *c == '\'') && strchr(BLANK "=", before))
            quote = quote ? '\0' : *c;
        before = *c;
        if (!strchr(BLANK, *c))
            end = c + 1;
    }
    *end = '\0';
}

static int take_value(const Lines *l, const char *key, char *value)
{
    char wrong[MAX_SENTENCE - 64];
    const Refusal refusal = {wrong, sizeof(wrong), ""};
    const Option *option = option_find(key, strlen(key));
    if (!option) {
        const char *bare = key + strspn(key, "-");
        const Option *near = option_nearest(bare, strlen(bare));
        if (near && !(near->flags & OPTION_ONCE))
            return refuse_line(l, "unknown key %s; did you mean %s? lumeq --help=full lists them",
                               media_quote(key), near->name);
        return refuse_line(l, "unknown key %s; keys are long options, see lumeq --help=full",
                           media_quote(key));
    }
    if (option->flags & OPTION_ONCE)
        return refuse_line(l, "%s is for a single run: give --%s on the command line", key, key);
    char *end = *value == '"' || *value == '\'' ? strchr(value + 1, *value) : value;
    const bool is_quoted = end > value;
    if (!end || (is_quoted && end[1]))
        return refuse_line(l, "%s %s: the closing quote is missing, or text follows it", key,
                           media_quote(value));
    if (is_quoted) {
        *end = '\0';
        value++;
    }
    if (option_set(option, l->options, value, &refusal) < 0)
        return refuse_line(l, "%s", wrong);
    return 0;
}

static int take_line(const Lines *l, char *line)
{
    cut_comment(line);
    char *key = line + strspn(line, BLANK);
    if (!*key)
        return 0;
    char *equals = strchr(key, '=');
    if (!equals || equals == key)
        return refuse_line(l, "%s is not of the form key = value%s", media_quote(key),
                           option_find(key, strlen(key)) ? " (flags: yes or no)" : "");
    char *value = equals + 1 + strspn(equals + 1, BLANK);
    while (equals > key && strchr(BLANK, equals[-1]))
        equals--;
    *equals = '\0';
    return take_value(l, key, value);
}

static int take_lines(Lines *l, char *text)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (strncmp(text, byte_order_mark, strlen(byte_order_mark)) == 0)
        text += strlen(byte_order_mark);
    for (char *next; text; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        l->line++;
        if (take_line(l, text) < 0)
            return -1;
    }
    return 0;
}

/* Reads the lines twice: first to find the profile, then to override the profile's settings. A
 * profile on the command line replaces the file's. */
static int take_text(Lines *lines, char *text)
{
    Options trial = *lines->options;
    Lines first = *lines;
    char *copy = strdup(text);
    if (!copy)
        return refuse(lines->refusal, "out of memory");
    first.options = &trial;
    const int given = lines->options->profile, ret = take_lines(&first, copy);
    const char *list = ret < 0 ? NULL : options_with_help(&trial);
    free(copy);
    if (ret < 0)
        return ret;
    if (list)
        return refuse(lines->refusal, "%s: %s = help belongs on the command line",
                      media_quote(lines->path), list);
    if (!given) {
        lines->options->profile = trial.profile;
        option_set_profile(lines->options);
    }
    return take_lines(lines, text);
}

/* Returns NULL with errno on failure. Refuses pipes and terminals (errno 0), which could block.
 * Accepts /dev/null, the usual way to name an empty file. */
static FILE *open_settings(const char *path)
{
    struct stat about, null;
    FILE *file = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &about) == 0) {
        errno = S_ISDIR(about.st_mode) ? EISDIR : 0;
        const int is_null = S_ISCHR(about.st_mode) && stat("/dev/null", &null) == 0 &&
                            S_ISCHR(null.st_mode) && null.st_rdev == about.st_rdev;
        if (S_ISREG(about.st_mode) || is_null)
            file = fdopen(fd, "r");
    }
    if (!file && fd >= 0)
        close(fd);
    return file;
}

int config_read(Options *options, const char *path, char *text, size_t text_size)
{
    const Refusal refusal = {text, text_size, "--"};
    char usual[4096];
    if (path && strcmp(path, "-") == 0)
        return refuse(&refusal, "--config -: name a file; standard input may be the video");
    if (!path && !config_print_path(usual, sizeof(usual), "XDG_CONFIG_HOME", ".config", "config"))
        return 0;
    FILE *file = open_settings(path ? path : usual);
    if (!file && !path && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (!file)
        return refuse(&refusal, "%s%s: %s%s", path ? "--config " : "the settings file ",
                      media_quote(path ? path : usual),
                      errno ? strerror(errno) : "it is not a regular file",
                      path ? "" : "; use --no-config to ignore it");
    options->config_path = strdup(path ? path : usual);
    options->config_text = calloc(1, MAX_CONFIG + 2);
    char *content = options->config_text;
    int ret;
    if (!options->config_path || !content) {
        ret = refuse(&refusal, "out of memory");
    } else {
        Lines lines = {options, options->config_path, 0, &refusal};
        const size_t n = fread(content, 1, MAX_CONFIG + 1, file);
        if (ferror(file))
            ret = refuse(&refusal, "cannot read the settings in %s: %s", media_quote(lines.path),
                         strerror(errno));
        else if (n > MAX_CONFIG || strlen(content) != n)
            ret =
                refuse(&refusal, "%s is not a settings file: it is not text, or larger than 1 MiB",
                       media_quote(lines.path));
        else
            ret = take_text(&lines, content);
    }
    fclose(file);
    return ret;
}
