#include "media/picture_pattern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libavformat/avformat.h>
#include <libavutil/avstring.h>

#include "media/file_name.h"

enum AVCodecID picture_codec(const char *path)
{
    const AVOutputFormat *muxer = av_guess_format(NULL, path, NULL);
    const AVOutputFormat *pictures = av_guess_format("image2", NULL, NULL);
    if (!muxer || !pictures || (muxer != pictures && strcmp(muxer->name, "webp") != 0))
        return AV_CODEC_ID_NONE;
    return av_guess_codec(pictures, NULL, path, NULL, AVMEDIA_TYPE_VIDEO);
}

/* Numbers of this many digits fit into an int64_t. */
#define MOST_DIGITS 18

/* The position of %d, or for example %04d, in a path. */
typedef struct Place {
    const char *begin, *end;
    int digits; /* minimum; 0: no padding */
} Place;

static int find_place(const char *pattern, Place *place)
{
    int found = 0;
    *place = (Place){0};
    for (const char *c = file_name_base(pattern); *c; c++) {
        const int padded = c[0] == '%' && c[1] == '0' && c[2] >= '1' && c[2] <= '9';
        const char *letter = c + (padded ? 3 : 1);
        if (*c != '%' || *letter != 'd')
            continue;
        *place = (Place){.begin = c, .end = letter + 1, .digits = padded ? c[2] - '0' : 0};
        found++;
    }
    return found == 1;
}

bool picture_pattern_is(const char *path)
{
    Place place;
    return find_place(path, &place);
}

char *picture_pattern_name(const char *pattern, int64_t number)
{
    Place place;
    return find_place(pattern, &place)
               ? av_asprintf("%.*s%0*" PRId64 "%s", (int)(place.begin - pattern), pattern,
                             place.digits, number, place.end)
               : NULL;
}

int64_t picture_pattern_number(const char *pattern, const char *name)
{
    Place place;
    if (!find_place(pattern, &place))
        return -1;
    const char *base = file_name_base(pattern);
    const size_t before = (size_t)(place.begin - base), length = strlen(name);
    const size_t after = strlen(place.end);
    if (length <= before + after || strncmp(name, base, before) != 0 ||
        strcmp(name + length - after, place.end) != 0)
        return -1;
    const char *number = name + before;
    const size_t digits = length - before - after;
    const size_t least = place.digits ? (size_t)place.digits : 1;
    if (strspn(number, "0123456789") < digits || digits > MOST_DIGITS || digits < least ||
        (number[0] == '0' && digits > least)) /* the pattern would write fewer digits */
        return -1;
    return strtoll(number, NULL, 10);
}
