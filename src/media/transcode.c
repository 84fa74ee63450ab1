#include "media/transcode.h"

int transcode_open_decoder(AVCodecContext **decoder, const AVStream *in)
{
    const AVCodec *codec = avcodec_find_decoder(in->codecpar->codec_id);
    *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!*decoder)
        return codec ? AVERROR(ENOMEM) : AVERROR_DECODER_NOT_FOUND;
    const int ret = avcodec_parameters_to_context(*decoder, in->codecpar);
    (*decoder)->pkt_timebase = in->time_base;
    return ret < 0 ? ret : avcodec_open2(*decoder, codec, NULL);
}
