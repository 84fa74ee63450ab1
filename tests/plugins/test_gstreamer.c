/* Compares the GStreamer element, in a GstHarness and in pipelines, with the library. */
#include <gst/check/gstharness.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <string.h>

#include "../check.h"
#include "lumeq/lumeq.h"

#define INTERVAL (GST_SECOND / 25)
#define LIVENESS (60 * CHECK_SLOWER) /* seconds */

/* Sample layout of a format, independent of the element. */
typedef struct Format {
    const char *name;
    int depth, shift, chroma_x, chroma_y, planes;
} Format;

static const Format formats[] = {
    {"I420", 8, 0, 1, 1, 3},       {"NV12", 8, 0, 1, 1, 2},       {"GRAY8", 8, 0, 0, 0, 1},
    {"GRAY16_LE", 16, 0, 0, 0, 1}, {"Y42B", 8, 0, 1, 0, 3},       {"Y444", 8, 0, 0, 0, 3},
    {"P010_10LE", 10, 6, 1, 1, 2}, {"I420_10LE", 10, 0, 1, 1, 3}, {"YV12", 8, 0, 1, 1, 3},
    {"NV16", 8, 0, 1, 0, 2},       {"NV24", 8, 0, 0, 0, 2},       {"Y41B", 8, 0, 2, 0, 3},
    {"I422_10LE", 10, 0, 1, 0, 3}, {"Y444_10LE", 10, 0, 0, 0, 3}, {"I420_12LE", 12, 0, 1, 1, 3},
    {"P012_LE", 12, 4, 1, 1, 2},   {"I422_12LE", 12, 0, 1, 0, 3}, {"Y444_12LE", 12, 0, 0, 0, 3},
    {"P016_LE", 16, 0, 1, 1, 2},   {"Y444_16LE", 16, 0, 0, 0, 3},
};
#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

/* The element in a harness, and the library with the same parameters. */
typedef struct Pair {
    GstHarness *harness;
    LumeqEqualizer *model;
    LumeqParams params;
    const Format *format;
    LumeqRange range;
    GstVideoInfo info;
    GstBuffer *previous; /* the last input */
    GstClockTime time;
    const char *interlacing;
} Pair;

static LumeqParams usual(void)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    params.await_noise = 1;
    return params;
}

static void set_caps(Pair *p, const Format *format, int width, int height, const char *colorimetry)
{
    char *text = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1,"
                                 "colorimetry=%s,interlace-mode=%s",
                                 format->name, width, height, colorimetry,
                                 p->interlacing ? p->interlacing : "progressive");
    GstCaps *caps = gst_caps_from_string(text);
    CHECK(gst_video_info_from_caps(&p->info, caps), "%s", text);
    gst_caps_unref(caps);
    p->format = format;
    p->range = !strncmp(colorimetry, "1:", 2) ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED;
    gst_clear_buffer(&p->previous);
    gst_harness_set_src_caps_str(p->harness, text);
    g_free(text);
}

static Pair new_pair(const Format *format, int width, int height, const char *colorimetry)
{
    Pair p = {.harness = gst_harness_new("lumeq"), .params = usual()};
    CHECK(lumeq_create(&p.model, NULL, NULL, 0) == 0, "no equalizer");
    CHECK(lumeq_set_params(p.model, &p.params) == 0, "%s", lumeq_last_error(p.model));
    set_caps(&p, format, width, height, colorimetry);
    return p;
}

static void free_pair(Pair *p)
{
    gst_harness_teardown(p->harness);
    CHECK(!p->previous || GST_MINI_OBJECT_REFCOUNT_VALUE(p->previous) == 1,
          "the last buffer is still in use");
    gst_clear_buffer(&p->previous);
    lumeq_destroy(&p->model);
}

static LumeqImage image_of(const Pair *p, GstVideoFrame *frame)
{
    const Format *f = p->format;
    LumeqImage image = {.width = p->info.width,
                        .height = p->info.height,
                        .chroma_x = f->chroma_x,
                        .chroma_y = f->chroma_y,
                        .depth = f->depth,
                        .shift = f->shift,
                        .range = p->range};
    for (int i = 0; i < f->planes; i++) {
        const int plane = !strcmp(f->name, "YV12") && i ? 3 - i : i;
        image.plane[i] = frame->data[plane];
        image.stride[i] = frame->info.stride[plane];
    }
    return image;
}

