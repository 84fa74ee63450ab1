/* Finds out if a file ends inside an element (box, chunk, page ...) that declares its size. */
#ifndef LUMEQ_MEDIA_CUT_OFF_H
#define LUMEQ_MEDIA_CUT_OFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest element header is that of an Ogg page. */
#define ELEMENT_HEADER_BYTES (27 + 255)

/* The state of reading through a file's elements. {0}: the format is unknown. */
typedef struct Elements {
    const struct ElementRule *rule;
    int64_t at, left; /* position of the next element; bytes to skip before it */
    size_t have;      /* number of bytes already in `header` */
    uint8_t header[ELEMENT_HEADER_BYTES];
    bool in_blocks; /* inside a chain of GIF blocks */
} Elements;

/* Call before the first element. `demuxer`: name of FFmpeg's demuxer; it selects the rule. */
void elements_start(Elements *elements, const char *demuxer);

/* Takes the next bytes of the file. */
void elements_take(Elements *elements, const uint8_t *data, int64_t size);

/* Reads a regular file of `end` bytes. `packet`: position of its last packet; -1: unknown. */
void elements_take_file(Elements *elements, int fd, int64_t end, int64_t packet);

/* True if the last element is incomplete. */
bool elements_are_cut(const Elements *elements);

/* The format's word for an element, such as "a page". */
const char *elements_name(const char *demuxer);

#endif
