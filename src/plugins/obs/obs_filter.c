/*
 * A video filter for OBS, for sources that deliver frames: cameras, capture cards, media files.
 *
 * OBS's graphics thread calls filter_video() once per frame. The filter overwrites the pixels and
 * returns the same frame, because a new frame would leak whenever the source is not shown. The
 * original pixels are copied first, because the equalizer must not write to its input. The
 * equalizer also needs the previous frame's pixels to measure noise.
 *
 * The settings window uses another thread, so `mutex` guards everything that changes.
 */
#include <math.h>
#include <obs-module.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lumeq/lumeq.h"

OBS_DECLARE_MODULE()
OBS_MODULE_USE_DEFAULT_LOCALE("lumeq", "en-US")

/* The settings window does not mention smaller changes. */
#define VISIBLE_LIFT 1.05
#define VISIBLE_STRENGTH 0.15
#define VISIBLE_NOISE 1.0 /* in 8-bit codes, after the lift */

/* Nanoseconds. A larger gap between timestamps begins a new video, as in libobs. */
#define MAX_GAP INT64_C(2000000000)
/* Minimum time between redraws of the settings window, because a redraw closes its open lists. */
#define MIN_REDRAW INT64_C(5000000000)

/* A pixel format. */
typedef struct Layout {
    enum video_format format;
    int depth, shift, chroma_x, chroma_y;
    int planes;       /* without alpha, which is not changed; 0: packed 4:2:2 */
    int luma, cb, cr; /* packed: byte offset of the first sample in a group of two pixels */
} Layout;

static const Layout layouts[] = {
    {.format = VIDEO_FORMAT_I420, .depth = 8, .chroma_x = 1, .chroma_y = 1, .planes = 3},
    {.format = VIDEO_FORMAT_I40A, .depth = 8, .chroma_x = 1, .chroma_y = 1, .planes = 3},
    {.format = VIDEO_FORMAT_NV12, .depth = 8, .chroma_x = 1, .chroma_y = 1, .planes = 2},
    {.format = VIDEO_FORMAT_I422, .depth = 8, .chroma_x = 1, .planes = 3},
    {.format = VIDEO_FORMAT_I42A, .depth = 8, .chroma_x = 1, .planes = 3},
    {.format = VIDEO_FORMAT_I444, .depth = 8, .planes = 3},
    {.format = VIDEO_FORMAT_YUVA, .depth = 8, .planes = 3},
    {.format = VIDEO_FORMAT_Y800, .depth = 8, .planes = 1},
    {.format = VIDEO_FORMAT_I010, .depth = 10, .chroma_x = 1, .chroma_y = 1, .planes = 3},
    {.format = VIDEO_FORMAT_P010,
     .depth = 10,
     .shift = 6,
     .chroma_x = 1,
     .chroma_y = 1,
     .planes = 2},
    {.format = VIDEO_FORMAT_I210, .depth = 10, .chroma_x = 1, .planes = 3},
    {.format = VIDEO_FORMAT_I412, .depth = 12, .planes = 3},
    {.format = VIDEO_FORMAT_YA2L, .depth = 12, .planes = 3},
    {.format = VIDEO_FORMAT_YUY2, .depth = 8, .chroma_x = 1, .luma = 0, .cb = 1, .cr = 3},
    {.format = VIDEO_FORMAT_YVYU, .depth = 8, .chroma_x = 1, .luma = 0, .cb = 3, .cr = 1},
    {.format = VIDEO_FORMAT_UYVY, .depth = 8, .chroma_x = 1, .luma = 1, .cb = 0, .cr = 2},
};

/* A copy of a frame; packed formats become planar. */
typedef struct Picture {
    LumeqImage image;
    uint8_t *memory;
} Picture;

