#include "media/input/cut_off.h"

#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/common.h>
#include <libavutil/intreadwrite.h>

#define READ_BYTES 4096

/* Returns the size of the element that begins with the e->have bytes of `b`; 0 if more bytes are
 * needed; UNKNOWN if the element is unknown or declares no size. */
typedef int64_t ElementSize(Elements *e, const uint8_t *b);

#define UNKNOWN (-1)

typedef struct ElementRule {
    const char *demuxer, *element;
    ElementSize *size; /* NULL: find_cut_off() in source_packets.c checks the last packet */
    size_t header;     /* minimum number of bytes that `size` needs */
    size_t optional;   /* a file may end with up to this many bytes of an incomplete header */
    bool from_packet;  /* each packet begins an element, so reading can start at the last packet */
} ElementRule;

static int64_t checked(bool is_known, uint64_t size)
{
    return is_known && size < INT64_MAX / 2 ? (int64_t)size : UNKNOWN;
}

static int64_t avi_size(Elements *e, const uint8_t *b)
{
    if (!b[0]) /* padding */
        return 1;
    if (e->have < 8)
        return 0;
    if (memcmp(b, "RIFF", 4) == 0)
        return 12;
    const uint32_t size = AV_RL32(b + 4);
    const bool is_known = !memcmp(b, "LIST", 4) || !memcmp(b, "idx1", 4) || !memcmp(b, "JUNK", 4);
    return checked(is_known && size && size < UINT32_MAX, UINT64_C(8) + size);
}

static int64_t asf_size(Elements *e, const uint8_t *b)
{
    (void)e;
    return checked(AV_RL64(b + 16) > 50, AV_RL64(b + 16)); /* 50: size unknown */
}

static int64_t flv_size(Elements *e, const uint8_t *b)
{
    const int type = b[4] & 0x1f; /* after the previous tag's size; 8: sound, 9: video, 18: data */
    if (!e->at)
        return checked(memcmp(b, "FLV", 3) == 0, 9);
    return e->have < 15 ? 0 : checked(type == 8 || type == 9 || type == 18, 15 + AV_RB24(b + 5));
}

/* A colour table may follow a header. Images and extensions have blocks of up to 255 bytes. */
static int64_t gif_size(Elements *e, const uint8_t *b)
{
    const size_t header = b[0] == ',' ? 10 : 2;
    if (e->in_blocks) {
        e->in_blocks = b[0] != 0;
        return 1 + b[0];
    }
    if (!e->at)
        return e->have < 13 ? 0 : 13 + (b[10] & 0x80 ? 6 << (b[10] & 7) : 0);
    if (!b[0] || b[0] == ';') /* padding, or the trailer */
        return b[0] ? UNKNOWN : 1;
    if (b[0] != ',' && b[0] != '!')
        return INT64_MAX / 2; /* an unknown kind: the rest of the file can't be checked */
    if (e->have < header)
        return 0;
    e->in_blocks = true;
    return b[0] == '!' ? 2 : 11 + (b[9] & 0x80 ? 6 << (b[9] & 7) : 0);
}

/* Knows only the EBML header and segments. In a segment of unknown size, the demuxer finds cuts. */
static int64_t matroska_size(Elements *e, const uint8_t *b)
{
    const int bytes = 8 - av_log2(b[4]);
    uint64_t size = b[4] & ((1 << (8 - bytes)) - 1);
    if ((AV_RB32(b) != 0x1a45dfa3 && AV_RB32(b) != 0x18538067) || !b[4])
        return UNKNOWN;
    if (e->have < 4 + (size_t)bytes)
        return 0;
    for (int i = 1; i < bytes; i++)
        size = size << 8 | b[4 + i];
    return checked(size < (UINT64_C(1) << 7 * bytes) - 1, e->have + size);
}

/* Known top-level boxes of ISO/IEC 14496-12 and QuickTime. */
#define MP4_BOXES                                                                                  \
    "ftyp,moov,mdat,free,skip,wide,pnot,PICT,udta,uuid,meta,moof,mfra,sidx,ssix,styp,prft,emsg,"   \
    "pdin,imda,junk"

