/* A virtual camera through PipeWire: a driver node, whose watchers run when it sends a picture. */
#include "media/camera/camera_output_kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pipewire/pipewire.h>
#include <spa/param/format-utils.h>
#include <spa/param/video/format-utils.h>

#include <libavutil/avstring.h>
#include <libavutil/common.h>
#include <libavutil/imgutils.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>

/* Prefix of the node's name, by which programs remember their camera. */
#define NODE_NAME "lumeq"

#define RETRY_US 1000000

/* Frames per second. A higher value is a time base, not a rate; programs may then choose any rate
 * up to this one. */
#define MOST_RATE 240

typedef struct Format {
    enum spa_video_format spa;
    enum AVPixelFormat pixels;
} Format;

static const Format nv12 = {SPA_VIDEO_FORMAT_NV12, AV_PIX_FMT_NV12};
static const Format yuy2 = {SPA_VIDEO_FORMAT_YUY2, AV_PIX_FMT_YUYV422};

typedef struct Node {
    struct pw_thread_loop *loop; /* its lock protects all other members */
    struct pw_context *context;
    struct pw_core *core; /* NULL while PipeWire is gone */
    struct pw_stream *stream;
    struct spa_hook core_hook, stream_hook;
    /* Settings: */
    char name[160], title[160];
    const Format *formats[2]; /* the better one first */
    int width, height, is_709;
    AVRational rate;

    const Format *format; /* the format that the watchers have chosen, or NULL */
    int streaming;
    int lost;   /* the connection ended */
    int failed; /* the stream failed; the connection lives */
    uint64_t sequence;
    int64_t time;  /* timestamp of the last picture sent, us */
    int64_t retry; /* time of the next attempt to reconnect */
} Node;

/* ---- the connection; with the lock held ---- */

static void on_core_error(void *data, uint32_t id, int seq, int res, const char *message)
{
    Node *n = data;
    (void)seq;
    (void)message;
    if (id == PW_ID_CORE && res == -EPIPE)
        n->lost = 1;
}

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .error = on_core_error};

static int connect_core(Node *n)
{
    n->core = pw_context_connect(n->context, NULL, 0);
    if (!n->core)
        return errno ? errno : EIO;
    pw_core_add_listener(n->core, &n->core_hook, &core_events, n);
    n->lost = 0;
    return 0;
}

static void close_stream(Node *n)
{
    if (n->stream)
        pw_stream_destroy(n->stream);
    n->stream = NULL;
    n->format = NULL;
    n->streaming = n->failed = 0;
}

static void close_core(Node *n)
{
    close_stream(n);
    if (n->core)
        pw_core_disconnect(n->core);
    n->core = NULL;
}

static int pipewire_open(void **self, const char *device, MediaError *error)
{
    (void)device;
    Node *n = *self = av_mallocz(sizeof(*n));
    if (!n)
        return media_no_memory(error, MEDIA_OUTPUT);
    pw_init(NULL, NULL);
    if (!getenv("PIPEWIRE_DEBUG"))
        pw_log_set_level(SPA_LOG_LEVEL_NONE); /* lumeq reports the errors */
    n->loop = pw_thread_loop_new("lumeq-camera", NULL);
    n->context = n->loop ? pw_context_new(pw_thread_loop_get_loop(n->loop), NULL, 0) : NULL;
    if (!n->context || pw_thread_loop_start(n->loop) < 0)
        return media_fail(error, MEDIA_USAGE, "PipeWire cannot be used (%s)", strerror(errno));
    pw_thread_loop_lock(n->loop);
    const int ret = connect_core(n);
    pw_thread_loop_unlock(n->loop);
    if (ret)
        return media_fail(error, MEDIA_USAGE,
                          "PipeWire is not running (systemctl --user start pipewire wireplumber)");
    return 0;
}

static const char *pipewire_path(const void *self)
{
    (void)self;
    return NULL;
}

static void pipewire_close(void **self)
{
    Node *n = *self;
    if (!n)
        return;
    if (n->loop)
        pw_thread_loop_lock(n->loop);
    close_core(n);
    if (n->loop)
        pw_thread_loop_unlock(n->loop);
    if (n->loop)
        pw_thread_loop_stop(n->loop);
    if (n->context)
        pw_context_destroy(n->context);
    if (n->loop)
        pw_thread_loop_destroy(n->loop);
    pw_deinit();
    av_freep(self);
}

/* ---- formats ---- */

