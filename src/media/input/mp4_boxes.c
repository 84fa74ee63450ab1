#include "media/input/mp4_boxes.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/common.h>
#include <libavutil/intreadwrite.h>

#define HEADER 8
#define LARGE_HEADER 16

/* Bytes after the last box to search for data other than zeros. */
#define PADDING 4096

/* Limit of boxes to read; even a day in fragments has fewer. */
#define MOST_BOXES 200000

#define MOST_KINDS 8
#define MOST_DEPTH 3

/* Boxes in which dashcams store place and motion, and the boxes that contain them. */
#define PLACES "moov,udta,free,skip"
#define PLACE_DATA "gps ,gps0,gsen,gsea,3gf "

/* Start of a free-space box with place and motion. */
#define NOVATEK "GPS "

typedef struct Box {
    char type[5];
    int64_t begin, end; /* range of its contents */
} Box;

typedef struct Search {
    int fd, boxes;
    struct {
        char type[5];
        int64_t bytes;
    } kinds[MOST_KINDS];
    int count;
} Search;

static int64_t read_at(const Search *s, void *to, size_t size, int64_t at)
{
    return pread(s->fd, to, size, (off_t)at);
}

static void add(Search *s, const char *type, int64_t bytes)
{
    int i = 0;
    while (i < s->count && strcmp(s->kinds[i].type, type) != 0)
        i++;
    if (i == MOST_KINDS || !bytes)
        return;
    s->count = FFMAX(s->count, i + 1);
    memcpy(s->kinds[i].type, type, sizeof(s->kinds[i].type));
    s->kinds[i].bytes += bytes;
}

static int is_name(const char *type)
{
    for (int i = 0; i < 4; i++)
        if (type[i] < ' ' || type[i] > '~')
            return 0;
    return 1;
}

/* Reads the box at a position. Returns 0 if none ends before `end`. */
static int read_box(Search *s, Box *box, int64_t at, int64_t end)
{
    uint8_t head[LARGE_HEADER] = {0};
    *box = (Box){0};
    if (s->boxes++ >= MOST_BOXES || read_at(s, head, sizeof(head), at) < HEADER)
        return 0;
    const int header = AV_RB32(head) == 1 ? LARGE_HEADER : HEADER;
    const uint64_t left = (uint64_t)(end - at);
    uint64_t size = header == HEADER ? AV_RB32(head) : AV_RB64(head + HEADER);
    memcpy(box->type, head + 4, 4);
    if (size == 0 && is_name(box->type)) /* extends to the end of the file */
        size = left;
    if (size < (uint64_t)header || size > left || !is_name(box->type))
        return 0;
    box->begin = at + header;
    box->end = at + (int64_t)size;
    return 1;
}

static void look_into(Search *s, const Box *within, int depth)
{
    char magic[sizeof(NOVATEK) - 1];
    Box box;
    if (av_match_name(within->type, "free,skip") &&
        read_at(s, magic, sizeof(magic), within->begin) == (int64_t)sizeof(magic) &&
        memcmp(magic, NOVATEK, sizeof(magic)) == 0)
        add(s, NOVATEK, within->end - within->begin);
    for (int64_t at = within->begin; at + HEADER <= within->end; at = box.end) {
        if (!read_box(s, &box, at, within->end))
            return;
        if (av_match_name(box.type, PLACE_DATA))
            add(s, box.type, box.end - box.begin);
        else if (depth < MOST_DEPTH && av_match_name(box.type, PLACES))
            look_into(s, &box, depth + 1);
    }
}

void mp4_boxes_foreign(int fd, int64_t end, char *text, size_t size)
{
    Search s = {.fd = fd};
    Box box = {0};
    int64_t at = 0;
    for (; at + HEADER <= end && read_box(&s, &box, at, end); at = box.end) {
        if (av_match_name(box.type, PLACES))
            look_into(&s, &box, 0);
        else if (!av_match_name(box.type, MP4_BOXES))
            add(&s, box.type, box.end - box.begin);
    }
    text[0] = '\0';
    for (int i = 0; i < s.count; i++)
        av_strlcatf(text, size, "%s'%s' (%" PRId64 " bytes)", i ? ", " : "", s.kinds[i].type,
                    s.kinds[i].bytes);
    /* A truncated known box means a truncated file, not foreign data. */
    uint8_t bytes[PADDING];
    const int64_t got = read_at(&s, bytes, sizeof(bytes), at);
    int is_data = 0; /* zeros are padding */
    for (int64_t i = 0; i < got; i++)
        is_data |= bytes[i];
    if (at && at + HEADER <= end && !av_match_name(box.type, MP4_BOXES) && s.boxes <= MOST_BOXES &&
        is_data)
        av_strlcatf(text, size, "%s%" PRId64 " bytes after the last box", s.count ? ", " : "",
                    end - at);
}
