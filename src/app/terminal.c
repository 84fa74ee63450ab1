#include "app/terminal.h"

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "media/printable.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Verbosity verbosity = SAY_NORMAL;
static int colored;
static char bottom[256];
static atomic_int has_bottom;
static int over_bottom; /* another process shows the line at the bottom */
static char *collected;
static size_t collected_size;

#define ERASE_LINE "\r\033[K"
#define DEFAULT_COLUMNS 80
#define LINE_BYTES 1400 /* maximum size of a message */
#define PATIENCE_MS 500 /* maximum wait of a signal handler for standard error */

void say_set_verbosity(Verbosity level)
{
    verbosity = level;
}

int say_on_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

void say_set_color(SayColor color)
{
    const char *no_color = getenv("NO_COLOR");
    if (color == SAY_COLOR_AUTO)
        colored = say_on_terminal() && !(no_color && *no_color);
    else
        colored = color == SAY_COLOR_ALWAYS;
}

const char *say_paint(SayPaint paint)
{
    static const char *const sequences[PAINTS] = {
        [PAINT_OFF] = "\033[0m",  [PAINT_ERROR] = "\033[1;31m", [PAINT_WARNING] = "\033[33m",
        [PAINT_BAR] = "\033[36m", [PAINT_FAINT] = "\033[2m",    [PAINT_GOOD] = "\033[32m",
    };
    return colored ? sequences[paint] : "";
}

static void print_line(char *line, size_t size, const char *format, va_list args)
{
    char raw[LINE_BYTES];
    vsnprintf(raw, sizeof(raw), format, args);
    printable(line, size, raw);
}

void say(Verbosity level, const char *format, ...)
{
    static const SayPaint paints[] = {PAINT_ERROR, PAINT_WARNING, PAINT_OFF, PAINT_FAINT};
    if (level > verbosity)
        return;
    char line[2 * LINE_BYTES];
    va_list args;
    va_start(args, format);
    print_line(line, sizeof(line), format, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    const size_t used = collected ? strlen(collected) : 0;
    if (!collected)
        fputs(bottom[0] || over_bottom ? ERASE_LINE : "", stderr);
    if (collected)
        snprintf(collected + used, collected_size - used, "%s\n", line);
    else if (level == SAY_NORMAL)
        fprintf(stderr, "lumeq: %s\n%s", line, bottom);
    else
        fprintf(stderr, "%slumeq:%s %s\n%s", say_paint(paints[level]), say_paint(PAINT_OFF), line,
                bottom);
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}

void say_answer(const char *format, ...)
{
    char line[2 * LINE_BYTES];
    va_list args;
    va_start(args, format);
    print_line(line, sizeof(line), format, args);
    va_end(args);
    puts(line);
}

void say_answer_line(const char *line)
{
    say_answer("%s", line);
}

void say_line(const char *line)
{
    say(SAY_WARNINGS, "%s", line);
}

void say_error(const char *line)
{
    say(SAY_ERRORS, "%s", line);
}

void say_detail(const char *line)
{
    say(SAY_DETAILS, "%s", line);
}

void say_collect(char *text, size_t size)
{
    collected = text;
    collected_size = size;
}

void say_over_bottom(void)
{
    bottom[0] = '\0';
    over_bottom = say_on_terminal();
}

void say_bottom(const char *text)
{
    pthread_mutex_lock(&lock);
    snprintf(bottom, sizeof(bottom), "%s", text);
    atomic_store(&has_bottom, bottom[0] != 0);
    fprintf(stderr, ERASE_LINE "%s", bottom);
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}

static size_t append(char *line, size_t size, size_t n, const char *text)
{
    while (*text && n < size)
        line[n++] = *text++;
    return n;
}

void say_in_signal(const char *before, const char *name, const char *after)
{
    char line[1024];
    struct pollfd reader = {.fd = STDERR_FILENO, .events = POLLOUT};
    const char *parts[] = {colored ? "\033[0m" : "",
                           atomic_load(&has_bottom) ? ERASE_LINE : "",
                           "lumeq: ",
                           before,
                           name,
                           after};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        n = append(line, sizeof(line) - 1, n, parts[i]);
    n = append(line, sizeof(line), n, "\n");
    if (poll(&reader, 1, PATIENCE_MS) > 0)
        (void)!write(STDERR_FILENO, line, n);
}

void say_wrapped(const char *text, int column, int indent, int width)
{
    for (int first = 1; *text; first = 0) {
        const int n = (int)strcspn(text, " \n");
        if (!first && column + 1 + n > width) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", n, text);
        column += n;
        text += n;
        text += strspn(text, " \n");
    }
    putchar('\n');
}

int say_columns(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : DEFAULT_COLUMNS;
}