typedef struct Filter {
    obs_source_t *source;
    pthread_mutex_t mutex;
    LumeqEqualizer *equalizer;
    LumeqParams params; /* from the settings; `changed` is set until the equalizer has them */
    int changed;
    LumeqTransfer transfer;
    const Layout *layout; /* of the pictures; NULL: no frame yet, or an unsupported format */
    enum video_format format;
    int has_failed;              /* equalizing the last frame failed; the log has the reason */
    Picture now, previous, made; /* made: output of packed formats */
    int has_previous;
    int64_t time; /* of the previous frame */
    LumeqFrameStats stats;
    double mean;      /* mean luma; black is 0, white is 1 */
    const char *said; /* situation and lift that the settings window shows */
    double said_lift;
    int64_t silent_until; /* earliest time of the next redraw of the settings window */
} Filter;

/* ---- pictures ---- */

static int plane_width(const LumeqImage *image, int plane)
{
    const int samples = (image->width + (1 << image->chroma_x) - 1) >> image->chroma_x;
    return (!plane ? image->width : samples * (image->plane[2] ? 1 : 2)) *
           (image->depth > 8 ? 2 : 1);
}

static int plane_height(const LumeqImage *image, int plane)
{
    return plane ? (image->height + (1 << image->chroma_y) - 1) >> image->chroma_y : image->height;
}

static LumeqImage image_of(const Layout *layout, const struct obs_source_frame *frame)
{
    LumeqImage image = {.width = (int)frame->width,
                        .height = (int)frame->height,
                        .chroma_x = layout->chroma_x,
                        .chroma_y = layout->chroma_y,
                        .depth = layout->depth,
                        .shift = layout->shift,
                        .range = frame->full_range ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED};
    for (int i = 0; i < layout->planes; i++) {
        image.plane[i] = frame->data[i];
        image.stride[i] = (ptrdiff_t)frame->linesize[i];
    }
    return image;
}

static void picture_make(Picture *picture, const Layout *layout, LumeqImage image)
{
    const int planes = layout->planes ? layout->planes : 3;
    size_t size = 0, offset[3] = {0};
    for (int i = 0; i < 3; i++)
        image.plane[i] = i < planes ? &image : NULL; /* for plane_width() */
    for (int i = 0; i < planes; i++) {
        offset[i] = size;
        image.stride[i] = (plane_width(&image, i) + 63) / 64 * 64; /* even; see PackedRow */
        size += (size_t)image.stride[i] * (size_t)plane_height(&image, i);
    }
    bfree(picture->memory);
    picture->memory = bmalloc(size);
    for (int i = 0; i < planes; i++)
        image.plane[i] = picture->memory + offset[i];
    picture->image = image;
}

static void copy_planes(const LumeqImage *to, const LumeqImage *from)
{
    for (int i = 0; i < 3 && to->plane[i]; i++)
        for (int y = 0; y < plane_height(to, i); y++)
            memcpy((uint8_t *)to->plane[i] + y * to->stride[i],
                   (const uint8_t *)from->plane[i] + y * from->stride[i],
                   (size_t)plane_width(to, i));
}

/* A row of a packed frame, and the same row of a planar Picture. If the width is odd, the last
 * group has a luma sample outside the picture. An even luma stride leaves room for this sample. */
typedef struct PackedRow {
    uint8_t *packed, *luma, *cb, *cr;
    int groups;
} PackedRow;

static PackedRow packed_row(const struct obs_source_frame *frame, const LumeqImage *image, int y)
{
    return (PackedRow){.packed = frame->data[0] + (size_t)y * frame->linesize[0],
                       .luma = (uint8_t *)image->plane[0] + y * image->stride[0],
                       .cb = (uint8_t *)image->plane[1] + y * image->stride[1],
                       .cr = (uint8_t *)image->plane[2] + y * image->stride[2],
                       .groups = (image->width + 1) / 2};
}

static void unpack(const Layout *l, const struct obs_source_frame *frame, const LumeqImage *image)
{
    const int luma = 8 * l->luma, cb = 8 * l->cb, cr = 8 * l->cr;
    for (int y = 0; y < image->height; y++) {
        const PackedRow r = packed_row(frame, image, y);
        const uint8_t *restrict from = r.packed;
        uint8_t *restrict to_luma = r.luma, *restrict to_cb = r.cb, *restrict to_cr = r.cr;
        for (int i = 0; i < r.groups; i++) {
            uint32_t group; /* libobs runs on little-endian machines */
            memcpy(&group, from + 4 * i, sizeof(group));
            to_luma[2 * i] = (uint8_t)(group >> luma);
            to_luma[2 * i + 1] = (uint8_t)(group >> luma >> 16);
            to_cb[i] = (uint8_t)(group >> cb);
            to_cr[i] = (uint8_t)(group >> cr);
        }
    }
}

