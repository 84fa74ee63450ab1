/* Completions for shells, of both programs, and what these need to know of the options. */
#ifndef LUMEQ_MANUAL_SHELLS_H
#define LUMEQ_MANUAL_SHELLS_H

#include <stddef.h>
#include <stdio.h>

void bash_program(FILE *to);
void bash_bench(FILE *to);
void zsh_program(FILE *to);
void zsh_bench(FILE *to);
void fish_program(FILE *to);
void fish_bench(FILE *to);

/* What is completed as the value of an option. */
typedef enum ShellValue {
    SHELL_NONE,  /* it has none */
    SHELL_WORDS, /* some words */
    SHELL_LIST,  /* what the program lists when the value is "help" */
    SHELL_FILE,
    SHELL_FOLDER,
    SHELL_CAMERA, /* a device, /dev/video0 */
    SHELL_OTHER,  /* nothing that is known: a number, a time */
} ShellValue;

/* `choices` as in Option, or NULL. `words`: those that are to be typed as they stand, with spaces
 * between them; with SHELL_LIST what there is beside the list. */
ShellValue shell_value(const char *choices, char *words, size_t size);

/* The words that are commands where they stand first, with spaces between them. */
void shell_commands(FILE *to);

/* For within '...' of a shell, with a backslash before each of `special`: the help up to where
 * details begin. `quote` stands for a ' in it. */
void shell_text(FILE *to, const char *help, const char *special, const char *quote);

#endif
