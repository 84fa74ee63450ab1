#include "media/camera/camera_output.h"

#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>

#include "media/camera/camera_output_kind.h"
#include "media/convert.h"

/* Up to this many surplus columns or rows are cropped. Any other difference in size is scaled. */
#define MOST_CROPPED 3

struct CameraOutput {
    const CameraOutputKind *kind;
    void *self;
    Converter converter;
    AVFrame *last;    /* the last frame written, or blank */
    AVFrame *picture; /* `last` converted for sending, or blank */
};

/* ---- opening ---- */

static int open_kind(CameraOutput *o, const CameraOutputKind *kind, const char *device,
                     MediaError *error)
{
    o->kind = kind;
    const int ret = kind->open(&o->self, device, error);
    if (ret < 0)
        kind->close(&o->self);
    return ret;
}

static int open_any(CameraOutput *o, MediaError *error)
{
    MediaError none = {0}, why = {0};
    int ret = open_kind(o, &camera_pipewire, NULL, &none);
    if (ret == 0)
        return 0;
    ret = open_kind(o, &camera_loopback, NULL, &why);
    if (ret == MEDIA_USAGE)
        return media_fail(error, MEDIA_USAGE, "no virtual camera was found: %s; %s", none.text,
                          why.text);
    return ret < 0 ? media_fail(error, ret, "%s", why.text) : 0;
}

int camera_output_open(CameraOutput **output, const char *device, MediaError *error)
{
    CameraOutput *o = *output = av_mallocz(sizeof(*o));
    if (!o)
        return media_no_memory(error, MEDIA_OUTPUT);
    o->last = av_frame_alloc();
    o->picture = av_frame_alloc();
    int ret;
    if (!o->last || !o->picture)
        ret = media_no_memory(error, MEDIA_OUTPUT);
    else if (device && *device)
        ret = open_kind(o, &camera_loopback, device, error);
    else
        ret = open_any(o, error);
    if (ret < 0)
        camera_output_close(output);
    return ret;
}

const char *camera_output_path(const CameraOutput *o)
{
    return o->kind->path(o->self);
}

int camera_output_set(CameraOutput *o, const AVFrame *first, AVRational rate, const char *input,
                      MediaError *error)
{
    return o->kind->set(o->self, first, rate, input, error);
}

void camera_output_text(const CameraOutput *o, char *text, size_t size)
{
    o->kind->text(o->self, text, size);
}

/* ---- pictures ---- */

static bool is_cropped(int from, int to)
{
    return from >= to && from - to <= MOST_CROPPED;
}

static int convert(CameraOutput *o, AVFrame *from, enum AVPixelFormat format, int width, int height)
{
    AVFrame *to = o->picture;
    int full = convert_is_full(from);
    from->format = convert_without_j(from->format, &full);
    from->color_range = full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    to->format = format;
    to->width = width;
    to->height = height;
    to->color_range = AVCOL_RANGE_MPEG;
    to->colorspace = from->colorspace;
    return convert_frame(&o->converter, from, to);
}

static int make_picture(CameraOutput *o, enum AVPixelFormat format, int width, int height)
{
    AVFrame *from = av_frame_clone(o->last);
    int ret = from ? 0 : AVERROR(ENOMEM);
    av_frame_unref(o->picture);
    if (ret >= 0) {
        from->width = is_cropped(from->width, width) ? width : from->width & ~1;
        from->height = is_cropped(from->height, height) ? height : from->height & ~1;
        const int same = from->format == (int)format && from->width == width &&
                         from->height == height && !convert_is_full(from);
        ret = same ? av_frame_ref(o->picture, from) : convert(o, from, format, width, height);
    }
    if (ret < 0)
        av_frame_unref(o->picture);
    av_frame_free(&from);
    return ret;
}

int camera_output_repeat(CameraOutput *o, int64_t time, MediaError *error)
{
    int width, height, ret = 0;
    const enum AVPixelFormat format = o->kind->wanted(o->self, &width, &height);
    if (format == AV_PIX_FMT_NONE || !o->last->data[0])
        return 0;
    if (!o->picture->data[0] || o->picture->format != (int)format)
        ret = make_picture(o, format, width, height);
    if (ret < 0)
        return media_fail(error, MEDIA_OUTPUT,
                          "cannot convert a picture for the virtual camera: %s",
                          media_av_text(ret));
    ret = o->kind->send(o->self, o->picture, time, error);
    return ret < 0 ? ret : 1;
}

int camera_output_write(CameraOutput *o, const AVFrame *frame, int64_t time, MediaError *error)
{
    av_frame_unref(o->last);
    av_frame_unref(o->picture);
    if (av_frame_ref(o->last, frame) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    return camera_output_repeat(o, time, error);
}

bool camera_output_is_watched(CameraOutput *o)
{
    int width, height;
    return o->kind->wanted(o->self, &width, &height) != AV_PIX_FMT_NONE;
}

void camera_output_tend(CameraOutput *o, int64_t now, void (*note)(const char *line))
{
    if (o->kind->tend)
        o->kind->tend(o->self, now, note);
}

void camera_output_close(CameraOutput **output)
{
    CameraOutput *o = *output;
    if (!o)
        return;
    if (o->self)
        o->kind->close(&o->self);
    convert_close(&o->converter);
    av_frame_free(&o->last);
    av_frame_free(&o->picture);
    av_freep(output);
}
