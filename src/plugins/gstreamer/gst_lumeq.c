/*
 * The GStreamer element "lumeq", a filter for video in system memory and CUDA memory.
 *
 * GstVideoFilter maps input and output in system memory; transform() maps both in CUDA memory. Then
 * transform_frame() runs in the streaming thread, the only thread that uses the equalizer. Any
 * thread may set properties, so the object's lock guards `settings` and `changed`. The element
 * keeps the previous input buffer as the noise reference. The latency is 0.
 */
#include <gst/gst.h>
#include <gst/video/gstvideofilter.h>
#include <gst/video/video.h>

#include "gst_lumeq_cuda.h"
#include "lumeq/lumeq.h"

GST_DEBUG_CATEGORY_STATIC(lumeq_debug);
#define GST_CAT_DEFAULT lumeq_debug

#define FORMATS                                                                                    \
    "{ I420, YV12, NV12, Y42B, NV16, Y444, NV24, Y41B, GRAY8, GRAY16_LE, I420_10LE, P010_10LE, "   \
    "I422_10LE, Y444_10LE, I420_12LE, P012_LE, I422_12LE, Y444_12LE, P016_LE, Y444_16LE }"

typedef struct Settings {
    LumeqParams params;
    int profile;        /* number of the profile that was set last, from 1; 0: none */
    LumeqConfig config; /* used at the next start */
} Settings;

typedef struct GstLumeq {
    GstVideoFilter parent;
    Settings settings;
    int changed;          /* set until the equalizer has settings.params */
    LumeqParams accepted; /* last parameters accepted since the start; size 0: none */
    LumeqEqualizer *equalizer;
    int in_cuda;         /* pictures are in CUDA memory, and the equalizer works in `context` */
    GstObject *context;  /* the pipeline's CUDA context; NULL: none yet */
    GstBuffer *previous; /* previous input; NULL: none, or unrelated to the next frame */
    GstSegment segment;
    LumeqTransfer transfer;
    LumeqCodeRange code_range; /* of the equalizer's parameters */
    LumeqStretch *stretch;
    LumeqImage stretched[2]; /* stretched copies of this frame and the previous frame */
    int last_stretched;      /* index of the previous frame's copy; -1: it was not stretched */
} GstLumeq;

typedef GstVideoFilterClass GstLumeqClass;

static GType gst_lumeq_get_type(void);
G_DEFINE_TYPE(GstLumeq, gst_lumeq, GST_TYPE_VIDEO_FILTER)

/* ---- properties ---- */

typedef enum Kind { NUMBER, INTEGER, FLAG, CHOICE } Kind;

static const GEnumValue modes[] = {
    {LUMEQ_MODE_GLOBAL, "One curve for the whole picture", "global"},
    {LUMEQ_MODE_OFF, "Only brightness and gamma", "off"},
    {LUMEQ_MODE_CLAHE, "A curve for each tile: local contrast", "clahe"},
    {LUMEQ_MODE_STRETCH, "A straight line from black to white", "stretch"},
    {LUMEQ_MODE_HAZE, "Remove haze", "haze"},
    {0, NULL, NULL}};
static const GEnumValue chromas[] = {{LUMEQ_CHROMA_SCALE, "Scale saturation with luma", "scale"},
                                     {LUMEQ_CHROMA_KEEP, "Keep chroma unchanged", "keep"},
                                     {0, NULL, NULL}};
static const GEnumValue bars[] = {
    {LUMEQ_BARS_AUTO, "Leave black bars unchanged and out of the histogram", "auto"},
    {LUMEQ_BARS_IGNORE, "Treat bars as part of the picture", "ignore"},
    {0, NULL, NULL}};
static const GEnumValue limits[] = {{LUMEQ_LIMIT_NONE, "Darken and lighten", "none"},
                                    {LUMEQ_LIMIT_DARKEN, "Only darken", "darken"},
                                    {LUMEQ_LIMIT_LIGHTEN, "Only lighten", "lighten"},
                                    {0, NULL, NULL}};
static const GEnumValue code_ranges[] = {
    {LUMEQ_CODE_RANGE_FULL, "Never stretch", "full"},
    {LUMEQ_CODE_RANGE_AUTO, "Stretch gray that uses few codes", "auto"},
    {LUMEQ_CODE_RANGE_USED, "Stretch the used codes", "used"},
    {0, NULL, NULL}};