static void pack(const Layout *l, const struct obs_source_frame *frame, const LumeqImage *image)
{
    const int luma = 8 * l->luma, cb = 8 * l->cb, cr = 8 * l->cr;
    for (int y = 0; y < image->height; y++) {
        const PackedRow r = packed_row(frame, image, y);
        uint8_t *restrict to = r.packed;
        const uint8_t *restrict from_cb = r.cb, *restrict from_cr = r.cr;
        uint8_t *restrict from_luma = r.luma;
        if (image->width % 2)
            from_luma[image->width] = to[2 * image->width + l->luma];
        for (int i = 0; i < r.groups; i++) {
            const uint32_t group = (uint32_t)from_luma[2 * i] << luma |
                                   (uint32_t)from_luma[2 * i + 1] << luma << 16 |
                                   (uint32_t)from_cb[i] << cb | (uint32_t)from_cr[i] << cr;
            memcpy(to + 4 * i, &group, sizeof(group));
        }
    }
}

/* ---- decision ---- */

/* Returns the text key of the kind of picture. Sets *change to the text key of the change made. */
static const char *situation(const LumeqFrameStats *s, double mean, const char **change)
{
    const int is_raised = s->strength >= VISIBLE_STRENGTH;
    *change = is_raised ? "Raised" : "LeftAlone";
    if (s->lift >= VISIBLE_LIFT) {
        *change = "Lifted";
        return s->dark >= 0.5 ? "Dark" : "Dim";
    }
    if (mean < 0.03 && !is_raised)
        return "Black";
    if (s->dark >= 0.5)
        return is_raised ? "Lamps" : "NoiseOnly";
    if (!is_raised)
        *change = "HardlyChanged";
    return is_raised ? "Dull" : "Fine";
}

static void describe_lift(const LumeqFrameStats *s, char *text, size_t size)
{
    const int is_denoised = s->filtered && s->previous > 0 && s->noise * s->lift >= VISIBLE_NOISE;
    const int is_raised = s->strength >= VISIBLE_STRENGTH;
    snprintf(text, size, " %.1fx%s%s%s%s", s->lift, is_denoised ? ", " : "",
             is_denoised ? obs_module_text("Denoised") : "", is_raised ? ", " : "",
             is_raised ? obs_module_text("Raised") : "");
}

/* Returns a mode's text key, or NULL if the settings have no such mode. */
static const char *mode_text(LumeqMode mode)
{
    switch (mode) {
    case LUMEQ_MODE_GLOBAL: return "Mode.Global";
    case LUMEQ_MODE_CLAHE: return "Mode.Clahe";
    case LUMEQ_MODE_HAZE: return "Mode.Haze";
    case LUMEQ_MODE_STRETCH: return "Mode.Stretch";
    default: return NULL;
    }
}

static void describe(const Filter *f, char *text, size_t size)
{
    const char *change;
    char lift[128] = "";
    if (!f->layout || !f->stats.bins || f->has_failed) {
        const int is_refused = f->format != VIDEO_FORMAT_NONE && !f->layout;
        snprintf(text, size, "%s", obs_module_text(is_refused ? "CannotDo" : "NoPicture"));
    } else if (f->params.mode == LUMEQ_MODE_GLOBAL && f->params.strength < 0) {
        const char *kind = situation(&f->stats, f->mean, &change);
        if (f->stats.lift >= VISIBLE_LIFT)
            describe_lift(&f->stats, lift, sizeof(lift));
        snprintf(text, size, "%s: %s%s", obs_module_text(kind), obs_module_text(change), lift);
    } else {
        snprintf(text, size, "%s: %s %.0f %%", obs_module_text(mode_text(f->params.mode)),
                 obs_module_text("ByHand"), f->stats.strength * 100);
    }
}

