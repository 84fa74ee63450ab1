/* Dispatches between files, cameras and reconnecting URLs. */
#include "media/input/source.h"

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>

#define USUAL_RATE 25.0 /* frames per second, assumed for a video without a rate */

static int open_camera(Source **source, const SourceOptions *options, MediaError *error)
{
    Source *s = *source = source_create(options);
    int ret = s ? camera_open(&s->camera, options->camera, source_stop_callback, s, error)
                : media_no_memory(error, MEDIA_INPUT);
    if (ret >= 0) {
        s->format = camera_format(s->camera);
        const char *path = camera_setting(s->camera)->path;
        if (stat(path, &s->file) < 0)
            s->file = (struct stat){0}; /* already unplugged */
        ret = source_set_name(s, path) < 0 ? media_no_memory(error, MEDIA_INPUT)
                                           : source_take_video(s, error);
    }
    if (ret < 0)
        source_close(source);
    return ret;
}

/* Makes a source that reopens its connection. `first`: the open connection, or NULL. */
static int open_reconnecting(Source **source, const SourceOptions *options, Source *first,
                             MediaError *error)
{
    Source *s = *source = source_create(options);
    if (!s) {
        source_free(&first);
        return media_no_memory(error, MEDIA_INPUT);
    }
    int ret = source_reconnect_open(s, first, error);
    if (ret >= 0)
        ret = source_note_streams(s, error);
    if (ret < 0)
        source_close(source);
    return ret;
}

int source_open(Source **source, const SourceOptions *options, MediaError *error)
{
    *source = NULL;
    if (options->camera)
        return open_camera(source, options, error);
    if (options->network && options->reconnect_s > 0 && !options->reconnect_live)
        return open_reconnecting(source, options, NULL, error);
    const int ret = source_open_connection(source, options, error);
    Network *n = ret < 0 ? NULL : (*source)->network;
    /* A stream of unknown length is live if it uses a live protocol, HLS or DASH. */
    if (n && options->reconnect_s > 0 && (n->scheme->is_live || n->has_segments) &&
        source_duration(*source) <= 0) {
        n->patient = 0;
        return open_reconnecting(source, options, *source, error);
    }
    if (ret >= 0)
        source_find_largest(*source);
    return ret;
}

bool source_is_lost(const Source *s)
{
    return atomic_load(&s->away);
}

int source_losses(const Source *s)
{
    return atomic_load(&s->losses);
}

int source_read(Source *s, AVPacket *packet)
{
    if (s->camera) {
        const int ret = camera_read(s->camera, packet);
        const int returns = (int)camera_status(s->camera).returns;
        if (ret >= 0 && atomic_exchange(&s->losses, returns) != returns)
            source_mark_discontinuity(packet);
        return ret;
    }
    return s->reconnect ? source_reconnect_read(s->reconnect, packet) : source_read_own(s, packet);
}

Source *source_share(Source *s)
{
    atomic_fetch_add(&s->shares, 1);
    return s;
}

void source_close(Source **source)
{
    Source *s = *source;
    *source = NULL;
    if (!s || atomic_fetch_sub(&s->shares, 1) > 0)
        return;
    if (s->camera)
        s->format = NULL; /* owned by the camera */
    camera_close(&s->camera);
    source_reconnect_close(&s->reconnect);
    source_free(&s);
}

double source_byte_rate(const Source *s)
{
    const AVCodecParameters *par = s->video->codecpar;
    const AVCodecDescriptor *codec = avcodec_descriptor_get(par->codec_id);
    const AVRational rate = source_frame_rate(s);
    const int props = codec ? codec->props : 0;
    const int size =
        av_image_get_buffer_size((enum AVPixelFormat)par->format, par->width, par->height, 1);
    const double raw = FFMAX(size, 1) * (rate.num > 0 && rate.den > 0 ? av_q2d(rate) : USUAL_RATE);
    const int lossless = (props & AV_CODEC_PROP_LOSSLESS) && !(props & AV_CODEC_PROP_LOSSY);
    if (lossless)
        return raw;
    return props & AV_CODEC_PROP_INTRA_ONLY ? raw / 4 : raw / 20;
}