static int row_bytes(const Pair *p, int plane)
{
    const Format *f = p->format;
    const int samples =
        plane ? (p->info.width + (1 << f->chroma_x) - 1) >> f->chroma_x : p->info.width;
    return samples * (plane && f->planes == 2 ? 2 : 1) * (f->depth > 8 ? 2 : 1);
}

static int rows(const Pair *p, int plane)
{
    return plane ? (p->info.height + (1 << p->format->chroma_y) - 1) >> p->format->chroma_y
                 : p->info.height;
}

/* Draws a moving gradient with noise, as bright as `light` (0 to 255), and random chroma. */
static GstBuffer *draw(const Pair *p, int number, int light)
{
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, p->info.size, NULL);
    CheckRandom random = check_random((uint64_t)number);
    GstVideoFrame frame;
    gst_buffer_memset(buffer, 0, 0, p->info.size);
    if (!gst_video_frame_map(&frame, &p->info, buffer, GST_MAP_WRITE))
        abort();
    const LumeqImage image = image_of(p, &frame);
    for (int i = 0; i < p->format->planes; i++)
        for (int y = 0; y < rows(p, i); y++)
            for (int x = 0; x < row_bytes(p, i) / (image.depth > 8 ? 2 : 1); x++) {
                const int code =
                    i ? 96 + check_below(&random, 64)
                      : 16 + (x + y + number) * light / (image.width + image.height + 20) +
                            check_below(&random, 5);
                const int sample = (code << (image.depth - 8)) << image.shift;
                uint8_t *row = (uint8_t *)image.plane[i] + y * image.stride[i];
                if (image.depth == 8)
                    row[x] = (uint8_t)code;
                else
                    row[2 * x] = (uint8_t)sample, row[2 * x + 1] = (uint8_t)(sample >> 8);
            }
    gst_video_frame_unmap(&frame);
    GST_BUFFER_PTS(buffer) = p->time;
    GST_BUFFER_DURATION(buffer) = INTERVAL;
    return buffer;
}

/* True if `got` has the samples that the library makes of `sent`. */
static int is_same(Pair *p, GstBuffer *sent, GstBuffer *got)
{
    GstVideoFrame in, before, made_frame, got_frame;
    GstBuffer *made = gst_buffer_new_allocate(NULL, p->info.size, NULL);
    gst_video_frame_map(&in, &p->info, sent, GST_MAP_READ);
    gst_video_frame_map(&made_frame, &p->info, made, GST_MAP_WRITE);
    gst_video_frame_map(&got_frame, &p->info, got, GST_MAP_READ);
    if (p->previous)
        gst_video_frame_map(&before, &p->info, p->previous, GST_MAP_READ);
    const LumeqImage previous = p->previous ? image_of(p, &before) : (LumeqImage){.width = 0};
    LumeqFrame frame = {.size = sizeof(frame),
                        .in = image_of(p, &in),
                        .out = image_of(p, &made_frame),
                        .time = (int64_t)GST_BUFFER_PTS(sent),
                        .previous = p->previous ? &previous : NULL,
                        .interlaced = GST_VIDEO_FRAME_IS_INTERLACED(&in)};
    int same = CHECK(lumeq_process(p->model, &frame, NULL) == 0, "%s", lumeq_last_error(p->model));
    const LumeqImage have = image_of(p, &got_frame);
    for (int i = 0; i < p->format->planes; i++)
        for (int y = 0; y < rows(p, i); y++)
            same &=
                memcmp((uint8_t *)frame.out.plane[i] + y * frame.out.stride[i],
                       (uint8_t *)have.plane[i] + y * have.stride[i], (size_t)row_bytes(p, i)) == 0;
    if (p->previous)
        gst_video_frame_unmap(&before);
    gst_video_frame_unmap(&got_frame);
    gst_video_frame_unmap(&made_frame);
    gst_video_frame_unmap(&in);
    gst_buffer_unref(made);
    gst_buffer_replace(&p->previous, sent);
    return same;
}

