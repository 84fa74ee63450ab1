/* How the parts that use FFmpeg report what went wrong: one sentence for a person. */
#ifndef LUMEQ_MEDIA_ERROR_H
#define LUMEQ_MEDIA_ERROR_H

#include <stddef.h>
#include <string.h>

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

/* The size of a quoted name. */
#define MEDIA_QUOTED 512

/* `name` in quotes; a long one is cut. Control characters and invalid UTF-8 are escaped, see
 * printable.h; what url_secret() finds in a URL is replaced by dots. */
void media_quote_to(char text[MEDIA_QUOTED], const char *name);

static inline const char *media_quote_in(char text[MEDIA_QUOTED], const char *name)
{
    media_quote_to(text, name);
    return text;
}

/* The same, in memory of the calling block: each use has its own, until the block ends. */
#define media_quote(name) media_quote_in((char[MEDIA_QUOTED]){0}, name)

/* The same for an input, whose "-" is "standard input". */
#define media_quote_input(path) (strcmp(path, "-") == 0 ? "standard input" : media_quote(path))

#endif
