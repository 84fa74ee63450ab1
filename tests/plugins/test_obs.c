/* Compares the filter for OBS, loaded and fed by libobs, with the library. */
#include "obs_host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "lumeq/lumeq.h"

#define INTERVAL UINT64_C(40000000) /* between frames */
#define BEGIN UINT64_C(5000000000)

static int is_started;

static int start(void)
{
    static int was_tried;
    if (!was_tried)
        is_started = host_start() == 0;
    else if (!is_started)
        check_skip("libobs did not start");
    was_tried = 1;
    return is_started;
}

/* How the planes of a frame are stored, independent of the plugin. */
typedef struct Format {
    enum video_format format;
    int depth, shift, chroma_x, chroma_y, planes, alpha;
    const char *packed; /* order of the bytes */
} Format;

static const Format formats[] = {
    {VIDEO_FORMAT_I420, 8, 0, 1, 1, 3, 0, NULL},   {VIDEO_FORMAT_NV12, 8, 0, 1, 1, 2, 0, NULL},
    {VIDEO_FORMAT_I422, 8, 0, 1, 0, 3, 0, NULL},   {VIDEO_FORMAT_I444, 8, 0, 0, 0, 3, 0, NULL},
    {VIDEO_FORMAT_Y800, 8, 0, 0, 0, 1, 0, NULL},   {VIDEO_FORMAT_I010, 10, 0, 1, 1, 3, 0, NULL},
    {VIDEO_FORMAT_P010, 10, 6, 1, 1, 2, 0, NULL},  {VIDEO_FORMAT_I210, 10, 0, 1, 0, 3, 0, NULL},
    {VIDEO_FORMAT_I412, 12, 0, 0, 0, 3, 0, NULL},  {VIDEO_FORMAT_I40A, 8, 0, 1, 1, 3, 1, NULL},
    {VIDEO_FORMAT_I42A, 8, 0, 1, 0, 3, 1, NULL},   {VIDEO_FORMAT_YUVA, 8, 0, 0, 0, 3, 1, NULL},
    {VIDEO_FORMAT_YA2L, 12, 0, 0, 0, 3, 1, NULL},  {VIDEO_FORMAT_YUY2, 8, 0, 1, 0, 3, 0, "YUYV"},
    {VIDEO_FORMAT_YVYU, 8, 0, 1, 0, 3, 0, "YVYU"}, {VIDEO_FORMAT_UYVY, 8, 0, 1, 0, 3, 0, "UYVY"},
};
#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

/* A frame as planes without padding. */
typedef struct Planes {
    uint8_t *memory;
    LumeqImage image;
    size_t rows[4], bytes[4]; /* per plane; the fourth is alpha */
} Planes;

static Planes new_planes(const Format *f, int width, int height)
{
    Planes p = {.image = {.width = width,
                          .height = height,
                          .chroma_x = f->chroma_x,
                          .chroma_y = f->chroma_y,
                          .depth = f->depth,
                          .shift = f->shift}};
    size_t size = 0, at[4] = {0};
    for (int i = 0; i < f->planes; i++) {
        const int w = i ? (width + f->chroma_x) >> f->chroma_x : width;
        p.rows[i] = (size_t)(i ? (height + f->chroma_y) >> f->chroma_y : height);
        p.bytes[i] = (size_t)w * (i && f->planes == 2 ? 2 : 1) * (f->depth > 8 ? 2 : 1);
        at[i] = size;
        size += p.rows[i] * p.bytes[i];
    }
    p.memory = calloc(size, 1);
    if (!p.memory)
        abort();
    for (int i = 0; i < f->planes; i++) {
        p.image.plane[i] = p.memory + at[i];
        p.image.stride[i] = (ptrdiff_t)p.bytes[i];
    }
    return p;
}

/* Byte offset of sample x of a plane in a row of a packed frame. */
static size_t packed_at(const char *order, int plane, int x)
{
    const char *first = strchr(order, "YUV"[plane]);
    const int pair = plane ? x : x / 2;
    return (size_t)(4 * pair + (first - order) + (plane ? 0 : 2 * (x % 2)));
}

static void take_planes(const Format *f, const struct obs_source_frame *frame, const Planes *to)
{
    for (int i = 0; i < f->planes; i++)
        for (size_t y = 0; y < to->rows[i]; y++) {
            uint8_t *row = (uint8_t *)to->image.plane[i] + y * to->bytes[i];
            if (!f->packed)
                memcpy(row, frame->data[i] + y * frame->linesize[i], to->bytes[i]);
            for (size_t x = 0; f->packed && x < to->bytes[i]; x++)
                row[x] = frame->data[0][y * frame->linesize[0] + packed_at(f->packed, i, (int)x)];
        }
}