static GstBuffer *send(Pair *p, GstBuffer *buffer)
{
    p->time += INTERVAL;
    GstBuffer *got = gst_harness_push_and_pull(p->harness, gst_buffer_ref(buffer));
    CHECK(got != NULL, "no frame came back");
    return got;
}

static int run_one(Pair *p, int number, int light, GstBufferFlags flags)
{
    GstBuffer *sent = draw(p, number, light);
    GST_BUFFER_FLAG_SET(sent, flags);
    GstBuffer *got = send(p, sent);
    int same = 0;
    if (got) {
        same = is_same(p, sent, got);
        CHECK(GST_BUFFER_PTS(got) == GST_BUFFER_PTS(sent), "the timestamp differs");
        gst_buffer_unref(got);
    }
    gst_buffer_unref(sent);
    return same;
}

static void run(Pair *p, int first, int count, int light)
{
    for (int i = first; i < first + count; i++)
        if (!CHECK(run_one(p, i, light, (GstBufferFlags)0), "%s %dx%d: frame %d differs",
                   p->format->name, p->info.width, p->info.height, i))
            return;
}

static void model_resets(Pair *p)
{
    lumeq_reset(p->model);
    gst_clear_buffer(&p->previous);
}

/* The text of the next message of this type, or NULL. The caller frees it. */
static char *message_text(GstBus *bus, GstMessageType type)
{
    GError *error = NULL;
    GstMessage *message = gst_bus_pop_filtered(bus, type);
    if (!message)
        return NULL;
    if (type == GST_MESSAGE_ERROR)
        gst_message_parse_error(message, &error, NULL);
    else
        gst_message_parse_warning(message, &error, NULL);
    char *text = g_strdup(error->message);
    g_clear_error(&error);
    gst_message_unref(message);
    return text;
}

/* Checks that the next message of this type has these words. NULL: there must be no message. */
static void check_message(GstBus *bus, GstMessageType type, const char *words)
{
    char *text = message_text(bus, type);
    CHECK(words ? text && strstr(text, words) : !text, "%s, not %s", text, words);
    g_free(text);
}

static GstBus *watch(GstElement *element)
{
    GstBus *bus = gst_bus_new();
    gst_element_set_bus(element, bus);
    return bus;
}

static void end_watch(GstElement *element, GstBus *bus)
{
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
}

TEST(every_format_and_size_has_the_bits_of_the_library)
{
    static const int sizes[][2] = {{160, 90}, {161, 91}, {2, 2}, {1, 1}, {67, 33}};
    for (int i = 0; i < FORMATS; i++)
        for (int k = 0; k < 5; k++) {
            if (!check_drawn(i * 5 + k))
                continue;
            FREED_BY(free_pair)
            Pair p = new_pair(&formats[i], sizes[k][0], sizes[k][1],
                              (i + k) % 2 ? "1:4:0:1" : "2:4:0:1");
            run(&p, 0, 5, k % 2 ? 30 : 220);
        }
}

TEST(hdr_has_its_transfer)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[6], 64, 48, "bt2100-pq");
    p.params.transfer = LUMEQ_TRANSFER_PQ;
    lumeq_set_params(p.model, &p.params);
    run(&p, 0, 3, 60);
    set_caps(&p, &formats[6], 64, 48, "bt2020-10");
    p.params = usual();
    lumeq_set_params(p.model, &p.params);
    run(&p, 3, 3, 60);
}

/* Sets properties, as in "mode=clahe clip=2". */
static void set(GstElement *element, const char *text)
{
    char **words = g_strsplit(text, " ", -1);
    for (char **word = words; *word; word++) {
        char *value = strchr(*word, '=');
        *value++ = '\0';
        gst_util_set_object_arg(G_OBJECT(element), *word, value);
    }
    g_strfreev(words);
}