static int64_t mp4_size(Elements *e, const uint8_t *b)
{
    const bool is_long = AV_RB32(b) == 1;
    char type[5] = "";
    if (is_long && e->have < 16)
        return 0;
    memcpy(type, b + 4, 4);
    const uint64_t size = is_long ? AV_RB64(b + 8) : AV_RB32(b); /* 0: to the file's end */
    return checked(av_match_name(type, MP4_BOXES) && size >= e->have, size);
}

static int64_t mxf_size(Elements *e, const uint8_t *b)
{
    const size_t more = b[16] & 0x80 ? b[16] & 0x7f : 0; /* bytes of the size */
    uint64_t size = more ? 0 : b[16];
    if (more < 8 && e->have < 17 + more)
        return 0;
    for (size_t i = 0; i < more && more < 8; i++)
        size = size << 8 | b[17 + i];
    return checked(AV_RB32(b) == 0x060e2b34 && b[16] != 0x80 && more < 8, e->have + size);
}

static int64_t ogg_size(Elements *e, const uint8_t *b)
{
    uint64_t size = e->have;
    if (memcmp(b, "OggS", FFMIN(e->have, 4)) != 0)
        return UNKNOWN;
    if (e->have < 27 || e->have < 27u + b[26])
        return 0;
    for (int i = 0; i < b[26]; i++)
        size += b[27 + i];
    return checked(true, size);
}

/* M2TS puts a time before each packet. */
static int64_t ts_size(Elements *e, const uint8_t *b)
{
    if (b[0] == 'G')
        return 188;
    return e->have < 5 ? 0 : checked(b[4] == 'G', 192);
}

static const ElementRule rules[] = {
    {"asf", "an object", asf_size, 24, 0, false},
    {"avi", "a chunk", avi_size, 1, 7, false},
    {"dv", "a frame", NULL, 0, 0, false},
    {"flv", "a tag", flv_size, 9, 4, true},
    {"gif", "a block", gif_size, 1, 0, false},
    {"matroska", "an element", matroska_size, 5, 4, false},
    {"mov", "a box", mp4_size, 8, 7, false},
    {"mpegts", "a packet", ts_size, 1, 0, true},
    {"mxf", "an element", mxf_size, 17, 0, false},
    {"ogg", "a page", ogg_size, 1, 0, true},
    {"yuv4mpegpipe", "a frame", NULL, 0, 0, false},
};

static const ElementRule *find_rule(const char *demuxer)
{
    for (size_t i = 0; i < FF_ARRAY_ELEMS(rules); i++)
        if (av_match_name(rules[i].demuxer, demuxer))
            return &rules[i];
    return NULL;
}

void elements_start(Elements *e, const char *demuxer)
{
    const ElementRule *rule = find_rule(demuxer);
    *e = (Elements){.rule = rule && rule->size ? rule : NULL};
}

void elements_take(Elements *e, const uint8_t *data, int64_t size)
{
    while (e->rule && size > 0) {
        const int64_t skipped = FFMIN(e->left, size);
        data += skipped;
        size -= skipped;
        e->left -= skipped;
        if (!size)
            return;
        e->header[e->have++] = *data++;
        size--;
        const int64_t whole = e->have < e->rule->header ? 0 : e->rule->size(e, e->header);
        if (whole == UNKNOWN)
            e->rule = NULL;
        if (whole <= 0)
            continue;
        e->at += whole;
        e->left = whole - (int64_t)e->have;
        e->have = 0;
    }
}

void elements_take_file(Elements *e, int fd, int64_t end, int64_t packet)
{
    uint8_t data[READ_BYTES];
    ssize_t got;
    if (e->rule && e->rule->from_packet && packet > 0)
        e->at = packet - (int64_t)e->rule->optional;
    int64_t at = e->at;
    while (e->rule && at < end && (got = pread(fd, data, sizeof(data), at)) > 0) {
        e->left = 0;
        elements_take(e, data, got);
        at += got + e->left;
    }
    e->left = FFMAX(at - end, 0);
}

bool elements_are_cut(const Elements *e)
{
    return e->rule && (e->left || e->in_blocks || e->have > e->rule->optional);
}

const char *elements_name(const char *demuxer)
{
    const ElementRule *rule = find_rule(demuxer);
    return rule ? rule->element : "a packet";
}