/* Draws random bytes, and in luma a moving gradient with noise, as bright as `light` (0 to 255). */
static void draw(const Format *f, struct obs_source_frame *frame, int number, int light)
{
    CheckRandom random = check_random((uint64_t)number);
    for (int i = 0; i < MAX_AV_PLANES && frame->data[i]; i++) {
        const int rows =
            i && f->chroma_y && i < 3 ? ((int)frame->height + 1) / 2 : (int)frame->height;
        for (int k = 0; k < rows * (int)frame->linesize[i]; k++)
            frame->data[i][k] = (uint8_t)(96 + check_below(&random, 64));
    }
    for (uint32_t y = 0; y < frame->height; y++)
        for (uint32_t x = 0; x < frame->width; x++) {
            uint8_t *row = frame->data[0] + y * frame->linesize[0];
            const int code = 16 +
                             (int)((x + y + (uint32_t)number) * (uint32_t)light /
                                   (frame->width + frame->height + 20)) +
                             check_below(&random, 5);
            const int sample = (code << (f->depth - 8)) << f->shift;
            if (f->packed)
                row[packed_at(f->packed, 0, (int)x)] = (uint8_t)code;
            else if (f->depth == 8)
                row[x] = (uint8_t)code;
            else
                row[2 * x] = (uint8_t)sample, row[2 * x + 1] = (uint8_t)(sample >> 8);
        }
    for (int i = 1; f->depth > 8 && i < MAX_AV_PLANES && frame->data[i]; i++)
        for (uint32_t k = 1; k < frame->linesize[i]; k += 2) /* no code above the maximum */
            for (uint32_t y = 0; y < frame->height >> (i < 3 ? f->chroma_y : 0); y++)
                frame->data[i][y * frame->linesize[i] + k] = (uint8_t)(f->shift         ? 0x80
                                                                       : f->depth == 10 ? 2
                                                                                        : 8);
}

/* The library's own result for the same frames. */
typedef struct Model {
    LumeqEqualizer *equalizer;
    Planes in, previous, out;
    int has_previous, is_interlaced;
} Model;

static LumeqParams usual(void)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.await_noise = 1;
    return params;
}

static Model new_model(const Format *f, const LumeqParams *params, int width, int height)
{
    Model m = {.in = new_planes(f, width, height),
               .previous = new_planes(f, width, height),
               .out = new_planes(f, width, height)};
    CHECK(lumeq_create(&m.equalizer, NULL, NULL, 0) == 0, "no equalizer");
    CHECK(lumeq_set_params(m.equalizer, params) == 0, "%s", lumeq_last_error(m.equalizer));
    return m;
}

static void free_model(Model *m)
{
    lumeq_destroy(&m->equalizer);
    free(m->in.memory);
    free(m->previous.memory);
    free(m->out.memory);
}

/* Equalizes `frame` with the library. True if `got` has the same samples. */
static int is_same(Model *m, const Format *f, const struct obs_source_frame *frame,
                   const struct obs_source_frame *got)
{
    const LumeqRange range = frame->full_range ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED;
    m->in.image.range = m->previous.image.range = m->out.image.range = range;
    take_planes(f, frame, &m->in);
    LumeqFrame work = {.size = sizeof(work),
                       .in = m->in.image,
                       .out = m->out.image,
                       .time = (int64_t)frame->timestamp,
                       .previous = m->has_previous ? &m->previous.image : NULL,
                       .interlaced = m->is_interlaced};
    CHECK(lumeq_process(m->equalizer, &work, NULL) == 0, "%s", lumeq_last_error(m->equalizer));
    const Planes made = m->out, in = m->in;
    m->in = m->previous; /* memory for the filtered frame below, then for the next input */
    m->previous = in;
    m->has_previous = 1;
    take_planes(f, got, &m->in);
    for (int i = 0; i < f->planes; i++)
        if (memcmp(made.image.plane[i], m->in.image.plane[i], made.rows[i] * made.bytes[i]) != 0)
            return 0;
    return !f->alpha ||
           memcmp(frame->data[3], got->data[3], (size_t)frame->linesize[3] * frame->height) == 0;
}

static struct obs_source_frame *new_frame(const Format *f, int width, int height)
{
    struct obs_source_frame *frame =
        obs_source_frame_create(f->format, (uint32_t)width, (uint32_t)height);
    frame->timestamp = BEGIN;
    video_format_get_parameters(VIDEO_CS_709, VIDEO_RANGE_PARTIAL, frame->color_matrix,
                                frame->color_range_min, frame->color_range_max);
    return frame;
}