static const GEnumValue profiles[] = {{0, "None", "none"},
                                      {1, "Fog, haze, smoke", "fog"},
                                      {2, "X-ray, ultrasound", "medical-gray"},
                                      {3, "Rooms, roads and faces in the dark", "night"},
                                      {4, "Screen recordings", "screen"},
                                      {5, "Fixed cameras", "surveillance"},
                                      {6, "Thermal cameras", "thermal"},
                                      {7, "Under water", "water"},
                                      {0, NULL, NULL}};
static const GEnumValue backends[] = {{LUMEQ_BACKEND_AUTO, "CUDA if it works, else CPU", "auto"},
                                      {LUMEQ_BACKEND_CPU, "CPU", "cpu"},
                                      {LUMEQ_BACKEND_CUDA, "CUDA", "cuda"},
                                      {0, NULL, NULL}};

/* Everything except doubles is stored as an int, which has the size of an enum. */
typedef struct Property {
    const char *name, *nick, *about;
    size_t offset; /* in Settings */
    Kind kind;
    double low, high;
    const char *type; /* name of the enum of a CHOICE */
    const GEnumValue *choices;
} Property;

#define PARAM(field) offsetof(Settings, params.field)
#define CONFIG(field) offsetof(Settings, config.field)

static const Property properties[] = {
    {"profile", "Profile",
     "Settings for a kind of video; set it before other properties, which it overwrites",
     offsetof(Settings, profile), CHOICE, 0, 0, "GstLumeqProfile", profiles},
    {"code-range", "Code range", "Stretch GRAY16_LE in system memory that uses few of its codes",
     PARAM(code_range), CHOICE, 0, 0, "GstLumeqCodeRange", code_ranges},
    {"mode", "Mode", "How the picture is equalized", PARAM(mode), CHOICE, 0, 0, "GstLumeqMode",
     modes},
    {"reference", "Reference",
     "OpenCV's arithmetic, bit for bit: equalizeHist, or CLAHE in mode clahe; 8 bits only; most "
     "other settings are then ignored",
     PARAM(reference), FLAG, 0, 1, NULL, NULL},
    {"strength", "Strength",
     "0: unchanged, 1: fully equalized, -1: automatic, which also lifts dark video",
     PARAM(strength), NUMBER, LUMEQ_STRENGTH_AUTO, 1, NULL, NULL},
    {"adaptive", "Adaptive", "With a strength of 0 to 1: reduce it for well-exposed pictures",
     PARAM(adaptive), FLAG, 0, 1, NULL, NULL},
    {"clip", "Clip limit",
     "Limit of a histogram bin, in multiples of the mean bin, 1 or more; 0: none, -1: automatic, "
     "by the noise",
     PARAM(clip), NUMBER, LUMEQ_CLIP_AUTO, LUMEQ_MAX_CLIP, NULL, NULL},
    {"smooth", "Smoothing", "Time constant of the curve in seconds; 0: none", PARAM(smooth), NUMBER,
     0, LUMEQ_MAX_SMOOTH, NULL, NULL},
    {"scene-cut", "Scene cut", "Switch to the new picture's curve at once after a cut",
     PARAM(scene_cut), FLAG, 0, 1, NULL, NULL},
    {"tiles-x", "Tile columns", "For mode clahe", PARAM(tiles_x), INTEGER, 1, LUMEQ_MAX_TILES, NULL,
     NULL},
    {"tiles-y", "Tile rows", "For mode clahe", PARAM(tiles_y), INTEGER, 1, LUMEQ_MAX_TILES, NULL,
     NULL},
    {"chroma", "Chroma", "How colours follow luma", PARAM(chroma), CHOICE, 0, 0, "GstLumeqChroma",
     chromas},
    {"dither", "Dither", "Dither fractions of codes; for outputs without lossy compression",
     PARAM(dither), FLAG, 0, 1, NULL, NULL},
    {"bars", "Bars", "Black bars at the edges", PARAM(bars), CHOICE, 0, 0, "GstLumeqBars", bars},
    {"meter-x", "Metering area: left", "First column of the area that determines the curve",
     PARAM(meter.x), INTEGER, 0, LUMEQ_MAX_SIDE, NULL, NULL},
    {"meter-y", "Metering area: top", "First row of the area that determines the curve",
     PARAM(meter.y), INTEGER, 0, LUMEQ_MAX_SIDE, NULL, NULL},
    {"meter-width", "Metering area: width",
     "In pixels. If width or height is 0: the whole picture; if one is -1: the middle half of the "
     "columns and rows",
     PARAM(meter.width), INTEGER, -1, LUMEQ_MAX_SIDE, NULL, NULL},
    {"meter-height", "Metering area: height", "In pixels; see meter-width", PARAM(meter.height),
     INTEGER, -1, LUMEQ_MAX_SIDE, NULL, NULL},
    {"lift", "Lift", "With strength -1 in mode global: lift dark video as far as its noise allows",
     PARAM(lift), FLAG, 0, 1, NULL, NULL},
    {"denoise", "Noise filter", "For lifted dark video: 0 (off) to 1; -1: automatic, which is 1",
     PARAM(denoise), NUMBER, LUMEQ_DENOISE_AUTO, 1, NULL, NULL},
    {"brightness", "Brightness", "Darken or lighten before equalizing; black and white stay",
     PARAM(brightness), NUMBER, -1, 1, NULL, NULL},
    {"gamma", "Gamma", "Map tones x to x^(1/gamma) before equalizing; above 1 is lighter",
     PARAM(gamma), NUMBER, LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA, NULL, NULL},
    {"await-noise", "Await noise",
     "Lift a dark picture only slightly until its noise is known, from the third frame on; set "
     "false for single pictures",
     PARAM(await_noise), FLAG, 0, 1, NULL, NULL},
    {"limit", "Limit", "Direction of changes", PARAM(limit), CHOICE, 0, 0, "GstLumeqLimit", limits},
    {"backend", "Backend", "Where to compute; results are identical", CONFIG(backend), CHOICE, 0, 0,
     "GstLumeqBackend", backends},
    {"device", "Device", "Number of the CUDA device", CONFIG(device), INTEGER, 0, 255, NULL, NULL},
    {"threads", "Threads", "CPU threads; 0: one for each core", CONFIG(threads), INTEGER, 0, 256,
     NULL, NULL},
};