/* Builds one offer, with fixed values where possible, because programs list only fixed values. */
static const struct spa_pod *offer(struct spa_pod_builder *b, const Node *n, const Format *format,
                                   struct spa_fraction rate)
{
    struct spa_pod_frame f;
    const struct spa_rectangle size = {(uint32_t)n->width, (uint32_t)n->height};
    const bool is_709 = n->is_709;
    spa_pod_builder_push_object(b, &f, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), 0);
    spa_pod_builder_add(b, SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
    spa_pod_builder_add(b, SPA_FORMAT_VIDEO_format, SPA_POD_Id(format->spa), 0);
    spa_pod_builder_add(b, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), 0);
    if (rate.num) {
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate), 0);
    } else {
        const struct spa_fraction usual = {30, 1}, most = {MOST_RATE, 1}, least = {0, 1};
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_framerate,
                            SPA_POD_CHOICE_RANGE_Fraction(&usual, &least, &most), 0);
    }
    spa_pod_builder_add(b, SPA_FORMAT_VIDEO_colorRange, SPA_POD_Id(SPA_VIDEO_COLOR_RANGE_16_235),
                        0);
    spa_pod_builder_add(
        b, SPA_FORMAT_VIDEO_colorMatrix,
        SPA_POD_Id(is_709 ? SPA_VIDEO_COLOR_MATRIX_BT709 : SPA_VIDEO_COLOR_MATRIX_BT601), 0);
    return spa_pod_builder_pop(b, &f);
}

/* Offers each format at the exact rate, then at whole rates for programs that need them. */
static uint32_t offer_all(struct spa_pod_builder *b, const Node *n, const struct spa_pod *offers[6])
{
    struct spa_fraction rates[3] = {{0}};
    int rate_count = 1;
    if (n->rate.num > 0 && n->rate.den > 0 && n->rate.num / n->rate.den <= MOST_RATE) {
        const uint32_t below = (uint32_t)(n->rate.num / n->rate.den);
        rates[0] = (struct spa_fraction){(uint32_t)n->rate.num, (uint32_t)n->rate.den};
        if (n->rate.den > 1) {
            rates[rate_count++] = (struct spa_fraction){below + 1, 1};
            if (below)
                rates[rate_count++] = (struct spa_fraction){below, 1};
        }
    }
    uint32_t count = 0;
    for (int r = 0; r < rate_count; r++)
        for (int i = 0; i < 2; i++)
            offers[count++] = offer(b, n, n->formats[i], rates[r]);
    return count;
}

static int stride_of(const Node *n, const Format *format)
{
    return format == &nv12 ? n->width : 2 * n->width;
}

static int size_of(const Node *n, const Format *format)
{
    return format == &nv12 ? n->width * n->height / 2 * 3 : 2 * n->width * n->height;
}

/* PipeWire calls this when the watchers have chosen a format, or the last watcher has left. */
static void on_param(void *data, uint32_t id, const struct spa_pod *param)
{
    Node *n = data;
    uint8_t space[512];
    struct spa_video_info_raw info = {0};
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(space, sizeof(space));
    const struct spa_pod *params[2];
    if (id != SPA_PARAM_Format)
        return;
    n->format = NULL;
    if (!param || spa_format_video_raw_parse(param, &info) < 0)
        return;
    n->format = info.format == nv12.spa ? &nv12 : &yuy2;
    params[0] = spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(4, 2, 16), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
        SPA_PARAM_BUFFERS_size, SPA_POD_Int(size_of(n, n->format)), SPA_PARAM_BUFFERS_stride,
        SPA_POD_Int(stride_of(n, n->format)), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd));
    params[1] = spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta,
                                           SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
                                           SPA_PARAM_META_size,
                                           SPA_POD_Int((int)sizeof(struct spa_meta_header)));
    if (pw_stream_update_params(n->stream, params, 2) < 0)
        n->failed = 1;
}

static void on_state(void *data, enum pw_stream_state old, enum pw_stream_state state,
                     const char *message)
{
    Node *n = data;
    (void)old;
    (void)message;
    n->streaming = state == PW_STREAM_STATE_STREAMING;
    n->failed |= state == PW_STREAM_STATE_ERROR;
}

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state,
    .param_changed = on_param,
};

/* Returns 0 or a system error. */
static int open_stream(Node *n)
{
    uint8_t space[4096];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(space, sizeof(space));
    const struct spa_pod *offers[6];
    struct pw_properties *properties = pw_properties_new(
        PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_ROLE, "Camera",
        PW_KEY_NODE_NAME, n->name, PW_KEY_NODE_DESCRIPTION, n->title, NULL);
    n->stream = properties ? pw_stream_new(n->core, n->title, properties) : NULL;
    if (!n->stream)
        return errno ? errno : ENOMEM;
    pw_stream_add_listener(n->stream, &n->stream_hook, &stream_events, n);
    const uint32_t count = offer_all(&b, n, offers);
    const int ret =
        pw_stream_connect(n->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
                          PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS, offers, count);
    if (ret < 0)
        close_stream(n);
    return ret < 0 ? -ret : 0;
}

