#include "media/input/frame_rescue.h"

#include <string.h>

#include "media/compat.h"
#include "media/convert.h"
#include "media/gpu_frame.h"

/* Decoded frames that are kept: frames are asked for after those that they are compared with. */
#define KEPT 8

struct FrameRescue {
    FrameRescueOptions options;
    AVCodecContext *codec; /* NULL: it is to be opened */
    int64_t next;          /* the packet that it gets next */
    AVFrame *kept[KEPT];   /* the last one first; NULL: none */
};

FrameRescue *frame_rescue_create(const FrameRescueOptions *options)
{
    FrameRescue *r = av_mallocz(sizeof(*r));
    if (r)
        r->options = *options;
    return r;
}

static const AVFrame *find_kept(const FrameRescue *r, int64_t number)
{
    for (int i = 0; i < KEPT && r->kept[i]; i++)
        if (FRAME_NUMBER(r->kept[i]) == number)
            return r->kept[i];
    return NULL;
}

/* It is to begin again, at the oldest packet. */
static void begin_again(FrameRescue *r)
{
    avcodec_free_context(&r->codec);
    r->next = 0;
}

/* The next packet, or the end, to the decoder. */
static int send_next(FrameRescue *r)
{
    int64_t number = r->next;
    AVPacket *packet = r->options.packet(r->options.opaque, &number);
    if (packet) {
        codec_number(r->codec, packet, number);
        r->next = number + 1;
    }
    const int ret = avcodec_send_packet(r->codec, packet);
    av_packet_free(&packet);
    return ret == AVERROR(ENOMEM) ? ret : 0; /* damage was told of when it was decoded first */
}

/* One step towards the next frame, which is then the first of those that are kept: 0, or
 * AVERROR_EOF after the last. */
static int decode_step(FrameRescue *r)
{
    AVFrame *frame = av_frame_alloc();
    const int ret = frame ? avcodec_receive_frame(r->codec, frame) : AVERROR(ENOMEM);
    if (ret < 0) {
        av_frame_free(&frame);
        if (ret == AVERROR(EAGAIN))
            return send_next(r);
        return ret == AVERROR_EOF || ret == AVERROR(ENOMEM) ? ret : 0;
    }
    frame_set_number(frame, r->options.number(r->options.opaque, frame));
    av_frame_free(&r->kept[KEPT - 1]);
    memmove(&r->kept[1], &r->kept[0], (KEPT - 1) * sizeof(r->kept[0]));
    r->kept[0] = frame;
    return 0;
}

/* Decodes until the frame is kept. From where it was, and if that has passed it, once from the
 * start. */
static int look_for(FrameRescue *r, int64_t number)
{
    int begun = 0;
    while (!find_kept(r, number)) {
        if (!r->codec && begun++)
            return AVERROR(ENOENT);
        if (!r->codec)
            r->codec = r->options.open(r->options.opaque);
        if (!r->codec)
            return AVERROR(ENOMEM);
        const int ret = decode_step(r);
        if (ret == AVERROR(ENOMEM))
            return ret;
        if (ret < 0)
            begin_again(r);
    }
    return 0;
}

/* Its samples, and all else of the frame that was lost. */
static int replace(AVFrame *lost, const AVFrame *found)
{
    int full;
    AVFrame *host = av_frame_clone(found);
    if (!host)
        return AVERROR(ENOMEM);
    host->format = convert_without_j(host->format, &full);
    const int same = host->format == gpu_frame_format(lost) && host->width == lost->width &&
                     host->height == lost->height;
    while (host->nb_side_data)
        av_frame_remove_side_data(host, host->side_data[0]->type);
    const int ret = same ? av_frame_copy_props(host, lost) : AVERROR(ENOENT);
    if (ret >= 0) {
        gpu_frame_leave(lost);
        av_frame_move_ref(lost, host);
    }
    av_frame_free(&host);
    return ret;
}

int frame_rescue(FrameRescue *r, AVFrame *frame)
{
    const int64_t number = FRAME_NUMBER(frame);
    const int ret = look_for(r, number);
    return ret < 0 ? ret : replace(frame, find_kept(r, number));
}

void frame_rescue_close(FrameRescue **rescue)
{
    FrameRescue *r = *rescue;
    if (!r)
        return;
    avcodec_free_context(&r->codec);
    for (int i = 0; i < KEPT; i++)
        av_frame_free(&r->kept[i]);
    av_freep(rescue);
}