/* Sets properties of the element. Returns the equivalent parameters. */
static LumeqParams change(GstElement *e, int i)
{
    LumeqParams p = usual();
    switch (i) {
    case 0: set(e, "mode=clahe"), p.mode = LUMEQ_MODE_CLAHE; break;
    case 1: set(e, "mode=off"), p.mode = LUMEQ_MODE_OFF; break;
    case 2: set(e, "mode=stretch"), p.mode = LUMEQ_MODE_STRETCH; break;
    case 3:
        set(e, "mode=clahe tiles-x=16 tiles-y=5");
        p.mode = LUMEQ_MODE_CLAHE, p.tiles_x = 16, p.tiles_y = 5;
        break;
    case 4: set(e, "reference=true"), p.reference = 1; break;
    case 5: set(e, "strength=0.6"), p.strength = 0.6; break;
    case 6: set(e, "strength=0.9 adaptive=true"), p.strength = 0.9, p.adaptive = 1; break;
    case 7: set(e, "clip=2 strength=1"), p.clip = 2, p.strength = 1; break;
    case 8: set(e, "smooth=2"), p.smooth = 2; break;
    case 9: set(e, "scene-cut=false"), p.scene_cut = 0; break;
    case 10: set(e, "chroma=keep"), p.chroma = LUMEQ_CHROMA_KEEP; break;
    case 11: set(e, "dither=true"), p.dither = 1; break;
    case 12: set(e, "bars=ignore"), p.bars = LUMEQ_BARS_IGNORE; break;
    case 13:
        set(e, "meter-x=10 meter-y=20 meter-width=30 meter-height=15");
        p.meter = (LumeqRect){10, 20, 30, 15};
        break;
    case 14:
        set(e, "meter-x=10 meter-width=-1 meter-height=-1");
        p.meter = (LumeqRect){0, 0, -1, -1};
        break;
    case 15: set(e, "lift=false"), p.lift = 0; break;
    case 16: set(e, "denoise=0.25"), p.denoise = 0.25; break;
    case 17: set(e, "brightness=-0.3"), p.brightness = -0.3; break;
    case 18: set(e, "gamma=1.8"), p.gamma = 1.8; break;
    case 19: set(e, "await-noise=false"), p.await_noise = 0; break;
    case 20: set(e, "limit=darken"), p.limit = LUMEQ_LIMIT_DARKEN; break;
    case 21: set(e, "meter-width=30"); break; /* without a height, the whole picture is metered */
    }
    return p;
}
#define CHANGES 22

TEST(every_property_reaches_the_library)
{
    for (int i = 0; i < CHANGES; i++) {
        FREED_BY(free_pair) Pair p = new_pair(&formats[1], 160, 90, "bt709");
        p.params = change(p.harness->element, i);
        CHECK(lumeq_set_params(p.model, &p.params) == 0, "%s", lumeq_last_error(p.model));
        run(&p, 0, 4, 40);
    }
}

TEST(a_property_is_controlled_over_time)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 64, 48, "bt709");
    GstControlSource *ramp = gst_interpolation_control_source_new();
    g_object_set(ramp, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(ramp), 0, -0.5);
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(ramp), 10 * INTERVAL, 0.5);
    gst_object_add_control_binding(GST_OBJECT(p.harness->element),
                                   gst_direct_control_binding_new_absolute(
                                       GST_OBJECT(p.harness->element), "brightness", ramp));
    for (int i = 0; i < 10; i++) {
        GstBuffer *sent = draw(&p, i, 60), *got = send(&p, sent);
        g_object_get(p.harness->element, "brightness", &p.params.brightness, NULL);
        CHECK(ABS(p.params.brightness - (i / 10. - 0.5)) < 1e-6, "brightness %g",
              p.params.brightness);
        lumeq_set_params(p.model, &p.params);
        CHECK(got && is_same(&p, sent, got), "frame %d differs", i);
        gst_clear_buffer(&got);
        gst_buffer_unref(sent);
    }
    gst_object_unref(ramp);
}

static void push_segment(const Pair *p, GstClockTime begin, GstClockTime end)
{
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = begin;
    segment.stop = end;
    CHECK(gst_harness_push_event(p->harness, gst_event_new_segment(&segment)), "segment refused");
}