/* Returns 1 if the settings window shows old text and may be redrawn now. */
static int must_redraw(Filter *f)
{
    const char *change, *kind = situation(&f->stats, f->mean, &change);
    if (f->time < f->silent_until ||
        (kind == f->said && fabs(f->stats.lift - f->said_lift) <= 0.1 * f->said_lift))
        return 0;
    f->said = kind;
    f->said_lift = f->stats.lift;
    f->silent_until = f->time + MIN_REDRAW;
    return 1;
}

/* ---- frames ---- */

static const Layout *find_layout(enum video_format format)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].format == format)
            return &layouts[i];
    return NULL;
}

static void fail(Filter *f, const char *what)
{
    if (!f->has_failed)
        blog(LOG_WARNING, "[lumeq] '%s': %s: %s",
             obs_source_get_name(obs_filter_get_parent(f->source)), what,
             lumeq_last_error(f->equalizer));
    f->has_failed = 1;
}

/* Prepares for frames like this one. Returns 0 if the format is not supported. */
static int prepare(Filter *f, const struct obs_source_frame *frame)
{
    if (frame->format != f->format) {
        f->layout = find_layout(frame->format);
        if (!f->layout)
            blog(LOG_INFO, "[lumeq] '%s' stays unchanged: %s frames are not supported",
                 obs_source_get_name(obs_filter_get_parent(f->source)),
                 get_video_format_name(frame->format));
    }
    if (!f->layout) {
        f->format = frame->format;
        return 0;
    }
    const LumeqImage image = image_of(f->layout, frame);
    if (frame->format != f->format || image.width != f->now.image.width ||
        image.height != f->now.image.height || image.range != f->now.image.range) {
        f->format = frame->format;
        f->has_previous = 0;
        picture_make(&f->now, f->layout, image);
        picture_make(&f->previous, f->layout, image);
        if (!f->layout->planes)
            picture_make(&f->made, f->layout, image);
    }
    return 1;
}

static int set_params(Filter *f, LumeqTransfer transfer)
{
    LumeqParams params = f->params;
    params.transfer = transfer;
    f->changed = 0;
    f->transfer = transfer;
    return lumeq_set_params(f->equalizer, &params);
}

static void start_after_gap(Filter *f, int64_t time)
{
    if (f->has_previous && time >= f->time && time - f->time <= MAX_GAP)
        return;
    lumeq_reset(f->equalizer);
    f->has_previous = 0;
    f->silent_until = 0;
}

/* Equalizes the frame in place, or leaves it unchanged. Returns must_redraw(). */
static int equalize(Filter *f, struct obs_source_frame *frame)
{
    const int64_t time = (int64_t)frame->timestamp;
    const LumeqTransfer transfer = frame->trc == VIDEO_TRC_PQ    ? LUMEQ_TRANSFER_PQ
                                   : frame->trc == VIDEO_TRC_HLG ? LUMEQ_TRANSFER_HLG
                                                                 : LUMEQ_TRANSFER_SDR;
    if (!prepare(f, frame))
        return 0;
    start_after_gap(f, time);
    if ((f->changed || transfer != f->transfer) && set_params(f, transfer) < 0)
        fail(f, "these settings are refused");

    const LumeqImage shown = image_of(f->layout, frame);
    const int is_packed = !f->layout->planes;
    if (is_packed)
        unpack(f->layout, frame, &f->now.image);
    else
        copy_planes(&f->now.image, &shown);
    const obs_source_t *parent = obs_filter_get_parent(f->source);
    LumeqFrame work = {.size = sizeof(work),
                       .in = f->now.image,
                       .out = is_packed ? f->made.image : shown,
                       .time = time,
                       .previous = f->has_previous ? &f->previous.image : NULL,
                       .interlaced =
                           obs_source_get_deinterlace_mode(parent) != OBS_DEINTERLACE_MODE_DISABLE};
    f->stats = (LumeqFrameStats){.size = sizeof(f->stats)};
    const int error = lumeq_process(f->equalizer, &work, &f->stats);
    if (error < 0)
        fail(f, "frames stay unchanged");
    if (is_packed && error >= 0)
        pack(f->layout, frame, &work.out);
    else if (!is_packed && error < 0)
        copy_planes(&shown, &f->now.image);

    const Picture swap = f->previous;
    f->previous = f->now;
    f->now = swap;
    f->has_previous = 1;
    f->time = time;
    if (error < 0)
        return 0;
    f->has_failed = 0;
    const double code = f->stats.mean_in * 256 / (1 << f->layout->depth);
    f->mean = frame->full_range ? code / 255 : (code - 16) / 219;
    return must_redraw(f);
}