static int is_param(const Property *p)
{
    return p->offset < offsetof(Settings, config);
}

static Settings default_settings(void)
{
    Settings s = {.params = {.size = sizeof(s.params)},
                  .config = {.size = sizeof(s.config), .real_time = 1}};
    lumeq_params_default(&s.params);
    s.params.await_noise = 1;
    return s;
}

static double read_setting(const Settings *s, const Property *p)
{
    const char *at = (const char *)s + p->offset;
    return p->kind == NUMBER ? *(const double *)at : *(const int *)at;
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    (void)spec;
    GstLumeq *self = (GstLumeq *)object;
    const Property *p = &properties[id - 1];
    char *at = (char *)&self->settings + p->offset;
    GST_OBJECT_LOCK(self);
    switch (p->kind) {
    case NUMBER: *(double *)at = g_value_get_double(value); break;
    case INTEGER: *(int *)at = g_value_get_int(value); break;
    case FLAG: *(int *)at = g_value_get_boolean(value); break;
    case CHOICE: *(int *)at = g_value_get_enum(value); break;
    }
    if (p->choices == profiles && self->settings.profile)
        (void)lumeq_params_profile(&self->settings.params,
                                   profiles[self->settings.profile].value_nick);
    self->changed = 1;
    GST_OBJECT_UNLOCK(self);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    (void)spec;
    GstLumeq *self = (GstLumeq *)object;
    const Property *p = &properties[id - 1];
    GST_OBJECT_LOCK(self);
    const double number = read_setting(&self->settings, p);
    GST_OBJECT_UNLOCK(self);
    switch (p->kind) {
    case NUMBER: g_value_set_double(value, number); break;
    case INTEGER: g_value_set_int(value, (int)number); break;
    case FLAG: g_value_set_boolean(value, number != 0); break;
    case CHOICE: g_value_set_enum(value, (int)number); break;
    }
}

static GParamSpec *new_spec(const Property *p, double value)
{
    const GParamFlags flags =
        (GParamFlags)(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS) |
        (GParamFlags)(is_param(p) ? GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING
                                  : GST_PARAM_MUTABLE_READY);
    GType type;
    switch (p->kind) {
    case NUMBER:
        return g_param_spec_double(p->name, p->nick, p->about, p->low, p->high, value, flags);
    case INTEGER:
        return g_param_spec_int(p->name, p->nick, p->about, (int)p->low, (int)p->high, (int)value,
                                flags);
    case FLAG: return g_param_spec_boolean(p->name, p->nick, p->about, value != 0, flags);
    case CHOICE: break;
    }
    type = g_enum_register_static(p->type, p->choices);
    gst_type_mark_as_plugin_api(type, 0);
    return g_param_spec_enum(p->name, p->nick, p->about, type, (int)value, flags);
}