/* The change of light is too small for a cut, so only a new history follows it at once. */
TEST(flushes_gaps_and_segments_begin_a_new_history)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 160, 90, "bt709");
    run(&p, 0, 12, 60);
    push_segment(&p, 0, GST_SECOND * 100); /* the same segment with an end: the history continues */
    run(&p, 12, 3, 75);

    gst_harness_push_event(p.harness, gst_event_new_flush_start());
    gst_harness_push_event(p.harness, gst_event_new_flush_stop(TRUE));
    push_segment(&p, 0, GST_SECOND * 100);
    model_resets(&p);
    run(&p, 15, 5, 60);

    model_resets(&p);
    CHECK(run_one(&p, 20, 75, GST_BUFFER_FLAG_DISCONT), "the frame after DISCONT differs");
    run(&p, 21, 5, 75);

    push_segment(&p, GST_SECOND / 2, GST_CLOCK_TIME_NONE);
    model_resets(&p);
    run(&p, 26, 5, 60);
}

TEST(caps_change_in_mid_stream)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 160, 90, "bt709");
    run(&p, 0, 4, 220);
    set_caps(&p, &formats[0], 81, 47, "bt709"); /* the history continues */
    run(&p, 4, 4, 60);
    set_caps(&p, &formats[6], 96, 54, "bt709");
    run(&p, 8, 4, 60);
    set_caps(&p, &formats[2], 96, 54, "1:4:0:1");
    run(&p, 12, 4, 60);
}

/* Copies the samples into longer rows, which a GstVideoMeta describes. */
static GstBuffer *pad_rows(const Pair *p, GstBuffer *from, int padding)
{
    gsize offset[GST_VIDEO_MAX_PLANES] = {0}, size = 0;
    gint stride[GST_VIDEO_MAX_PLANES] = {0};
    GstVideoFrame in, out;
    for (int i = 0; i < p->format->planes; i++) {
        stride[i] = p->info.stride[i] + padding * (i + 1);
        offset[i] = size;
        size += (gsize)stride[i] * (gsize)rows(p, i);
    }
    GstBuffer *to = gst_buffer_new_allocate(NULL, size, NULL);
    gst_buffer_memset(to, 0, 255, size);
    gst_buffer_add_video_meta_full(to, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&p->info),
                                   (guint)p->info.width, (guint)p->info.height,
                                   (guint)p->format->planes, offset, stride);
    gst_video_frame_map(&in, &p->info, from, GST_MAP_READ);
    gst_video_frame_map(&out, &p->info, to, GST_MAP_WRITE);
    for (int i = 0; i < p->format->planes; i++)
        for (int y = 0; y < rows(p, i); y++)
            memcpy((uint8_t *)out.data[i] + y * stride[i],
                   (uint8_t *)in.data[i] + y * in.info.stride[i], (size_t)row_bytes(p, i));
    gst_video_frame_unmap(&out);
    gst_video_frame_unmap(&in);
    gst_buffer_copy_into(to, from, GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize)-1);
    return to;
}

/* A buffer's strides are in its GstVideoMeta; without one, they are in the caps. */
TEST(strides_change_from_buffer_to_buffer)
{
    static const int paddings[] = {0, 300, 0, 16, 300, 64, 0, 1000, 0, 0, 16, 2};
    for (int f = 0; f < FORMATS; f++) {
        FREED_BY(free_pair) Pair p = new_pair(&formats[f], 161, 91, "bt709");
        for (int i = 0; i < 12; i++) {
            GstBuffer *plain = draw(&p, i, 30);
            GstBuffer *sent =
                paddings[i] ? pad_rows(&p, plain, paddings[i]) : gst_buffer_ref(plain);
            GstBuffer *got = send(&p, sent);
            CHECK(got && is_same(&p, plain, got), "%s: frame %d differs", formats[f].name, i);
            gst_clear_buffer(&got);
            gst_buffer_unref(sent);
            gst_buffer_unref(plain);
        }
    }
}

TEST(interlaced_frames_are_filtered_by_field)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 160, 90, "bt709");
    p.interlacing = "interleaved,field-order=top-field-first";
    set_caps(&p, &formats[0], 160, 90, "bt709");
    run(&p, 0, 6, 30);
}

TEST(the_latency_is_that_of_the_source)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 64, 48, "bt709");
    CHECK(gst_harness_query_latency(p.harness) == 0, "latency");
    gst_harness_set_upstream_latency(p.harness, 40 * GST_MSECOND);
    CHECK(gst_harness_query_latency(p.harness) == 40 * GST_MSECOND, "the latency differs");
    run(&p, 0, 1, 60);
}

