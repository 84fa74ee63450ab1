#include "app/say.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Verbosity verbosity = SAY_NORMAL;
static char bottom[256];

#define ERASE_LINE "\r\033[K"

void say_set_verbosity(Verbosity level)
{
    verbosity = level;
}

void say(Verbosity level, const char *format, ...)
{
    if (level > verbosity)
        return;
    char line[1400];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    fprintf(stderr, "%slumeq: %s\n%s", bottom[0] ? ERASE_LINE : "", line, bottom);
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}

void say_line(const char *line)
{
    say(SAY_NORMAL, "%s", line);
}

void say_detail(const char *line)
{
    say(SAY_DETAILS, "%s", line);
}

void say_bottom(const char *text)
{
    pthread_mutex_lock(&lock);
    snprintf(bottom, sizeof(bottom), "%s", text);
    fprintf(stderr, ERASE_LINE "%s", bottom);
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}