/* A frame to send, the filter, and the library with the same parameters. */
typedef struct Rig {
    const Format *f;
    struct obs_source_frame *frame;
    Model model;
    HostSource *source;
} Rig;

/* `params` NULL: those of usual(). `settings` as for host_source(). */
static Rig new_rig(const Format *f, int width, int height, const LumeqParams *params,
                   obs_data_t *settings)
{
    const LumeqParams all = params ? *params : usual();
    return (Rig){f, new_frame(f, width, height), new_model(f, &all, width, height),
                 host_source(settings)};
}

static void free_rig(Rig *r)
{
    host_source_free(&r->source);
    free_model(&r->model);
    obs_source_frame_destroy(r->frame);
}

/* Sends the frame through OBS, and advances its time. */
static const struct obs_source_frame *send(Rig *r)
{
    const struct obs_source_frame *got = host_filtered(r->source, r->frame);
    r->frame->timestamp += INTERVAL;
    return got;
}

/* Sends frames through OBS and compares them with the library's. */
static int run(Rig *r, int count, int light)
{
    for (int i = 0; i < count; i++) {
        draw(r->f, r->frame, i, light);
        const struct obs_source_frame *got = host_filtered(r->source, r->frame);
        if (!got ||
            !CHECK(is_same(&r->model, r->f, r->frame, got), "%s %ux%u: frame %d differs",
                   get_video_format_name(r->f->format), r->frame->width, r->frame->height, i))
            return 0;
        r->frame->timestamp += INTERVAL;
    }
    return 1;
}

TEST_IF(every_format_has_the_bits_of_the_library, start())
{
    static const int sizes[][2] = {{160, 90}, {161, 91}, {2, 2}, {1, 1}, {67, 33}};
    for (int i = 0; i < FORMATS; i++)
        for (int k = 0; k < 5; k++) {
            FREED_BY(free_rig) Rig r = new_rig(&formats[i], sizes[k][0], sizes[k][1], NULL, NULL);
            r.frame->full_range = formats[i].format == VIDEO_FORMAT_Y800 || k == 4;
            run(&r, 6, k % 2 ? 30 : 220);
        }
}

TEST_IF(other_formats_pass_unchanged, start())
{
    static const enum video_format others[] = {VIDEO_FORMAT_BGRA, VIDEO_FORMAT_RGBA,
                                               VIDEO_FORMAT_BGR3, VIDEO_FORMAT_AYUV};
    for (int i = 0; i < 4; i++) {
        int before, after;
        HostSource *source = host_source(NULL);
        struct obs_source_frame *frame = obs_source_frame_create(others[i], 33, 17);
        const size_t size = (size_t)frame->linesize[0] * frame->height;
        frame->timestamp = BEGIN;
        host_log(&before);
        for (int k = 0; k < 3; k++) {
            for (size_t b = 0; b < size; b++)
                frame->data[0][b] = (uint8_t)(b * 7 + (size_t)k);
            const struct obs_source_frame *got = host_filtered(source, frame);
            CHECK(got && memcmp(got->data[0], frame->data[0], size) == 0, "format %d", others[i]);
            frame->timestamp += INTERVAL;
        }
        const char *line = host_log(&after);
        CHECK(after == before + 1, "%d lines in the log", after - before);
        CHECK(strstr(line, get_video_format_name(others[i])), "the log says %s", line);
        obs_source_frame_destroy(frame);
        host_source_free(&source);
    }
}

/* Returns settings of the filter, and the equivalent parameters in *p. */
static obs_data_t *settings_of(int i, LumeqParams *p)
{
    const char *json = "{}";
    *p = usual();
    switch (i) {
    case 0: json = "{\"automatic\": false, \"strength\": 60}", p->strength = 0.6; break;
    case 1: json = "{\"brightness\": -30}", p->brightness = -0.3; break;
    case 2: json = "{\"mode\": 2}", p->mode = LUMEQ_MODE_CLAHE; break;
    case 3: json = "{\"mode\": 4}", p->mode = LUMEQ_MODE_HAZE, p->strength = 1; break;
    case 4: json = "{\"mode\": 3}", p->mode = LUMEQ_MODE_STRETCH; break;
    case 5: json = "{\"smooth\": 2.0}", p->smooth = 2; break;
    case 6: json = "{\"colour\": false}", p->chroma = LUMEQ_CHROMA_KEEP; break;
    case 7: json = "{\"denoise\": 25}", p->denoise = 0.25; break;
    case 8: json = "{\"middle\": true}", p->meter = (LumeqRect){0, 0, -1, -1}; break;
    case 9:
        json = "{\"profile\": \"surveillance\"}";
        CHECK(lumeq_params_profile(p, "surveillance") == 0, "%s", lumeq_last_error(NULL));
        break;
    case 10: /* `brightness` overrides the profile, `mode` does not */
        json = "{\"profile\": \"night\", \"brightness\": 30, \"mode\": 3}";
        CHECK(lumeq_params_profile(p, "night") == 0, "%s", lumeq_last_error(NULL));
        p->brightness = 0.3;
        break;
    case 11: json = "{\"profile\": \"of a later version\"}"; break;
    }
    return obs_data_create_from_json(json);
}
#define SETTINGS 12

