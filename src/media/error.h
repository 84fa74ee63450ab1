/* How the parts that use FFmpeg report what went wrong: one sentence for a person. */
#ifndef LUMEQ_MEDIA_ERROR_H
#define LUMEQ_MEDIA_ERROR_H

#include <stddef.h>

/* Whose fault it was; the program's exit codes, negated. */
enum {
    MEDIA_USAGE = -1,  /* what was asked for: unknown encoder, output exists, ... */
    MEDIA_INPUT = -2,  /* the input cannot be opened, has no video, decodes to nothing */
    MEDIA_OUTPUT = -3, /* the output cannot be written */
};

/* {0} is "none yet". The first error stays; later ones are ignored. Not thread-safe. */
typedef struct MediaError {
    int fault;
    char text[1024];
} MediaError;

/* Notes the sentence unless there is one already. Answers `fault`. */
int media_fail(MediaError *error, int fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * After a call into a library, errno having been 0 before it: whether there was no memory for
 * something in it. Many go on all the same, or call it another failure; but allocators leave it in
 * errno. Since they do so, too, where they have found another way, memory is asked for once more:
 * `size` is of what the call was about, about.
 */
int media_lacks_memory(size_t size);

/* Adds to the sentence that there is. */
void media_add(MediaError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* FFmpeg's text for an AVERROR, in memory of the calling thread that the next call overwrites. */
const char *media_av_text(int averror);

/* `name` in quotes and fit for a terminal: control characters are shown as \n, \x1b; of a URL, what
 * url_secret() finds is left out. In memory of the calling thread; two results are valid at a time.
 */
const char *media_quote(const char *name);

/* The same of an input, whose "-" is "standard input". */
const char *media_quote_input(const char *path);

#endif