TEST(one_buffer_is_kept_until_a_drain)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 64, 48, "bt709");
    GstBuffer *sent[2];
    for (int i = 0; i < 2; i++) {
        sent[i] = draw(&p, i, 60);
        GstBuffer *got = send(&p, sent[i]);
        gst_clear_buffer(&got);
    }
    CHECK(GST_MINI_OBJECT_REFCOUNT_VALUE(sent[0]) == 1, "the first buffer is still in use");
    CHECK(GST_MINI_OBJECT_REFCOUNT_VALUE(sent[1]) == 2, "the last buffer is not kept");
    GstQuery *query = gst_query_new_drain();
    gst_pad_peer_query(p.harness->srcpad, query);
    gst_query_unref(query);
    CHECK(GST_MINI_OBJECT_REFCOUNT_VALUE(sent[1]) == 1, "still in use after a drain");

    GstCaps *caps = gst_video_info_to_caps(&p.info);
    query = gst_query_new_allocation(caps, TRUE);
    guint least = 0;
    CHECK(gst_pad_peer_query(p.harness->srcpad, query), "no answer about allocation");
    if (CHECK(gst_query_get_n_allocation_pools(query) > 0, "no pool"))
        gst_query_parse_nth_allocation_pool(query, 0, NULL, NULL, &least, NULL);
    CHECK(least >= 1, "%u buffers are requested", least);
    gst_query_unref(query);
    gst_caps_unref(caps);
    gst_buffer_unref(sent[0]);
    gst_buffer_unref(sent[1]);
}

TEST(regions_and_captions_stay_with_their_frames)
{
    static const guint8 caption[] = {1, 2, 3};
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 64, 48, "bt709");
    GstBuffer *sent = draw(&p, 0, 60);
    gst_buffer_add_video_region_of_interest_meta(sent, "face", 1, 2, 3, 4);
    gst_buffer_add_video_caption_meta(sent, GST_VIDEO_CAPTION_TYPE_CEA708_RAW, caption, 3);
    GstBuffer *got = send(&p, sent);
    if (got) {
        CHECK(gst_buffer_get_video_region_of_interest_meta_id(got, 0) != NULL, "no region");
        CHECK(gst_buffer_get_meta(got, GST_VIDEO_CAPTION_META_API_TYPE) != NULL, "no caption");
        gst_buffer_unref(got);
    }
    gst_buffer_unref(sent);
}

TEST(errors_are_those_of_the_library)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[7], 64, 48, "bt709");
    GstBus *bus = watch(p.harness->element);
    g_object_set(p.harness->element, "reference", TRUE, NULL);
    CHECK(gst_harness_push(p.harness, draw(&p, 0, 60)) == GST_FLOW_ERROR,
          "the reference takes 10 bits");
    check_message(bus, GST_MESSAGE_ERROR,
                  "the reference is defined for 8 bits per sample, not for 10");
    end_watch(p.harness->element, bus);
}

TEST(refused_settings_leave_the_old_ones)
{
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 64, 48, "bt709");
    GstBus *bus = watch(p.harness->element);
    run(&p, 0, 2, 60);
    g_object_set(p.harness->element, "clip", 0.5, NULL);
    run(&p, 2, 2, 60);
    check_message(bus, GST_MESSAGE_WARNING, "clip must be automatic, 0 or 1..1000, not 0.5");
    check_message(bus, GST_MESSAGE_WARNING, NULL);
    g_object_set(p.harness->element, "clip", 2.0, NULL);
    p.params.clip = 2;
    lumeq_set_params(p.model, &p.params);
    run(&p, 4, 2, 60);

    g_object_set(p.harness->element, "clip", 0.5, "gamma", 2.0, NULL);
    set_caps(&p, &formats[2], 32, 32, "1:4:0:1");
    run(&p, 6, 2, 60);
    check_message(bus, GST_MESSAGE_WARNING, "clip must be automatic, 0 or 1..1000, not 0.5");
    set_caps(&p, &formats[6], 64, 48, "bt2100-pq");
    p.params.transfer = LUMEQ_TRANSFER_PQ;
    lumeq_set_params(p.model, &p.params);
    run(&p, 8, 2, 60);
    check_message(bus, GST_MESSAGE_ERROR, NULL);
    end_watch(p.harness->element, bus);
}

