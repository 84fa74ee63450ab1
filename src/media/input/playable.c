#include "media/input/playable.h"

#include <libavformat/avformat.h>
#include <libavutil/avstring.h>

#include "media/compat.h"

static int is_video(const AVFormatContext *format, const AVPacket *packet)
{
    const AVCodecParameters *par = format->streams[packet->stream_index]->codecpar;
    return par->codec_type == AVMEDIA_TYPE_VIDEO && !(packet->flags & AV_PKT_FLAG_CORRUPT);
}

static int read_video(AVFormatContext *format)
{
    int found = 0;
    AVPacket *packet = av_packet_alloc();
    while (packet && !found && av_read_frame(format, packet) >= 0) {
        found = is_video(format, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return found;
}

int playable_has_video(const char *path, const char *muxer)
{
    const AVInputFormat *reader = av_find_input_format(muxer);
    AVFormatContext *format = NULL;
    char *url = av_asprintf("file:%s", path);
    if (reader && (reader->flags & AVFMT_NOFILE))
        reader = NULL; /* probe by content instead */
    const int found =
        url && avformat_open_input(&format, url, reader, NULL) >= 0 && read_video(format);
    avformat_close_input(&format);
    av_free(url);
    return found;
}