TEST_IF(every_setting_reaches_the_library, start())
{
    for (int i = 0; i < SETTINGS; i++) {
        LumeqParams params;
        obs_data_t *settings = settings_of(i, &params);
        FREED_BY(free_rig) Rig r = new_rig(&formats[1], 160, 90, &params, settings);
        CHECK(run(&r, 5, 40), "setting %d differs", i);
    }
}

/* Copies the line with the decision in the settings window. Checks that every text is in the locale
 * file, because OBS shows the key of a missing text. */
static void decision(HostSource *source, char *text, size_t size)
{
    obs_properties_t *all = obs_source_properties(host_filter(source));
    snprintf(text, size, "%s", obs_property_description(obs_properties_get(all, "decision")));
    for (obs_property_t *p = obs_properties_first(all); p; obs_property_next(&p)) {
        const char *label = obs_property_description(p), *name = obs_property_name(p);
        CHECK(label && (strchr(label, ' ') || strlen(label) < 11), "%s: '%s'", name, label);
        for (size_t i = 0; i < obs_property_list_item_count(p); i++)
            CHECK(!strchr(obs_property_list_item_name(p, i), '.'), "%s has no text", name);
    }
    obs_properties_destroy(all);
}

/* OBS may apply settings late, so the test sends a still picture until they act. */
TEST_IF(settings_change_while_it_runs, start())
{
    FREED_BY(free_rig) Rig r = new_rig(&formats[1], 160, 90, NULL, NULL);
    obs_data_t *settings = obs_data_create();
    draw(r.f, r.frame, 1, 40);
    const struct obs_source_frame *got = send(&r);
    const size_t size = (size_t)r.frame->linesize[0] * r.frame->height;
    CHECK(got && memcmp(got->data[0], r.frame->data[0], size) != 0, "a dark picture stays dark");
    obs_data_set_bool(settings, "automatic", false);
    obs_data_set_int(settings, "strength", 0);
    obs_source_update(host_filter(r.source), settings);
    int is_original = 0;
    for (int i = 0; i < 100 && !is_original; i++) {
        got = send(&r);
        is_original = got && memcmp(got->data[0], r.frame->data[0], size) == 0;
    }
    CHECK(is_original, "strength 0 still changes the picture");
    /* A broken scene file: the last good settings stay. */
    obs_data_set_int(settings, "mode", 77);
    obs_data_set_int(settings, "strength", 500);
    obs_source_update(host_filter(r.source), settings);
    for (int i = 0; i < 3; i++)
        got = send(&r);
    CHECK(got && memcmp(got->data[0], r.frame->data[0], size) == 0, "wrong settings take effect");
    char text[256];
    decision(r.source, text, sizeof(text));
    CHECK(strncmp(text, "Whole picture: ", 15) == 0, "'%s'", text);
    obs_data_release(settings);
}

/* After a change of size, format or range, a frame has no previous frame. After a jump in time, it
 * has no history either. */
TEST_IF(size_format_range_and_time_change, start())
{
    HostSource *source = host_source(NULL);
    for (int i = 0; i < check_rounds(20) + 4; i++) {
        CheckRandom random = check_random((uint64_t)i);
        const Format *f = &formats[check_below(&random, FORMATS)];
        const int width = 1 + check_below(&random, 200), height = 1 + check_below(&random, 120);
        LumeqParams params = usual();
        Rig r = {f, new_frame(f, width, height), new_model(f, &params, width, height), source};
        r.frame->full_range = f->format == VIDEO_FORMAT_Y800 || check_below(&random, 2);
        r.frame->timestamp = i % 2 ? BEGIN : 50 * BEGIN;
        run(&r, 3, 60);
        free_model(&r.model);
        obs_source_frame_destroy(r.frame);
    }
    host_source_free(&source);
}