/* Returns the parameters for the library. An application sets the numbers of the metering area one
 * by one, so every combination must give a valid area. */
static LumeqParams chosen_params(const GstLumeq *self, LumeqParams params)
{
    LumeqRect *m = &params.meter;
    if (m->width == 0 || m->height == 0)
        *m = (LumeqRect){0, 0, 0, 0};
    else if (m->width < 0 || m->height < 0)
        *m = (LumeqRect){0, 0, -1, -1};
    params.transfer = self->transfer;
    return params;
}

/* Passes changed settings to the equalizer. Refused settings are an error at the start; later, the
 * previous settings stay. */
static gboolean update_params(GstLumeq *self)
{
    GST_OBJECT_LOCK(self);
    const LumeqParams wanted = self->settings.params;
    const int changed = self->changed;
    self->changed = 0;
    GST_OBJECT_UNLOCK(self);
    LumeqParams params = chosen_params(self, wanted);
    if (!changed)
        return TRUE;
    if (lumeq_set_params(self->equalizer, &params) == 0) {
        self->accepted = wanted;
        self->code_range = params.code_range;
        return TRUE;
    }
    if (!self->accepted.size) {
        GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                          ("Cannot use these settings: %s.", lumeq_last_error(self->equalizer)),
                          (NULL));
        return FALSE;
    }
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS,
                        ("The settings stay as they were: %s.", lumeq_last_error(self->equalizer)),
                        (NULL));
    params = chosen_params(self, self->accepted);
    return lumeq_set_params(self->equalizer, &params) == 0;
}

/* ---- frames ---- */

static LumeqImage image_of(const GstVideoFrame *frame, int in_cuda)
{
    const GstVideoInfo *info = &frame->info;
    const GstVideoFormatInfo *format = info->finfo;
    LumeqImage image = {.width = GST_VIDEO_INFO_WIDTH(info),
                        .height = GST_VIDEO_INFO_HEIGHT(info),
                        .depth = (int)GST_VIDEO_FORMAT_INFO_DEPTH(format, 0),
                        .shift = (int)GST_VIDEO_FORMAT_INFO_SHIFT(format, 0),
                        .range = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255
                                     ? LUMEQ_RANGE_FULL
                                     : LUMEQ_RANGE_LIMITED,
                        .memory = in_cuda ? LUMEQ_MEMORY_CUDA : LUMEQ_MEMORY_HOST};
    if (GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format) > 1) {
        image.chroma_x = (int)GST_VIDEO_FORMAT_INFO_W_SUB(format, 1);
        image.chroma_y = (int)GST_VIDEO_FORMAT_INFO_H_SUB(format, 1);
    }
    /* by component, not by plane, because YV12 stores Cr first */
    for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_PLANES(format); i++) {
        image.plane[i] = GST_VIDEO_FRAME_COMP_DATA(frame, i);
        image.stride[i] = GST_VIDEO_FRAME_COMP_STRIDE(frame, i);
    }
    return image;
}

static void forget(GstLumeq *self)
{
    lumeq_stretch_reset(self->stretch);
    self->last_stretched = -1;
    gst_buffer_replace(&self->previous, NULL);
    if (self->equalizer)
        lumeq_reset(self->equalizer);
}

static gboolean map_frame(GstLumeq *self, GstVideoFrame *frame, const GstVideoInfo *info,
                          GstBuffer *buffer, GstMapFlags flags)
{
    return self->in_cuda ? gst_lumeq_cuda_map(frame, info, buffer, flags, self->context)
                         : gst_video_frame_map(frame, info, buffer, flags);
}

/* Stretches gray of more than 8 bits into the element's memory. Returns 1, or 0 if the frame is
 * used unchanged, or a LUMEQ_ERR_*. */
