#include "media/output/transcode.h"

int transcode_open_decoder(AVCodecContext **decoder, const AVCodecParameters *in,
                           AVRational time_base)
{
    const AVCodec *codec = avcodec_find_decoder(in->codec_id);
    *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!*decoder)
        return codec ? AVERROR(ENOMEM) : AVERROR_DECODER_NOT_FOUND;
    const int ret = avcodec_parameters_to_context(*decoder, in);
    (*decoder)->pkt_timebase = time_base;
    return ret < 0 ? ret : avcodec_open2(*decoder, codec, NULL);
}