TEST_IF(hdr_has_its_transfer, start())
{
    LumeqParams params = usual();
    params.transfer = LUMEQ_TRANSFER_PQ;
    FREED_BY(free_rig) Rig r = new_rig(&formats[6], 96, 54, &params, NULL);
    r.frame->trc = VIDEO_TRC_PQ;
    run(&r, 5, 40);
}

static void count_redraws(void *count, calldata_t *unused)
{
    (void)unused;
    ++*(atomic_int *)count;
}

TEST_IF(the_settings_show_the_decision, start())
{
    static const struct {
        int light, from; /* codes above black */
        const char *says;
    } cases[] = {{45, 0, "dark: lifted "},
                 {0, 0, "black: left alone"},
                 {60, 90, "low contrast: contrast raised"}};
    char text[256];
    for (int i = 0; i < 3; i++) {
        atomic_int redraws = 0;
        FREED_BY(free_rig) Rig r = new_rig(&formats[0], 320, 180, NULL, NULL);
        decision(r.source, text, sizeof(text));
        CHECK(strcmp(text, "no picture yet") == 0, "'%s'", text);
        signal_handler_connect(obs_source_get_signal_handler(host_filter(r.source)),
                               "update_properties", count_redraws, &redraws);
        for (int n = 0; n < 30; n++) {
            uint8_t *luma = r.frame->data[0];
            draw(r.f, r.frame, n, cases[i].light);
            for (uint32_t k = 0; k < 320 * 180; k++)
                luma[k] = (uint8_t)(cases[i].light ? luma[k] + cases[i].from : 16);
            send(&r);
        }
        decision(r.source, text, sizeof(text));
        CHECK(strncmp(text, cases[i].says, strlen(cases[i].says)) == 0, "'%s' is not '%s'", text,
              cases[i].says);
        CHECK(redraws >= 1 && redraws <= 2, "the settings were redrawn %d times", (int)redraws);
    }
}

/* With deinterlacing, the rows of a frame belong to two fields. */
TEST_IF(fields_are_filtered_separately, start())
{
    FREED_BY(free_rig) Rig r = new_rig(&formats[0], 160, 90, NULL, NULL);
    obs_source_set_deinterlace_mode(host_input(r.source), OBS_DEINTERLACE_MODE_YADIF);
    r.model.is_interlaced = 1;
    run(&r, 10, 45);
}

/* The settings window runs in another thread than the filter. */
static void *use_settings(void *data)
{
    HostSource *source = data;
    for (int i = 0; i < 50; i++) {
        char text[256];
        obs_data_t *settings = obs_data_create();
        obs_data_set_int(settings, "brightness", i % 7);
        obs_source_update(host_filter(source), settings);
        obs_data_release(settings);
        decision(source, text, sizeof(text));
        CHECK(text[0], "there is no decision");
    }
    return NULL;
}

TEST_IF(settings_are_used_while_frames_come, start())
{
    pthread_t thread;
    FREED_BY(free_rig) Rig r = new_rig(&formats[1], 160, 90, NULL, NULL);
    if (!CHECK(pthread_create(&thread, NULL, use_settings, r.source) == 0, "no thread"))
        return;
    for (int i = 0; i < 60; i++) {
        draw(r.f, r.frame, i, 40);
        CHECK(send(&r), "frame %d is missing", i);
    }
    pthread_join(thread, NULL);
}

TEST_IF(the_canvas_shows_the_filtered_picture, start())
{
    FREED_BY(free_rig) Rig r = new_rig(&formats[1], 64, 64, NULL, NULL);
    double mean[2];
    host_show(r.source);
    for (int i = 0; i < 2; i++) {
        obs_source_set_enabled(host_filter(r.source), i == 0);
        for (int n = 0; n < 10; n++) {
            draw(r.f, r.frame, n, 30);
            memset(r.frame->data[1], 128, (size_t)r.frame->linesize[1] * 32);
            send(&r);
        }
        mean[i] = host_canvas();
    }
    CHECK(mean[0] > mean[1] * 1.3, "the mean is %.1f with the filter, %.1f without", mean[0],
          mean[1]);
}

TEST_IF(many_frames_need_no_more_memory, start())
{
    FREED_BY(free_rig) Rig r = new_rig(&formats[1], 160, 90, NULL, NULL);
    host_show(r.source);
    run(&r, 20, 40);
    const long before = bnum_allocs();
    run(&r, check_rounds(1500), 80);
    CHECK(bnum_allocs() <= before + 8, "%ld more blocks", bnum_allocs() - before);
}

int main(int argc, char **argv)
{
    const int result = check_file(argc, argv);
    const long left = is_started ? host_stop() : 0;
    if (left)
        fprintf(stderr, "%ld blocks of libobs were not freed\n", left);
    return left ? 1 : result;
}
