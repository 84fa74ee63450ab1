/* Prints messages for people to standard error, line by line, above the progress bar. Escapes
 * control characters, since messages may quote text from files. Thread-safe. */
#ifndef LUMEQ_APP_TERMINAL_H
#define LUMEQ_APP_TERMINAL_H

#include <stddef.h>

typedef enum Verbosity {
    SAY_ERRORS, /* -q */
    SAY_WARNINGS,
    SAY_NORMAL,
    SAY_DETAILS, /* -v */
} Verbosity;

typedef enum SayColor {
    SAY_COLOR_AUTO, /* on a terminal, unless NO_COLOR is set and not empty */
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

/* Call them only while no other thread runs. */
void say_set_verbosity(Verbosity verbosity);
void say_set_color(SayColor color);

/* The escape sequence that starts this paint, or "" without colours. */
const char *say_paint(SayPaint paint);

/* Prints "lumeq: " and the line if the verbosity is at least `level`. */
void say(Verbosity level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a line to standard output. */
void say_answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a complete line; for use as callbacks. */
void say_answer_line(const char *line);
void say_line(const char *line);   /* SAY_WARNINGS */
void say_detail(const char *line); /* SAY_DETAILS */
void say_error(const char *line);  /* SAY_ERRORS */

/* For a signal handler that ends the program: prints a line made of three parts. Gives up if
 * standard error stays blocked. Async-signal-safe. */
void say_in_signal(const char *before, const char *name, const char *after);

/* From now on, collects messages in `text`, one per line, instead of printing them. */
void say_collect(char *text, size_t size);

/* Call if another process shows the line at the bottom: messages then overwrite that line. */
void say_over_bottom(void);

/* Replaces the line at the bottom of the terminal; "" removes it. Messages appear above it. */
void say_bottom(const char *text);

/* Prints words to standard output, wrapped at `width`: the first line starts at `column`, others at
 * `indent`. */
void say_wrapped(const char *text, int column, int indent, int width);

/* True if standard error is a terminal with escape sequences. */
int say_on_terminal(void);

/* The width of the terminal `fd` in columns; 80 if it is unknown. */
int say_columns(int fd);

#endif
