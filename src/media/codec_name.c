#include "media/codec_name.h"

#include <stdio.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>

#define UNKNOWN "unknown codec"

const char *codec_name(const AVCodecParameters *par)
{
    static _Thread_local char text[sizeof(UNKNOWN) + 8];
    char tag[5] = "";
    if (par->codec_id != AV_CODEC_ID_NONE)
        return avcodec_get_name(par->codec_id);
    for (int i = 0; i < 4; i++)
        tag[i] = (char)(par->codec_tag >> 8 * i & 0xff);
    const int printable = av_isgraph(tag[0]) && av_isgraph(tag[1]) && av_isgraph(tag[2]) &&
                          (av_isgraph(tag[3]) || tag[3] == ' ');
    snprintf(text, sizeof(text), printable ? UNKNOWN " '%s'" : UNKNOWN, tag);
    return text;
}