static struct obs_source_frame *filter_video(void *data, struct obs_source_frame *frame)
{
    Filter *f = data;
    pthread_mutex_lock(&f->mutex);
    const int redraw = equalize(f, frame);
    pthread_mutex_unlock(&f->mutex);
    if (redraw)
        obs_source_update_properties(f->source);
    return frame;
}

/* ---- settings ---- */

static const char *get_name(void *unused)
{
    UNUSED_PARAMETER(unused);
    return obs_module_text("Filter");
}

static void get_defaults(obs_data_t *settings)
{
    obs_data_set_default_bool(settings, "automatic", true);
    obs_data_set_default_int(settings, "strength", 80);
    obs_data_set_default_int(settings, "mode", LUMEQ_MODE_GLOBAL);
    obs_data_set_default_double(settings, "smooth", 0.5);
    obs_data_set_default_bool(settings, "colour", true);
    obs_data_set_default_int(settings, "denoise", 100);
}

/* Sets the parameters of a profile or, without a profile, of a mode. Unknown profiles and modes,
 * saved by a later version, are ignored. */
static void begin_params(LumeqParams *params, obs_data_t *settings)
{
    const char *profile = obs_data_get_string(settings, "profile");
    const LumeqMode mode = (LumeqMode)obs_data_get_int(settings, "mode");
    lumeq_params_default(params);
    if (*profile && lumeq_params_profile(params, profile) == 0)
        return;
    if (mode == LUMEQ_MODE_HAZE)
        (void)lumeq_params_profile(params, "fog");
    params->mode = mode_text(mode) ? mode : LUMEQ_MODE_GLOBAL;
}

/* Settings that the user has changed override the profile's. */
static void update(void *data, obs_data_t *settings)
{
    Filter *f = data;
    LumeqParams params = {.size = sizeof(params)};
    begin_params(&params, settings);
    if (!obs_data_get_bool(settings, "automatic"))
        params.strength = (double)obs_data_get_int(settings, "strength") / 100;
    if (obs_data_has_user_value(settings, "brightness"))
        params.brightness = (double)obs_data_get_int(settings, "brightness") / 100;
    if (obs_data_has_user_value(settings, "smooth"))
        params.smooth = obs_data_get_double(settings, "smooth");
    if (obs_data_has_user_value(settings, "colour"))
        params.chroma =
            obs_data_get_bool(settings, "colour") ? LUMEQ_CHROMA_SCALE : LUMEQ_CHROMA_KEEP;
    params.denoise = (double)obs_data_get_int(settings, "denoise") / 100;
    params.await_noise = 1;
    if (obs_data_get_bool(settings, "middle"))
        params.meter = (LumeqRect){.width = -1, .height = -1};

    pthread_mutex_lock(&f->mutex);
    f->params = params;
    f->changed = 1;
    f->silent_until = f->time + MIN_REDRAW; /* no redraw while the user moves a slider */
    pthread_mutex_unlock(&f->mutex);
}

/* Hides the strength if it is automatic, and the mode if a profile sets it. */
static bool hide_unused(obs_properties_t *properties, obs_property_t *unused, obs_data_t *settings)
{
    UNUSED_PARAMETER(unused);
    obs_property_set_visible(obs_properties_get(properties, "strength"),
                             !obs_data_get_bool(settings, "automatic"));
    obs_property_set_visible(obs_properties_get(properties, "mode"),
                             !*obs_data_get_string(settings, "profile"));
    return true;
}