static int stretch_gray(GstLumeq *self, const LumeqFrame *frame)
{
    const LumeqImage *in = &frame->in;
    LumeqImage *to = &self->stretched[self->last_stretched == 0];
    const int64_t time = frame->time == LUMEQ_NO_TIME ? 0 : frame->time;
    LumeqCodes window;
    if (!self->code_range || in->plane[1] || in->depth <= 8 || self->in_cuda)
        return 0;
    if (!self->stretch && lumeq_stretch_create(&self->stretch, NULL) < 0)
        return LUMEQ_ERR_MEMORY;
    const int ret = lumeq_stretch_window(self->stretch, self->code_range, in, time, &window);
    if (ret <= 0)
        return ret;
    void *memory = to->plane[0];
    const gsize row = (gsize)in->width * sizeof(uint16_t);
    *to = *in;
    to->stride[0] = (ptrdiff_t)row;
    to->plane[0] = g_realloc(memory, row * (gsize)in->height);
    return lumeq_stretch_write(self->stretch, &window, in, to) < 0 ? LUMEQ_ERR_ARGUMENT : 1;
}

static int process(GstLumeq *self, GstVideoFrame *in, GstVideoFrame *out)
{
    /* in->info does not fit the previous buffer, whose GstVideoMeta may have other strides */
    const GstVideoInfo *info = &GST_VIDEO_FILTER(self)->in_info;
    const GstBuffer *buffer = in->buffer;
    GstVideoFrame previous;
    const int has_previous =
        self->previous && map_frame(self, &previous, info, self->previous, GST_MAP_READ);
    const LumeqImage before =
        has_previous ? image_of(&previous, self->in_cuda) : (LumeqImage){.width = 0};
    LumeqFrame frame = {
        .size = sizeof(frame),
        .in = image_of(in, self->in_cuda),
        .out = image_of(out, self->in_cuda),
        .time = GST_BUFFER_PTS_IS_VALID(buffer) ? (int64_t)GST_BUFFER_PTS(buffer) : LUMEQ_NO_TIME,
        .duration = GST_BUFFER_DURATION_IS_VALID(buffer) ? (int64_t)GST_BUFFER_DURATION(buffer) : 0,
        .previous = has_previous ? &before : NULL,
        .interlaced = GST_VIDEO_FRAME_IS_INTERLACED(in),
    };
    int ret = stretch_gray(self, &frame);
    const int is_stretched = ret > 0, last = self->last_stretched;
    if (is_stretched) {
        self->last_stretched = last == 0;
        frame.in = self->stretched[self->last_stretched];
        if (last >= 0 && has_previous)
            frame.previous = &self->stretched[last];
    } else {
        self->last_stretched = -1;
    }
    if (ret >= 0)
        ret = lumeq_process(self->equalizer, &frame, NULL);
    if (has_previous)
        gst_video_frame_unmap(&previous);
    return ret;
}

static GstFlowReturn transform_frame(GstVideoFilter *filter, GstVideoFrame *in, GstVideoFrame *out)
{
    GstLumeq *self = (GstLumeq *)filter;
    if (GST_BUFFER_IS_DISCONT(in->buffer))
        forget(self);
    if (!update_params(self))
        return GST_FLOW_ERROR;
    const int ret = process(self, in, out);
    if (ret < 0) {
        GST_ELEMENT_ERROR(self, STREAM, FAILED,
                          ("Cannot equalize this video: %s.", lumeq_last_error(self->equalizer)),
                          ("%s", lumeq_error_string(ret)));
        return GST_FLOW_ERROR;
    }
    gst_buffer_replace(&self->previous, in->buffer);
    return GST_FLOW_OK;
}

static GstFlowReturn transform(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
    GstLumeq *self = (GstLumeq *)trans;
    GstVideoFilter *filter = GST_VIDEO_FILTER(trans);
    GstVideoFrame in_frame, out_frame;
    if (!self->in_cuda)
        return GST_BASE_TRANSFORM_CLASS(gst_lumeq_parent_class)->transform(trans, in, out);
    if (map_frame(self, &in_frame, &filter->in_info, in, GST_MAP_READ)) {
        if (map_frame(self, &out_frame, &filter->out_info, out, GST_MAP_WRITE)) {
            const GstFlowReturn ret = transform_frame(filter, &in_frame, &out_frame);
            gst_video_frame_unmap(&out_frame);
            gst_video_frame_unmap(&in_frame);
            return ret;
        }
        gst_video_frame_unmap(&in_frame);
    }
    GST_ELEMENT_ERROR(self, RESOURCE, FAILED,
                      ("This picture is not in memory of the pipeline's CUDA context."), (NULL));
    return GST_FLOW_ERROR;
}