TEST(a_stream_does_not_begin_with_refused_settings)
{
    GstHarness *harness = gst_harness_new("lumeq");
    for (int i = 0; i < 2; i++) { /* again after a stop */
        GstBus *bus = watch(harness->element);
        g_object_set(harness->element, "clip", 0.5, NULL);
        gst_harness_set_src_caps_str(harness,
                                     "video/x-raw,format=I420,width=32,height=32,framerate=25/1");
        check_message(bus, GST_MESSAGE_ERROR, "clip must be automatic, 0 or 1..1000, not 0.5");
        gst_bus_set_flushing(bus, TRUE); /* drops repeated errors about the caps */
        gst_bus_set_flushing(bus, FALSE);
        g_object_set(harness->element, "clip", 2.0, NULL);
        gst_harness_set_src_caps_str(harness,
                                     "video/x-raw,format=I420,width=64,height=32,framerate=25/1");
        check_message(bus, GST_MESSAGE_ERROR, NULL);
        end_watch(harness->element, bus);
        gst_element_set_state(harness->element, GST_STATE_READY);
        gst_element_set_state(harness->element, GST_STATE_PLAYING);
    }
    gst_harness_teardown(harness);
}

TEST(a_missing_backend_is_an_error)
{
    LumeqEqualizer *equalizer;
    const LumeqConfig config = {.size = sizeof(config), .backend = LUMEQ_BACKEND_CUDA};
    char why[256] = "";
    if (lumeq_create(&equalizer, &config, why, sizeof(why)) == 0) {
        lumeq_destroy(&equalizer);
        check_skip("CUDA works here");
        return;
    }
    GstElement *element = gst_element_factory_make("lumeq", NULL);
    GstBus *bus = watch(element);
    gst_util_set_object_arg(G_OBJECT(element), "backend", "cuda");
    CHECK(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE, "started");
    check_message(bus, GST_MESSAGE_ERROR, why);
    gst_element_set_state(element, GST_STATE_NULL);
    end_watch(element, bus);
    gst_object_unref(element);
}

static GstBuffer *pull(GstElement *sink)
{
    GstSample *sample = NULL;
    g_signal_emit_by_name(sink, "try-pull-sample", LIVENESS * GST_SECOND, &sample);
    if (!sample)
        return NULL;
    GstBuffer *buffer = gst_buffer_ref(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
    return buffer;
}

static void compare(Pair *p, GstElement *before, GstElement *after, int count)
{
    for (int i = 0; i < count; i++) {
        GstBuffer *sent = pull(before), *got = pull(after);
        if (CHECK(sent && got, "no frame %d", i))
            CHECK(is_same(p, sent, got), "frame %d differs", i);
        gst_clear_buffer(&sent);
        gst_clear_buffer(&got);
    }
}

TEST(a_seek_in_a_pipeline_begins_a_new_history)
{
    GstElement *pipeline = gst_parse_launch(
        "videotestsrc pattern=smpte ! video/x-raw,format=I420,width=161,height=91,framerate=25/1,"
        "colorimetry=bt601 ! videobalance brightness=-0.3 ! tee name=t ! queue ! "
        "appsink name=before sync=false max-buffers=2 t. ! queue ! lumeq ! "
        "appsink name=after sync=false max-buffers=2",
        NULL);
    if (!CHECK(pipeline != NULL, "no pipeline"))
        return;
    FREED_BY(free_pair) Pair p = new_pair(&formats[0], 161, 91, "bt601");
    GstElement *before = gst_bin_get_by_name(GST_BIN(pipeline), "before");
    GstElement *after = gst_bin_get_by_name(GST_BIN(pipeline), "after");
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    compare(&p, before, after, 6);
    for (int i = 3; i > 0; i--) {
        CHECK(
            gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, i * GST_SECOND),
            "the seek failed");
        model_resets(&p);
        compare(&p, before, after, 4);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(before);
    gst_object_unref(after);
    gst_object_unref(pipeline);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    gst_init(&argc, &argv);
    GstPlugin *plugin = gst_plugin_load_file(LUMEQ_GST_PLUGIN, &error);
    if (!plugin) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    gst_object_unref(plugin);
    const int result = check_file(argc, argv);
    gst_deinit();
    return result;
}