static int pipewire_set(void *self, const AVFrame *first, AVRational rate, const char *input,
                        MediaError *error)
{
    Node *n = self;
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(first->format);
    if (first->width < 4 || first->height < 2)
        return media_fail(error, MEDIA_OUTPUT,
                          "the virtual camera needs pictures of at least 4x2 pixels; this one has "
                          "%dx%d",
                          first->width, first->height);
    snprintf(n->name, sizeof(n->name), NODE_NAME ".%s", input);
    snprintf(n->title, sizeof(n->title), "lumeq (%s)", input);
    n->formats[0] = desc->log2_chroma_h ? &nv12 : &yuy2;
    n->formats[1] = desc->log2_chroma_h ? &yuy2 : &nv12;
    n->width = first->width & ~3;
    n->height = first->height & ~1;
    n->is_709 =
        first->colorspace == AVCOL_SPC_BT709 ||
        (first->colorspace == AVCOL_SPC_UNSPECIFIED && first->height >= CAMERA_OUTPUT_HD_LINES);
    n->rate = rate;
    pw_thread_loop_lock(n->loop);
    const int ret = n->core ? open_stream(n) : 0; /* else pipewire_tend() opens it later */
    pw_thread_loop_unlock(n->loop);
    return ret ? media_fail(error, MEDIA_OUTPUT, "PipeWire refuses the virtual camera: %s",
                            strerror(ret))
               : 0;
}

static void pipewire_text(const void *self, char *text, size_t size)
{
    const Node *n = self;
    snprintf(text, size, "%s (PipeWire): %dx%d", n->title, n->width, n->height);
    if (n->rate.num > 0 && n->rate.den > 0)
        av_strlcatf(text, size, " at %.4g fps", av_q2d(n->rate));
}

/* ---- pictures ---- */

static enum AVPixelFormat pipewire_wanted(void *self, int *width, int *height)
{
    Node *n = self;
    *width = n->width;
    *height = n->height;
    pw_thread_loop_lock(n->loop);
    const enum AVPixelFormat format =
        n->streaming && n->format ? n->format->pixels : AV_PIX_FMT_NONE;
    pw_thread_loop_unlock(n->loop);
    return format;
}

static void fill(Node *n, struct spa_buffer *buffer, const AVFrame *frame, int64_t time)
{
    struct spa_data *data = &buffer->datas[0];
    struct spa_meta_header *header =
        spa_buffer_find_meta_data(buffer, SPA_META_Header, sizeof(*header));
    const int size = size_of(n, n->format), stride = stride_of(n, n->format);
    *data->chunk = (struct spa_chunk){.stride = stride};
    if (data->data && data->maxsize >= (uint32_t)size) {
        data->chunk->size = (uint32_t)size;
        (void)av_image_copy_to_buffer(data->data, size, (const uint8_t *const *)frame->data,
                                      frame->linesize, n->format->pixels, n->width, n->height, 1);
    }
    /* Times must increase, but this picture may be from before the last repetition was sent. */
    n->time = FFMAX(time, n->time + 1);
    if (header)
        *header = (struct spa_meta_header){.pts = n->time * 1000, .seq = n->sequence++};
}

/* Drops the picture if the watchers still hold all buffers. */
static int pipewire_send(void *self, const AVFrame *frame, int64_t time, MediaError *error)
{
    Node *n = self;
    (void)error;
    pw_thread_loop_lock(n->loop);
    struct pw_buffer *buffer = NULL;
    if (n->streaming && n->format && n->format->pixels == (enum AVPixelFormat)frame->format)
        buffer = pw_stream_dequeue_buffer(n->stream);
    if (buffer) {
        fill(n, buffer->buffer, frame, time);
        (void)pw_stream_queue_buffer(n->stream, buffer);
        (void)pw_stream_trigger_process(n->stream);
    }
    pw_thread_loop_unlock(n->loop);
    return 0;
}

/* ---- PipeWire ends and returns ---- */

static void pipewire_tend(void *self, int64_t now, void (*note)(const char *line))
{
    Node *n = self;
    const char *line = NULL;
    pw_thread_loop_lock(n->loop);
    if (n->core && n->lost) {
        close_core(n);
        line = "PipeWire has ended: the virtual camera is gone; waiting for it";
    }
    if (now >= n->retry && (!n->core || n->failed)) {
        n->retry = now + RETRY_US;
        const bool was_gone = !n->core;
        close_stream(n);
        if ((n->core || connect_core(n) == 0) && n->width && open_stream(n) == 0 && was_gone)
            line = "PipeWire is back, and so is the virtual camera";
    }
    pw_thread_loop_unlock(n->loop);
    if (line)
        note(line);
}

const CameraOutputKind camera_pipewire = {
    .open = pipewire_open,
    .path = pipewire_path,
    .set = pipewire_set,
    .text = pipewire_text,
    .wanted = pipewire_wanted,
    .send = pipewire_send,
    .tend = pipewire_tend,
    .close = pipewire_close,
};