static void before_transform(GstBaseTransform *trans, GstBuffer *buffer)
{
    const GstClockTime time =
        gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
    if (GST_CLOCK_TIME_IS_VALID(time))
        gst_object_sync_values(GST_OBJECT(trans), time);
}

/* ---- streams ---- */

static void take_log(void *user, LumeqLogLevel level, const char *text)
{
    GST_CAT_LEVEL_LOG(lumeq_debug, level == LUMEQ_LOG_WARNING ? GST_LEVEL_WARNING : GST_LEVEL_INFO,
                      user, "%s", text);
}

static gboolean open_equalizer(GstLumeq *self, int in_cuda)
{
    char why[256];
    GST_OBJECT_LOCK(self);
    LumeqConfig config = self->settings.config;
    GST_OBJECT_UNLOCK(self);
    config.log = take_log;
    config.log_user = self;
    lumeq_destroy(&self->equalizer);
    self->in_cuda = in_cuda;
    if (in_cuda && config.backend == LUMEQ_BACKEND_AUTO)
        config.backend = LUMEQ_BACKEND_CUDA;
    if (in_cuda && !gst_lumeq_cuda_open(GST_ELEMENT(self), &self->context, &config)) {
        GST_ELEMENT_ERROR(self, LIBRARY, INIT,
                          ("Cannot use CUDA memory: GStreamer finds no CUDA device."), (NULL));
        return FALSE;
    }
    if (lumeq_create(&self->equalizer, &config, why, sizeof(why)) == 0)
        return TRUE;
    GST_ELEMENT_ERROR(self, LIBRARY, INIT, ("Cannot start: %s.", why), (NULL));
    return FALSE;
}

static gboolean start(GstBaseTransform *trans)
{
    GstLumeq *self = (GstLumeq *)trans;
    gst_segment_init(&self->segment, GST_FORMAT_UNDEFINED);
    self->accepted.size = 0;
    return open_equalizer(self, 0);
}

static gboolean set_info(GstVideoFilter *filter, GstCaps *in_caps, GstVideoInfo *in,
                         GstCaps *out_caps, GstVideoInfo *out)
{
    (void)out_caps, (void)out;
    GstLumeq *self = (GstLumeq *)filter;
    const GstVideoTransferFunction transfer = in->colorimetry.transfer;
    const int in_cuda =
        gst_caps_features_contains(gst_caps_get_features(in_caps, 0), GST_LUMEQ_CUDA_FEATURE);
    gst_buffer_replace(&self->previous, NULL);
    if ((!self->equalizer || in_cuda != self->in_cuda) && !open_equalizer(self, in_cuda))
        return FALSE;
    GST_OBJECT_LOCK(self);
    self->transfer = transfer == GST_VIDEO_TRANSFER_SMPTE2084      ? LUMEQ_TRANSFER_PQ
                     : transfer == GST_VIDEO_TRANSFER_ARIB_STD_B67 ? LUMEQ_TRANSFER_HLG
                                                                   : LUMEQ_TRANSFER_SDR;
    self->changed = 1;
    GST_OBJECT_UNLOCK(self);
    return update_params(self);
}

/* True if the video continues. A sender may repeat a segment with only a new end or position. */
static int continues(const GstSegment *a, const GstSegment *b)
{
    return a->format == b->format && a->rate == b->rate && a->base == b->base &&
           a->offset == b->offset && a->start == b->start && a->time == b->time;
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
    GstLumeq *self = (GstLumeq *)trans;
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
        forget(self);
    if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
        const GstSegment *segment;
        gst_event_parse_segment(event, &segment);
        if (!continues(segment, &self->segment))
            forget(self);
        gst_segment_copy_into(segment, &self->segment);
    }
    return GST_BASE_TRANSFORM_CLASS(gst_lumeq_parent_class)->sink_event(trans, event);
}

static void set_context(GstElement *element, GstContext *context)
{
    gst_lumeq_cuda_set_context(element, context, &((GstLumeq *)element)->context);
    GST_ELEMENT_CLASS(gst_lumeq_parent_class)->set_context(element, context);
}

static gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
    if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
        gst_lumeq_cuda_answer(GST_ELEMENT(trans), query, ((GstLumeq *)trans)->context))
        return TRUE;
    /* The sender waits until its buffers return, for example to change a camera's format. */
    if (direction == GST_PAD_SINK && GST_QUERY_TYPE(query) == GST_QUERY_DRAIN)
        gst_buffer_replace(&((GstLumeq *)trans)->previous, NULL);
    return GST_BASE_TRANSFORM_CLASS(gst_lumeq_parent_class)->query(trans, direction, query);
}

