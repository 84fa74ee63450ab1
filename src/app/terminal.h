/* Everything said to a person goes to standard error, line by line, beside the progress bar. Any
 * thread. Lines may contain text from others: control characters in them are escaped, newlines
 * included. */
#ifndef LUMEQ_APP_TERMINAL_H
#define LUMEQ_APP_TERMINAL_H

typedef enum Verbosity {
    SAY_ERRORS, /* -q */
    SAY_WARNINGS,
    SAY_NORMAL,
    SAY_DETAILS, /* -v */
} Verbosity;

typedef enum SayColor {
    SAY_COLOR_AUTO, /* on a terminal that can, unless NO_COLOR is set and not empty */
    SAY_COLOR_ALWAYS,
    SAY_COLOR_NEVER,
} SayColor;

typedef enum SayPaint {
    PAINT_OFF,
    PAINT_ERROR,
    PAINT_WARNING,
    PAINT_BAR,
    PAINT_FAINT,
    PAINT_GOOD,
    PAINTS,
} SayPaint;

/* These two are called before other threads are there. */
void say_set_verbosity(Verbosity verbosity);
void say_set_color(SayColor color);

/* The escape sequence that begins this paint, or ends it; "" where there are no colours. */
const char *say_paint(SayPaint paint);

/* A line when the verbosity is at least `level`; "lumeq: " is put before it. */
void say(Verbosity level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line on standard output. */
void say_answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For callbacks that hand over a whole line. */
void say_line(const char *line);   /* SAY_WARNINGS */
void say_detail(const char *line); /* SAY_DETAILS */

/* A line for a signal handler that ends the program, in three parts. Async-signal-safe; gives up
 * where nobody reads it. */
void say_in_signal(const char *before, const char *name, const char *after);

/* Replaces the line at the bottom of the terminal; "" removes it. Other lines go above it. */
/* Another process shows a line at the bottom: what this one says goes over it. */
void say_over_bottom(void);

void say_bottom(const char *text);

/* Whether standard error is a terminal that knows escape sequences. */
int say_on_terminal(void);

/* The width of the terminal that `fd` is, 80 if it is none. */
int say_columns(int fd);

#endif
