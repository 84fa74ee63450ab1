#include "media/input/fragments.h"

#include <string.h>
#include <unistd.h>

#include <libavutil/common.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>

/* from the start of a moof to the sequence number in its mfhd, its first box */
#define HEADER_BYTES 24

static int64_t box_size(const uint8_t *header, int64_t left)
{
    const int64_t size = AV_RB32(header);
    if (size == 1)
        return (int64_t)AV_RB64(header + 8);
    return size ? size : left;
}

int fragments_find_gaps(int fd, int64_t file_size, int64_t **gaps)
{
    uint8_t header[HEADER_BYTES];
    int64_t last = -1;
    int count = 0, steps = 0;
    *gaps = NULL;
    for (int64_t at = 0, size; pread(fd, header, HEADER_BYTES, at) == HEADER_BYTES; at += size) {
        size = box_size(header, file_size - at);
        if (size < 8 || size > file_size - at)
            break;
        if (memcmp(header + 4, "moof", 4) != 0 || memcmp(header + 12, "mfhd", 4) != 0)
            continue;
        const int64_t number = AV_RB32(header + 20);
        steps += number == last + 1;
        if (last >= 0 && number > last + 1) {
            int64_t *more = av_realloc_array(*gaps, (size_t)count + 1, sizeof(*more));
            if (!more)
                break;
            *gaps = more;
            more[count++] = at;
        }
        last = number;
    }
    return count <= FFMAX(steps, 1) ? count : 0; /* otherwise numbers are not consecutive at all */
}