static void add_percent(obs_properties_t *properties, const char *name, const char *text, int from)
{
    obs_property_t *p =
        obs_properties_add_int_slider(properties, name, obs_module_text(text), from, 100, 1);
    obs_property_int_set_suffix(p, " %");
}

static obs_properties_t *get_properties(void *data)
{
    Filter *f = data;
    char text[256];
    pthread_mutex_lock(&f->mutex);
    describe(f, text, sizeof(text));
    pthread_mutex_unlock(&f->mutex);

    obs_properties_t *all = obs_properties_create();
    obs_properties_add_text(all, "decision", text, OBS_TEXT_INFO);
    obs_property_t *p = obs_properties_add_list(all, "profile", obs_module_text("Profile"),
                                                OBS_COMBO_TYPE_LIST, OBS_COMBO_FORMAT_STRING);
    obs_property_set_modified_callback(p, hide_unused);
    obs_property_list_add_string(p, obs_module_text("NoProfile"), "");
    for (int i = 0; lumeq_profile_name(i); i++)
        obs_property_list_add_string(p, lumeq_profile_name(i), lumeq_profile_name(i));
    p = obs_properties_add_bool(all, "automatic", obs_module_text("Automatic"));
    obs_property_set_modified_callback(p, hide_unused);
    add_percent(all, "strength", "Strength", 0);
    p = obs_properties_add_list(all, "mode", obs_module_text("Mode"), OBS_COMBO_TYPE_LIST,
                                OBS_COMBO_FORMAT_INT);
    static const LumeqMode modes[] = {LUMEQ_MODE_GLOBAL, LUMEQ_MODE_CLAHE, LUMEQ_MODE_HAZE,
                                      LUMEQ_MODE_STRETCH};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        obs_property_list_add_int(p, obs_module_text(mode_text(modes[i])), modes[i]);
    add_percent(all, "brightness", "Brightness", -100);
    p = obs_properties_add_float_slider(all, "smooth", obs_module_text("Smooth"), 0, 10, 0.1);
    obs_property_float_set_suffix(p, obs_module_text("Seconds"));
    obs_properties_add_bool(all, "colour", obs_module_text("Colour"));
    add_percent(all, "denoise", "Denoise", 0);
    obs_properties_add_bool(all, "middle", obs_module_text("Middle"));
    return all;
}

/* ---- life ---- */

static void say(void *unused, LumeqLogLevel level, const char *text)
{
    UNUSED_PARAMETER(unused);
    blog(level == LUMEQ_LOG_WARNING ? LOG_WARNING : LOG_INFO, "[lumeq] %s", text);
}

static void *create(obs_data_t *settings, obs_source_t *source)
{
    Filter *f = bzalloc(sizeof(*f));
    char why[256];
    const LumeqConfig config = {.size = sizeof(config), .log = say, .real_time = 1};
    if (lumeq_create(&f->equalizer, &config, why, sizeof(why)) < 0) {
        blog(LOG_ERROR, "[lumeq] the filter cannot start: %s", why);
        bfree(f);
        return NULL;
    }
    f->source = source;
    pthread_mutex_init(&f->mutex, NULL);
    update(f, settings);
    f->silent_until = 0;
    return f;
}

static void destroy(void *data)
{
    Filter *f = data;
    lumeq_destroy(&f->equalizer);
    pthread_mutex_destroy(&f->mutex);
    bfree(f->now.memory);
    bfree(f->previous.memory);
    bfree(f->made.memory);
    bfree(f);
}

bool obs_module_load(void)
{
    static struct obs_source_info filter = {.id = "lumeq_filter",
                                            .type = OBS_SOURCE_TYPE_FILTER,
                                            .output_flags = OBS_SOURCE_ASYNC_VIDEO,
                                            .get_name = get_name,
                                            .create = create,
                                            .destroy = destroy,
                                            .update = update,
                                            .get_defaults = get_defaults,
                                            .get_properties = get_properties,
                                            .filter_video = filter_video};
    obs_register_source(&filter);
    return true;
}

const char *obs_module_description(void)
{
    return "Makes dark, dull and foggy video clear";
}
