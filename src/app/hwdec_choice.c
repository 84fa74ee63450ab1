#include "app/hwdec_choice.h"

#include "media/process.h"

/*
 * NVDEC decodes one video by one of its engines, software by all cores. From so many cores on
 * software is faster: frames a second of an engine by those of a core, at 1080p and at 4K alike.
 * README.md beside this file has the figures.
 */
static const struct {
    enum AVCodecID codec;
    int cores;
} faster_from[] = {
    {AV_CODEC_ID_H264, 5}, {AV_CODEC_ID_HEVC, 5}, {AV_CODEC_ID_VP9, 5},
    {AV_CODEC_ID_VP8, 4},  {AV_CODEC_ID_AV1, 4},
};

int hwdec_choice(const Options *o, enum AVCodecID codec)
{
    const int cores = o->threads > 0 ? (int)o->threads : process_cores();
    if (o->hwdec != OPTIONS_HWDEC_AUTO)
        return o->hwdec == OPTIONS_HWDEC_NVDEC;
    if (!options_headless(o)) /* frames that are shown come in time; the cores are spared */
        return 1;
    for (size_t i = 0; i < sizeof(faster_from) / sizeof(faster_from[0]); i++)
        if ((codec == AV_CODEC_ID_NONE || codec == faster_from[i].codec) &&
            cores < faster_from[i].cores)
            return 1;
    return 0;
}
