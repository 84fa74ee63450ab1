/* Everything said to a person goes to standard error, line by line, beside the progress bar. Any
 * thread. */
#ifndef LUMEQ_APP_SAY_H
#define LUMEQ_APP_SAY_H

typedef enum Verbosity {
    SAY_ERRORS, /* -q */
    SAY_NORMAL,
    SAY_DETAILS, /* -v */
} Verbosity;

void say_set_verbosity(Verbosity verbosity);

/* A line when the verbosity is at least `level`; "lumeq: " is put before it. */
void say(Verbosity level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For callbacks that hand over a whole line. */
void say_line(const char *line);   /* SAY_NORMAL */
void say_detail(const char *line); /* SAY_DETAILS */

/* Replaces the line at the bottom of the terminal; "" removes it. Other lines go above it. */
void say_bottom(const char *text);

#endif