/* Asks for one more buffer, because the element keeps the previous one. */
static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decided, GstQuery *query)
{
    const GstLumeq *self = (const GstLumeq *)trans;
    if (self->in_cuda && !gst_lumeq_cuda_put_pool(query, self->context))
        return FALSE;
    if (!GST_BASE_TRANSFORM_CLASS(gst_lumeq_parent_class)
             ->propose_allocation(trans, decided, query))
        return FALSE;
    if (self->in_cuda)
        gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    for (guint i = 0; i < gst_query_get_n_allocation_pools(query); i++) {
        GstBufferPool *pool;
        guint size, least, most;
        gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &least, &most);
        gst_query_set_nth_allocation_pool(query, i, pool, size, least + 1, most ? most + 1 : 0);
        gst_clear_object(&pool);
    }
    return TRUE;
}

static gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query)
{
    const GstLumeq *self = (const GstLumeq *)trans;
    if (self->in_cuda && !gst_lumeq_cuda_put_pool(query, self->context))
        return FALSE;
    return GST_BASE_TRANSFORM_CLASS(gst_lumeq_parent_class)->decide_allocation(trans, query);
}

/* Size, orientation and colour matrix do not change, so the picture's metadata stays valid. */
static gboolean transform_meta(GstBaseTransform *trans, GstBuffer *out, GstMeta *meta,
                               GstBuffer *in)
{
    (void)trans, (void)out, (void)in;
    return !gst_meta_api_type_has_tag(meta->info->api, g_quark_from_static_string("memory"));
}

static gboolean stop(GstBaseTransform *trans)
{
    GstLumeq *self = (GstLumeq *)trans;
    gst_buffer_replace(&self->previous, NULL);
    lumeq_destroy(&self->equalizer);
    lumeq_stretch_destroy(&self->stretch);
    for (int i = 0; i < 2; i++)
        g_clear_pointer(&self->stretched[i].plane[0], g_free);
    self->last_stretched = -1;
    gst_clear_object(&self->context);
    return TRUE;
}

/* ---- class ---- */

static void gst_lumeq_class_init(GstLumeqClass *class)
{
    static const char caps_text[] = GST_VIDEO_CAPS_MAKE(FORMATS);
    GObjectClass *object = G_OBJECT_CLASS(class);
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(class);
    const Settings settings = default_settings();

    object->set_property = set_property;
    object->get_property = get_property;
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        const double value = read_setting(&settings, &properties[i]);
        g_object_class_install_property(object, i + 1, new_spec(&properties[i], value));
    }

    /* CUDA memory first, because it needs no copies */
    GstCaps *caps = gst_caps_from_string(caps_text);
    if (gst_lumeq_cuda_caps[0] != 0)
        caps = gst_caps_merge(gst_caps_from_string(gst_lumeq_cuda_caps), caps);
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
    gst_element_class_set_static_metadata(
        element, "Luma equalizer", "Filter/Effect/Video",
        "Makes dark, dull and foggy video clear; leaves well-exposed video nearly unchanged",
        "the lumeq authors");

    trans->start = start;
    trans->stop = stop;
    trans->before_transform = before_transform;
    trans->sink_event = sink_event;
    trans->query = query;
    element->set_context = set_context;
    trans->transform = transform;
    trans->propose_allocation = propose_allocation;
    trans->decide_allocation = decide_allocation;
    trans->transform_meta = transform_meta;
    GST_VIDEO_FILTER_CLASS(class)->set_info = set_info;
    GST_VIDEO_FILTER_CLASS(class)->transform_frame = transform_frame;
}

static void gst_lumeq_init(GstLumeq *self)
{
    self->settings = default_settings();
    self->changed = 1;
    self->last_stretched = -1;
}

static gboolean plugin_init(GstPlugin *plugin)
{
    GST_DEBUG_CATEGORY_INIT(lumeq_debug, "lumeq", 0, "luma equalizer");
    return gst_element_register(plugin, "lumeq", GST_RANK_NONE, gst_lumeq_get_type());
}

#define PACKAGE "lumeq"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, lumeq,
                  "Equalizes the luma of video in real time", plugin_init, LUMEQ_VERSION_TEXT,
                  "BSD", "lumeq", "liblumeq")
