/* Errors of the code that uses FFmpeg. Each has one sentence for the user. */
#ifndef LUMEQ_MEDIA_ERROR_H
#define LUMEQ_MEDIA_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <libavcodec/codec_par.h>

/* Kinds of failure. Except for MEDIA_LOST, these are negated exit codes of the program. */
enum {
    MEDIA_USAGE = -1,  /* bad options: unknown encoder, output exists, ... */
    MEDIA_INPUT = -2,  /* the input cannot be opened, has no video, or cannot be decoded */
    MEDIA_OUTPUT = -3, /* the output cannot be written */
    MEDIA_LOST = -16,  /* the GPU lost frames; start again in software */
};

/* {0} means no error. Keeps the first error and ignores later ones. Not thread-safe. */
typedef struct MediaError {
    int fault;
    bool is_final; /* another attempt cannot succeed */
    char text[1024];
} MediaError;

/* Sets the error and its sentence unless an error is already set. Returns `fault`. */
int media_fail(MediaError *error, int fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int media_no_memory(MediaError *error, int fault);

/* True if a library call ran out of memory. Set errno to 0 before the library call. A library may
 * leave ENOMEM in errno even if it recovered. So this function also tries to allocate twice the
 * `size` bytes that the library needed. */
int media_lacks_memory(size_t size);

/* Appends to the error's sentence. */
void media_add(MediaError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Formats a line about a choice or an event and passes it to `note`, which may be NULL. */
void media_note(void (*note)(const char *line), const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* FFmpeg's text for an AVERROR, in thread-local memory that the next call overwrites. */
const char *media_av_text(int averror);

/* A codec's name, such as "h264". For a codec that FFmpeg does not know: "unknown codec", followed
 * by its quoted tag if printable. Thread-local memory that the next call overwrites. */
const char *codec_name(const AVCodecParameters *par);

/* Buffer size of a quoted name. */
#define MEDIA_QUOTED 512

/* Quotes `name`, and truncates it if necessary. Escapes control characters and invalid UTF-8
 * (printable.h), and replaces secrets of URLs (url_secret()) by dots. */
void media_quote_to(char text[MEDIA_QUOTED], const char *name);

static inline const char *media_quote_in(char text[MEDIA_QUOTED], const char *name)
{
    media_quote_to(text, name);
    return text;
}

/* Returns the quoted name, valid until the calling block ends. Each use has its own buffer. */
#define media_quote(name) media_quote_in((char[MEDIA_QUOTED]){0}, name)

/* media_quote() for the name of an input: "-" becomes "standard input". */
#define media_quote_input(path) (strcmp(path, "-") == 0 ? "standard input" : media_quote(path))

#endif
