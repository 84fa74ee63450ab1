/* Subtitles: when and where they appear, and limits on hostile packets. */
#include <math.h>

#include <ass/ass.h>
#include <libavcodec/avcodec.h>
#include <libavutil/file.h>
#include <libavutil/intreadwrite.h>

#include "folder.h"
#include "media/subtitles/subtitle_decoder.h"
#include "player/subtitles/subtitle_thread.h"
#include "rects.h"
#include "resident.h"

#define WIDTH 1280
#define HEIGHT 720
#define LOAD_MS 60000 /* how long to wait for the thread */

static const char ass_header[] =
    "[Script Info]\nScriptType: v4.00+\nPlayResX: 640\nPlayResY: 360\n\n[V4+ Styles]\n"
    "Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, "
    "Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, "
    "Shadow, Alignment, MarginL, MarginR, MarginV, Encoding\n"
    "Style: Default,DejaVu Sans,30,&H0000FF00,&H0000FF00,&H00000000,&H00000000,0,0,0,0,100,100,0,"
    "0,1,0,0,2,10,10,10,1\n\n[Events]\n"
    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n";

/* A source that begins at 10 s, with a video track and a subtitle track. Times are in ms. */
typedef struct Fixture {
    Source source;
    AVStream *stream;
    Subtitles *subtitles;
    SubtitlesPlace place;
    Overlay overlay;
    int changed;
} Fixture;

#define START_MS 10000

static void set_extradata(AVStream *stream, const void *data, size_t size)
{
    stream->codecpar->extradata = av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
    memcpy(stream->codecpar->extradata, data, size);
    stream->codecpar->extradata_size = (int)size;
}

static Fixture prepare(enum AVCodecID codec)
{
    Fixture f = {.place = {{100, 50, WIDTH, HEIGHT}, 640, 360, 0}};
    av_log_set_level(AV_LOG_QUIET);
    f.source.format = avformat_alloc_context();
    f.source.format->start_time = START_MS * 1000;
    f.source.video = avformat_new_stream(f.source.format, NULL);
    f.source.video->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    f.source.video->codecpar->width = 640;
    f.source.video->codecpar->height = 360;
    f.stream = avformat_new_stream(f.source.format, NULL);
    f.stream->codecpar->codec_type = AVMEDIA_TYPE_SUBTITLE;
    f.stream->codecpar->codec_id = codec;
    f.stream->time_base = (AVRational){1, 1000};
    f.source.stream_count = f.source.format->nb_streams;
    if (codec == AV_CODEC_ID_ASS)
        set_extradata(f.stream, ass_header, sizeof(ass_header) - 1);
    return f;
}

static void open_fixture(Fixture *f)
{
    f->source.stream_count = f->source.format->nb_streams;
    if (subtitles_open(&f->subtitles) < 0)
        exit(1);
    subtitles_select(f->subtitles, &f->source, f->stream);
}

static Fixture start(enum AVCodecID codec)
{
    Fixture f = prepare(codec);
    open_fixture(&f);
    return f;
}

static void stop(Fixture *f)
{
    subtitles_close(&f->subtitles);
    subtitles_close(&f->subtitles);
    avformat_free_context(f->source.format);
}

static AVPacket *make_packet(int64_t at_ms, int64_t duration_ms, const void *data, size_t size)
{
    AVPacket *packet = av_packet_alloc();
    if (!packet || av_new_packet(packet, (int)size) < 0)
        exit(1);
    memcpy(packet->data, data, size);
    packet->pts = packet->dts = START_MS + at_ms;
    packet->duration = duration_ms;
    return packet;
}

static void put(Fixture *f, int64_t at_ms, int64_t duration_ms, const void *data, size_t size)
{
    FREED_BY(av_packet_free) AVPacket *packet = make_packet(at_ms, duration_ms, data, size);
    subtitles_packet(f->subtitles, packet);
}

static void put_text(Fixture *f, int64_t at_ms, int64_t duration_ms, const char *text)
{
    put(f, at_ms, duration_ms, text, strlen(text));
}

/* Starts an ASS track with a line of nine seconds. */
static Fixture start_with_line(void)
{
    Fixture f = start(AV_CODEC_ID_ASS);
    put_text(&f, 0, 9000, "0,0,Default,,0,0,0,,sound");
    return f;
}

/* Draws the subtitles of a time. Returns their rectangle; width 0: none. */
static Rect draw(Fixture *f, int64_t at_ms)
{
    f->changed = subtitles_draw(f->subtitles, at_ms * 1000, &f->place, &f->overlay);
    const Rect where = overlay_place(&f->overlay);
    if (f->overlay.canvas.width <= 0)
        return (Rect){0};
    CHECK(is_inside(where, f->place.picture), "%d x %d at %d, %d lies outside the picture",
          where.width, where.height, where.x, where.y);
    return where;
}

static const uint8_t *pixel(const Fixture *f, int x, int y)
{
    return canvas_pixel(&f->overlay.canvas, x - f->overlay.x, y - f->overlay.y);
}

/* Returns 0 without a subtitle: skips the test if fonts are missing, else fails it. */
static int has_text(Fixture *f, int64_t at_ms)
{
    const int there = draw(f, at_ms).width > 0;
    const char *trouble = subtitles_trouble(f->subtitles);
    if (!there && trouble)
        check_skip("%s", trouble);
    else
        CHECK(there, "no subtitle");
    return there;
}

/* Hash of the overlay and its position. */
static uint64_t hash(const Fixture *f)
{
    const Overlay *o = &f->overlay;
    uint64_t value = check_fnv(CHECK_FNV_START, &o->x, sizeof(o->x));
    value = check_fnv(value, &o->y, sizeof(o->y));
    for (int y = 0; y < o->canvas.height; y++)
        value = check_fnv(value, canvas_pixel(&o->canvas, 0, y), (size_t)o->canvas.width * 4);
    return value;
}

/* ---- libass ---- */

static long resident_mb(void)
{
    return (long)(resident_bytes() >> 20);
}

/* libass (--wrap) blocks while `held`, and takes `slow_ms` longer. `drawn`: its calls per frame. */
#define FRAME_MS 40
#define FRAMES 12
static atomic_int held, is_waiting, gave_up, slow_ms, drawn[FRAMES + 1];
static atomic_long most_mb; /* most resident memory after a call */

static int64_t processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

ASS_Image *__real_ass_render_frame(ASS_Renderer *renderer, ASS_Track *track, long long now,
                                   int *changed);
ASS_Image *__wrap_ass_render_frame(ASS_Renderer *renderer, ASS_Track *track, long long now,
                                   int *changed);

ASS_Image *__wrap_ass_render_frame(ASS_Renderer *renderer, ASS_Track *track, long long now,
                                   int *changed)
{
    int waited = 0;
    for (; atomic_load(&held) && waited < LOAD_MS; waited++) {
        atomic_store(&is_waiting, 1);
        usleep(1000);
    }
    atomic_store(&is_waiting, 0);
    if (waited == LOAD_MS)
        atomic_store(&gave_up, 1);
    for (const int64_t begin = processor_ms(); processor_ms() - begin < atomic_load(&slow_ms);)
        ;
    ASS_Image *images = __real_ass_render_frame(renderer, track, now, changed);
    if (resident_mb() > atomic_load(&most_mb))
        atomic_store(&most_mb, resident_mb());
    if (now >= 0 && now % FRAME_MS == 0 && now / FRAME_MS <= FRAMES)
        atomic_fetch_add(&drawn[now / FRAME_MS], 1);
    return images;
}

/* ---- text ---- */

/* SubRip lines are white with a dark outline, centred at the bottom. */
TEST(subrip_lines_appear_at_their_time)
{
    FREED_BY(stop) Fixture f = start(AV_CODEC_ID_SUBRIP);
    put_text(&f, 1000, 1000, "First line\nand a second one");
    put_text(&f, 3000, 500, "<i>Another</i>");
    if (has_text(&f, 1500)) {
        CHECK(!draw(&f, 0).width && !draw(&f, 999).width, "drawn before its time");
        const Rect where = draw(&f, 1000);
        CHECK(where.width && f.changed, "not drawn at its start");
        CHECK(draw(&f, 1999).width && !f.changed, "changed, or gone before its end");
        const Rect p = f.place.picture;
        CHECK(where.y > p.y + p.height * 3 / 4, "begins at row %d", where.y);
        CHECK(where.y + where.height < p.y + p.height - 10, "ends at row %d",
              where.y + where.height);
        CHECK(abs(2 * where.x + where.width - 2 * p.x - p.width) < 16, "not in the middle");
        CHECK(where.height > HEIGHT / 18 && where.height < HEIGHT / 7, "%d high", where.height);
        int white = 0, dark = 0;
        for (int y = where.y; y < where.y + where.height; y++)
            for (int x = where.x; x < where.x + where.width; x++) {
                const uint8_t *c = pixel(&f, x, y);
                white += c[3] == 255 && c[0] == 255 && c[1] == 255 && c[2] == 255;
                dark += c[3] == 255 && c[0] == 0 && c[1] == 0 && c[2] == 0;
            }
        CHECK(white > 1000 && dark > 1000, "%d white pixels, %d dark ones", white, dark);
        CHECK(!draw(&f, 2000).width && f.changed, "still there at its end");
        CHECK(!draw(&f, 2500).width && !f.changed, "changed from nothing to nothing");
        CHECK(draw(&f, 3200).width < where.width, "the second line is missing");
    }
}

/* Positions in ASS are relative to the picture; text scales with it. */
TEST(ass_positions_follow_the_picture)
{
    FREED_BY(stop) Fixture f = start(AV_CODEC_ID_ASS);
    put_text(&f, 0, 9000, "0,0,Default,,0,0,0,,{\\an7\\pos(320,180)}H");
    if (has_text(&f, 0)) {
        const Rect where = draw(&f, 0);
        CHECK(abs(where.x - (100 + 640)) < 16 && abs(where.y - (50 + 360 + 10)) < 20, "H at %d, %d",
              where.x, where.y);
        f.place.picture = (Rect){7, 9, WIDTH / 2, HEIGHT / 2};
        const Rect small = draw(&f, 0);
        CHECK(f.changed, "not drawn again");
        CHECK(abs(2 * small.height - where.height) <= 3, "%d and %d high", small.height,
              where.height);
        CHECK(abs(small.x - (7 + 320)) < 8, "H at %d", small.x);
        f.place.picture.x += 100;
        const Rect moved = draw(&f, 0);
        CHECK(f.changed && moved.x == small.x + 100 && moved.y == small.y, "did not move along");
        f.place.picture = (Rect){0, 0, 0, 0};
        CHECK(!draw(&f, 0).width && f.changed, "drawn without a picture");
        f.place.picture = (Rect){0, 0, 1 << 20, 1 << 20};
        CHECK(!draw(&f, 0).width, "drawn over a picture without bounds");
        f.place.picture = (Rect){7, 9, WIDTH / 2, HEIGHT / 2};
        CHECK(draw(&f, 0).width && f.changed, "did not come back");
    }
}

/* Returns how much wider oblong pixels make the text: only ASS is stretched with the picture. */
static double stretched(enum AVCodecID codec, const char *text)
{
    Fixture f = start(codec);
    double factor = 0;
    put_text(&f, 0, 9000, text);
    f.place = (SubtitlesPlace){{0, 0, 1024, 576}, 1024, 576, 0};
    if (has_text(&f, 0)) {
        const int square = draw(&f, 0).width;
        f.place.video_width = 720;
        factor = (double)draw(&f, 0).width / square;
    }
    stop(&f);
    return factor;
}

TEST(oblong_pixels)
{
    const double ass = stretched(AV_CODEC_ID_ASS, "0,0,Default,,0,0,0,,HHHHHHHH");
    const double plain = stretched(AV_CODEC_ID_SUBRIP, "HHHHHHHH");
    if (check_state.skipped[0])
        return;
    CHECK(fabs(ass - 1024.0 / 720) < 0.05, "ASS is %.3f times as wide", ass);
    CHECK(fabs(plain - 1) < 0.01, "plain text is %.3f times as wide", plain);
}

/* Covers the bottom. If `moves`, the line must move above the cover and back, else stay. */
static void check_covered(Fixture *f, int64_t at_ms, int moves)
{
    const Rect p = f->place.picture;
    const Rect before = draw(f, at_ms);
    f->place.covered = 100;
    const Rect above = draw(f, at_ms);
    CHECK(above.width == before.width && above.height == before.height && above.x == before.x,
          "%lld: not the same picture", (long long)at_ms);
    CHECK(moves ? f->changed && above.y + above.height <= p.y + p.height - 100
                : above.y == before.y,
          "%lld: from row %d to %d", (long long)at_ms, before.y, above.y);
    CHECK(draw(f, at_ms).y == above.y && !f->changed, "%lld: changes again", (long long)at_ms);
    f->place.covered = p.height;
    CHECK(draw(f, at_ms).width == before.width, "%lld: the line is gone", (long long)at_ms);
    f->place.covered = 0;
    CHECK(draw(f, at_ms).y == before.y, "%lld: did not come back", (long long)at_ms);
}

TEST(lines_move_above_a_cover)
{
    Fixture f = start(AV_CODEC_ID_SUBRIP);
    put_text(&f, 0, 1000, "One line\nand another");
    if (has_text(&f, 0))
        check_covered(&f, 500, 1);
    stop(&f);
    f = start(AV_CODEC_ID_ASS);
    put_text(&f, 0, 1000, "0,0,Default,,0,0,0,,At the bottom");
    put_text(&f, 1000, 1000, "1,0,Default,,0,0,0,,{\\an8}At the top");
    put_text(&f, 2000, 1000, "2,0,Default,,0,0,0,,{\\pos(320,350)}A sign");
    if (has_text(&f, 0))
        for (int i = 0; i < 3; i++)
            check_covered(&f, 1000 * i + 500, i == 0);
    stop(&f);
}

/* A line that is read again after a seek is drawn once. */
TEST(repeated_lines_are_drawn_once)
{
    static const enum AVCodecID codecs[] = {AV_CODEC_ID_SUBRIP, AV_CODEC_ID_ASS};
    for (int i = 0; i < 2; i++) {
        FREED_BY(stop) Fixture f = start(codecs[i]);
        const char *half = i ? "0,0,Default,,0,0,0,,{\\alpha&H80&}Half" : "{\\alpha&H80&}Half";
        const char *later = i ? "1,0,Default,,0,0,0,,Later" : "Later";
        put_text(&f, 1000, 1000, half);
        if (has_text(&f, 1500)) {
            const uint64_t once = hash(&f);
            subtitles_reset(f.subtitles);
            draw(&f, 500);
            put_text(&f, 1000, 1000, half);
            put_text(&f, 3000, 1000, later);
            draw(&f, 1500);
            CHECK(hash(&f) == once, "%d: a repeated line looks different", i);
            CHECK(draw(&f, 3500).width, "%d: the next line is missing", i);
            subtitles_reset(f.subtitles);
            put_text(&f, 5000, 1000, i ? "2,0,Default,,0,0,0,,Last" : "Last");
            CHECK(draw(&f, 5500).width, "%d: the first line after a seek is missing", i);
        }
    }
}

TEST(other_text_formats)
{
    static const char mov[] = "\0\4Text";
    Fixture f = start(AV_CODEC_ID_MOV_TEXT);
    put(&f, 1000, 1000, mov, 6);
    if (has_text(&f, 1500))
        CHECK(!draw(&f, 2000).width && !draw(&f, 999).width, "mov_text is drawn out of its time");
    stop(&f);
    f = start(AV_CODEC_ID_WEBVTT);
    put_text(&f, 1000, 0, "Without an <b>end</b>");
    if (has_text(&f, 1500))
        CHECK(!draw(&f, 60000).width, "the line never ends");
    stop(&f);
    f = start(AV_CODEC_ID_H264);
    put_text(&f, 0, 1000, "no subtitles");
    CHECK(!draw(&f, 500).width, "something is drawn");
    CHECK(subtitles_trouble(f.subtitles) != NULL, "there is no warning");
    subtitles_select(f.subtitles, &f.source, NULL);
    put_text(&f, 0, 1000, "none is selected");
    CHECK(!draw(&f, 500).width && !subtitles_trouble(f.subtitles),
          "a subtitle or trouble without a track");
    stop(&f);
}

/* ---- fonts ---- */

static void attach(Fixture *f, const char *name, const char *type, const void *data, size_t size)
{
    AVStream *stream = avformat_new_stream(f->source.format, NULL);
    stream->codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
    set_extradata(stream, data, size);
    av_dict_set(&stream->metadata, "filename", name, 0);
    av_dict_set(&stream->metadata, "mimetype", type, 0);
}

/* Without system fonts, only fonts attached to the file draw anything. */
TEST(attached_fonts_are_used)
{
    static const char config[] = "<fontconfig></fontconfig>\n";
    static const char *const paths[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                        "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
                                        "/usr/share/fonts/TTF/DejaVuSans.ttf"};
    static const char line[] = "0,0,Default,,0,0,0,,Attached";
    uint8_t *font = NULL;
    size_t size = 0;
    for (int i = 0; i < 3 && av_file_map(paths[i], &font, &size, 0, NULL) < 0; i++)
        font = NULL;
    setenv("FONTCONFIG_FILE", write_file("fonts", config, sizeof(config) - 1), 1);

    Fixture f = prepare(AV_CODEC_ID_ASS);
    attach(&f, "notes.txt", "text/plain", line, sizeof(line));
    open_fixture(&f);
    put_text(&f, 0, 1000, line);
    CHECK(!draw(&f, 500).width, "text is drawn without a font");
    CHECK(subtitles_trouble(f.subtitles) != NULL, "there is no warning");
    stop(&f);
    if (font) {
        f = prepare(AV_CODEC_ID_ASS);
        attach(&f, "DejaVuSans.ttf", "application/octet-stream", font, size);
        open_fixture(&f);
        put_text(&f, 0, 1000, line);
        CHECK(has_text(&f, 500), "the attached font is not used");
        CHECK(!subtitles_trouble(f.subtitles), "%s", subtitles_trouble(f.subtitles));
        stop(&f);
        av_file_unmap(font, size);
    }
    unsetenv("FONTCONFIG_FILE");
}

/* ---- bitmaps ---- */

/* A DVD's subtitle: four colours, 16 x 8 pixels at (30, 40) of 640x360. */
static int put_dvd(Fixture *f, int64_t at_ms)
{
    uint8_t data[4096];
    static uint32_t palette[256] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFF123456};
    static uint8_t indices[16 * 8];
    for (int i = 0; i < 16 * 8; i++)
        indices[i] = (uint8_t)(i % 16 / 4);
    AVSubtitleRect rect = {
        .x = 30, .y = 40, .w = 16, .h = 8, .nb_colors = 4, .type = SUBTITLE_BITMAP};
    rect.data[0] = indices;
    rect.data[1] = (uint8_t *)palette;
    rect.linesize[0] = 16;
    AVSubtitleRect *rects[] = {&rect};
    const AVSubtitle subtitle = {.num_rects = 1, .rects = rects, .end_display_time = 1000};
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_DVD_SUBTITLE);
    AVCodecContext *encoder = codec ? avcodec_alloc_context3(codec) : NULL;
    int size = -1;
    if (encoder) {
        encoder->width = 640;
        encoder->height = 360;
        encoder->time_base = (AVRational){1, 1000};
        if (avcodec_open2(encoder, codec, NULL) >= 0)
            size = avcodec_encode_subtitle(encoder, data, sizeof(data), &subtitle);
    }
    avcodec_free_context(&encoder);
    if (size > 0)
        put(f, at_ms, 0, data, (size_t)size);
    else
        check_skip("no encoder for DVD subtitles");
    return size > 0;
}

/* The track's header has the palette that the encoder uses. */
static Fixture start_dvd(void)
{
    static const char header[] =
        "size: 640x360\npalette: 000000, 0000ff, 00ff00, ff0000, ffff00, ff00ff, 00ffff, ffffff, "
        "808000, 8080ff, 800080, 80ff80, 008080, ff8080, 555555, aaaaaa\n";
    Fixture f = prepare(AV_CODEC_ID_DVD_SUBTITLE);
    set_extradata(f.stream, header, sizeof(header) - 1);
    open_fixture(&f);
    return f;
}

TEST(dvd_bitmaps_appear_at_their_time)
{
    FREED_BY(stop) Fixture f = start_dvd();
    f.place.picture = (Rect){5, 3, 640, 360};
    if (!put_dvd(&f, 1000))
        return;
    CHECK(!draw(&f, 999).width, "drawn before its time");
    const Rect where = draw(&f, 1000);
    CHECK(f.changed && where.x == 35 && where.y == 43 && where.width == 16 && where.height == 8,
          "%dx%d at %d, %d", where.width, where.height, where.x, where.y);
    static const uint8_t expected[4][3] = {
        {255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {0x55, 0x55, 0x55}};
    for (int y = 0; y < where.height; y++)
        for (int x = 0; x < where.width && x < 12; x++) {
            const uint8_t *c = pixel(&f, where.x + x, where.y + y);
            CHECK(c[3] == 255 && !memcmp(c, expected[x / 4], 3), "(%d, %d): %d %d %d %d", x, y,
                  c[0], c[1], c[2], c[3]);
        }
    CHECK(draw(&f, 1900).width && !f.changed, "gone, or drawn again");
    CHECK(!draw(&f, 2100).width && f.changed, "still there");
    subtitles_reset(f.subtitles);
    CHECK(!draw(&f, 1500).width, "there after a seek");
    put_dvd(&f, 1000);
    CHECK(draw(&f, 1500).width, "not there again");
}

TEST(bitmaps_scale_with_the_picture)
{
    static const double scales[] = {2, 3.7, 0.5, 0.31, 1.25, 12};
    FREED_BY(stop) Fixture f = start_dvd();
    if (!put_dvd(&f, 0))
        return;
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        const double s = scales[i];
        f.place.picture = (Rect){11, 13, (int)(640 * s), (int)(360 * s)};
        const Rect where = draw(&f, 500);
        CHECK(fabs(where.x - 11 - 30 * s) <= 1 && fabs(where.y - 13 - 40 * s) <= 1 &&
                  fabs(where.width - 16 * s) <= 1 && fabs(where.height - 8 * s) <= 1,
              "%.2f: %dx%d at %d, %d", s, where.width, where.height, where.x, where.y);
        CHECK(f.overlay.canvas.width == 16 && f.overlay.canvas.height == 8, "not in its own size");
    }
}

/* ---- PGS, written by hand ---- */

typedef struct Pgs {
    uint8_t data[8192];
    size_t size;
} Pgs;

static void add_segment(Pgs *pgs, int type, const uint8_t *data, int size)
{
    pgs->data[pgs->size] = (uint8_t)type;
    AV_WB16(pgs->data + pgs->size + 1, size);
    for (int i = 0; i < size; i++)
        pgs->data[pgs->size + 3 + (size_t)i] = data[i];
    pgs->size += 3 + (size_t)size;
}

/* Encodes rows of white pixels, a run per row. Returns the size. */
static int draw_object(uint8_t *object, int width, int height)
{
    const uint8_t row[] = {0, (uint8_t)(0xC0 | width >> 8), (uint8_t)width, 1, 0, 0};
    const int size = height * (int)sizeof(row);
    const uint8_t head[] = {0, 0, 0, 0xC0, 0, (uint8_t)((size + 4) >> 8), (uint8_t)(size + 4)};
    memcpy(object, head, sizeof(head));
    AV_WB16(object + 7, width);
    AV_WB16(object + 9, height);
    for (int y = 0; y < height; y++)
        memcpy(object + 11 + y * (int)sizeof(row), row, sizeof(row));
    return 11 + size;
}

/* A white rectangle on a canvas of 1920x1080; width 0: a subtitle that clears the canvas. */
static Pgs make_pgs(Rect where)
{
    const int with_object = where.width > 0;
    Pgs pgs = {0};
    uint8_t composition[19] = {0x07, 0x80, 0x04, 0x38, 0x10, 0, 0, 0x80, 0, 0};
    composition[10] = (uint8_t)with_object;
    AV_WB16(composition + 15, where.x);
    AV_WB16(composition + 17, where.y);
    add_segment(&pgs, 0x16, composition, with_object ? 19 : 11);
    if (with_object) {
        static const uint8_t palette[] = {0, 0, 1, 235, 128, 128, 255};
        uint8_t object[8000];
        add_segment(&pgs, 0x14, palette, sizeof(palette));
        add_segment(&pgs, 0x15, object, draw_object(object, where.width, where.height));
    }
    add_segment(&pgs, 0x80, NULL, 0);
    return pgs;
}

/* A cropped picture does not cut PGS bitmaps. */
TEST(pgs_stays_until_the_next)
{
    FREED_BY(stop) Fixture f = start(AV_CODEC_ID_HDMV_PGS_SUBTITLE);
    const Pgs low = make_pgs((Rect){960, 1000, 8, 2}), clear = make_pgs((Rect){0});
    f.place.picture = (Rect){0, 0, 1920, 1080};
    put(&f, 1000, 0, low.data, low.size);
    Rect where = draw(&f, 1500);
    CHECK(where.x == 960 && where.y == 1000 && where.width == 8 && where.height == 2,
          "%dx%d at %d, %d", where.width, where.height, where.x, where.y);
    CHECK(where.width && pixel(&f, 960, 1000)[0] >= 253 && pixel(&f, 960, 1000)[3] == 255,
          "not white");
    CHECK(draw(&f, 600000).width, "did not stay");
    check_covered(&f, 1500, 1);
    put(&f, 3000, 0, clear.data, clear.size);
    CHECK(draw(&f, 2999).width && !draw(&f, 3000).width && f.changed, "not cleared");
    f.place.picture = (Rect){0, 140, 1920, 800};
    where = draw(&f, 1500);
    CHECK(where.width == 8 && where.height == 2 && where.y == 140 + 800 - 2, "%dx%d at %d, %d",
          where.width, where.height, where.x, where.y);
}

TEST(last_of_many_bitmaps_are_kept)
{
    FREED_BY(stop) Fixture f = start(AV_CODEC_ID_HDMV_PGS_SUBTITLE);
    f.place.picture = (Rect){0, 0, 1920, 1080};
    for (int i = 0; i < 1000; i++) {
        const Pgs pgs = make_pgs((Rect){i, 500, 8, 2});
        put(&f, i * 10, 0, pgs.data, pgs.size);
        if (i % 100 == 50)
            CHECK(draw(&f, i * 10).x == i, "number %d is not shown", i);
    }
    CHECK(draw(&f, 9990).x == 999 && draw(&f, 9905).x == 990, "the last ones are missing");
    CHECK(!subtitles_trouble(f.subtitles), "trouble: %s", subtitles_trouble(f.subtitles));
}

static int says_left_out(const Fixture *f)
{
    const char *trouble = subtitles_trouble(f->subtitles);
    return trouble && strstr(trouble, "left out");
}

/* Each bitmap takes 8 MB. If many wait to be drawn, only the last ones are kept. */
TEST(memory_for_large_bitmaps_is_bounded)
{
    FREED_BY(stop) Fixture f = start(AV_CODEC_ID_HDMV_PGS_SUBTITLE);
    const Pgs full = make_pgs((Rect){0, 0, 1920, 1080});
    f.place.picture = (Rect){0, 0, 192, 108};
    for (int i = 0; i < 20; i++) {
        put(&f, 1000 * i, 0, full.data, full.size);
        CHECK(draw(&f, 1000 * i + 500).width == 192 && !subtitles_trouble(f.subtitles),
              "number %d: %s", i, subtitles_trouble(f.subtitles));
    }
    const long before = resident_mb();
    for (int i = 20; i < 40; i++)
        put(&f, 1000 * i, 0, full.data, full.size);
    const long more = resident_mb() - before;
    CHECK(CHECK_SLOWER > 1 || more < 20, "%ld MB are needed to keep them", more);
    CHECK(!draw(&f, 31500).width, "more than 8 bitmaps are kept");
    CHECK(draw(&f, 32500).width && draw(&f, 39500).width, "the last 8 bitmaps are not kept");
}

/* ---- hostile ---- */

static size_t random_bytes(CheckRandom *random, uint8_t *data, size_t room)
{
    const size_t size = (size_t)check_below(random, (int)room + 1);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)check_below(random, 256);
    return size;
}

static void random_place(Fixture *f, CheckRandom *random)
{
    f->place.picture = (Rect){check_below(random, 200) - 100, check_below(random, 200) - 100,
                              1 + check_below(random, 1000), 1 + check_below(random, 700)};
    f->place.video_width = 1 + check_below(random, 4000);
    f->place.video_height = 1 + check_below(random, 4000);
}

static void random_line(CheckRandom *random, char *line, size_t room)
{
    /* clang-format off */
    static const char *const parts[] = {
        "{\\pos(%d,%d)}", "{\\fs%d}", "{\\blur%d}", "{\\bord%d}", "{\\frx%d\\fry%d}",
        "{\\p1}m %d %d", "{\\clip(%d,%d,%d,9)}", "{\\move(%d,%d,%d,0)}", "{\\t(\\fscx%d)}",
        "{\\fscy%d}", "\\N", "x", "{\\fad(%d,%d)}", "{\\iclip(m %d %d l 5 5)}", "{\\k%d}",
        "{\\org(%d,%d)}", "{", "}",
    };
    /* clang-format on */
    const int count = (int)(sizeof(parts) / sizeof(parts[0]));
    size_t end = (size_t)snprintf(line, room, "%d,%d,Default,,%d,%d,%d,,",
                                  check_below(random, 1000) - 500, check_below(random, 3) - 1,
                                  check_below(random, 2000) - 1000, check_below(random, 2000), 0);
    for (int i = check_below(random, 5); i >= 0 && end + 64 < room; i--) {
        int value[3];
        for (int k = 0; k < 3; k++)
            value[k] = check_below(random, 4) ? check_below(random, 2000) - 500
                                              : check_below(random, 2000000000) - 1000000000;
        const char *part = parts[check_below(random, count)];
        end += (size_t)snprintf(line + end, room - end, part, value[0], value[1], value[2]);
    }
    snprintf(line + end, room - end, "x");
}

TEST(random_packets_do_no_harm)
{
    static const enum AVCodecID codecs[] = {AV_CODEC_ID_HDMV_PGS_SUBTITLE,
                                            AV_CODEC_ID_DVD_SUBTITLE,
                                            AV_CODEC_ID_DVB_SUBTITLE,
                                            AV_CODEC_ID_XSUB,
                                            AV_CODEC_ID_SUBRIP,
                                            AV_CODEC_ID_ASS,
                                            AV_CODEC_ID_MOV_TEXT,
                                            AV_CODEC_ID_WEBVTT,
                                            AV_CODEC_ID_MICRODVD};
    CheckRandom random = check_random(1);
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
        FREED_BY(stop) Fixture f = start(codecs[i]);
        const Pgs pgs = make_pgs((Rect){100, 100, 8, 2});
        for (int turn = 0; turn < 300; turn++) {
            uint8_t data[1024];
            size_t size = random_bytes(&random, data, 600);
            if (codecs[i] == AV_CODEC_ID_ASS && turn % 3) {
                random_line(&random, (char *)data, sizeof(data));
                size = strlen((char *)data);
            } else if (turn & 1) { /* a valid packet with a wrong byte */
                memcpy(data, pgs.data, size = pgs.size);
                data[check_below(&random, (int)size)] = (uint8_t)check_below(&random, 256);
            }
            put(&f, check_below(&random, 5000), check_below(&random, 3000), data, size);
            if (turn % 20 == 0) {
                random_place(&f, &random);
                draw(&f, check_below(&random, 5000));
            }
            if (turn % 50 == 49)
                subtitles_reset(f.subtitles);
        }
    }
    CHECK(1, "survived");
}

static int has_ended(const Fixture *f)
{
    const char *trouble = subtitles_trouble(f->subtitles);
    return trouble && strstr(trouble, "turned off");
}

/* Puts rectangles of at most `size` x `size`, in units of 640x360. Their sizes differ, because
 * libass shares equal bitmaps. */
static void put_shapes(Fixture *f, int count, int size, int moves)
{
    static int order = 1;
    for (int i = 0; i < count; i++) {
        char line[192];
        const int width = size - i / 2, height = size - i % 2;
        snprintf(line, sizeof(line), "%d,0,Default,,0,0,0,,{\\an7%s\\p1}m 0 0 l %d 0 %d %d 0 %d",
                 order++, moves ? "\\move(0,0,9,9)" : "\\pos(0,0)", width, width, height, height);
        put_text(f, 1000, 4000, line);
    }
}

/* A frame that takes too long to draw turns the subtitles off, with a message. */
TEST(time_to_draw_is_bounded)
{
    FREED_BY(stop) Fixture f = start_with_line();
    if (has_text(&f, 0)) {
        put_shapes(&f, 8, 40, 1);
        CHECK(draw(&f, 1000).width, "nothing is drawn");
        atomic_store(&slow_ms, 2100);
        CHECK(!draw(&f, 1040).width && f.changed, "subtitles are still drawn");
        atomic_store(&slow_ms, 0);
        CHECK(has_ended(&f), "trouble: %s", subtitles_trouble(f.subtitles));
        CHECK(!draw(&f, 1080).width, "subtitles are drawn again");
    }
}

/* If a large window needs too much memory, subtitles are turned off before they are drawn. */
TEST(memory_after_enlarging_is_bounded)
{
    for (int moves = 0; moves < 2; moves++) {
        FREED_BY(stop) Fixture f = start_with_line();
        if (has_text(&f, 0)) {
            f.place.picture = (Rect){0, 0, 640, 360};
            put_shapes(&f, 500, 300, moves); /* 26 MB */
            draw(&f, 1500);
            CHECK(!subtitles_trouble(f.subtitles), "lines with room are left out");
            const long before = resident_mb();
            atomic_store(&most_mb, 0);
            f.place.picture = (Rect){0, 0, 2560, 1440}; /* 420 MB */
            CHECK(!draw(&f, 1500).width && has_ended(&f), "subtitles are still drawn");
            const long more = atomic_load(&most_mb) - before;
            CHECK(CHECK_SLOWER > 1 || more < 300, "%ld MB are needed to draw them", more);
        }
    }
}

/* If 60 MB of lines wait, the first 30 MB are kept. */
TEST(memory_for_long_scripts_is_bounded)
{
    static char line[60000];
    FREED_BY(stop) Fixture f = start_with_line();
    if (has_text(&f, 0)) {
        const long before = resident_mb();
        for (int i = 1; i <= 1000; i++) {
            const int head = snprintf(line, sizeof(line), "%d,0,Default,,0,0,0,,words{", i);
            memset(line + head, 'x', sizeof(line) - 2 - (size_t)head);
            line[sizeof(line) - 2] = '}';
            put_text(&f, 10000 + 1000 * i, 1000, line);
            CHECK(i > 500 || !says_left_out(&f), "%d lines are too many", i);
        }
        CHECK(says_left_out(&f), "all are kept, or there is no warning");
        const long more = resident_mb() - before;
        CHECK(CHECK_SLOWER > 1 || more < 40, "%ld MB are needed to keep them", more);
        CHECK(draw(&f, 510500).width && !draw(&f, 1010500).width, "the wrong lines are kept");
        subtitles_reset(f.subtitles);
        CHECK(says_left_out(&f), "the warning comes again after a seek");
    }
}

/* ---- the thread ---- */

static void count_wake(void *opaque)
{
    atomic_fetch_add((atomic_int *)opaque, 1);
}

typedef struct Threaded {
    Fixture f; /* draws the same subtitles without a thread, for comparison */
    SubtitleThread *thread;
    uint64_t last; /* hash of the last picture that came */
    atomic_int wakes;
} Threaded;

static void start_thread(Threaded *t, Fixture fixture)
{
    *t = (Threaded){.f = fixture};
    t->thread = subtitle_thread_create(count_wake, &t->wakes);
    if (!t->thread)
        exit(1);
    subtitle_thread_select(t->thread, &t->f.source, t->f.stream);
}

static void stop_thread(Threaded *t)
{
    atomic_store(&held, 0);
    subtitle_thread_free(&t->thread);
    subtitle_thread_free(&t->thread);
    CHECK(!atomic_load(&t->f.source.shares), "the source is still shared");
    CHECK(!atomic_load(&gave_up), "the test waited for a picture");
    stop(&t->f);
}

static void put_both(Threaded *t, int64_t at_ms, int64_t duration_ms, const char *text)
{
    FREED_BY(av_packet_free) AVPacket *packet = make_packet(at_ms, duration_ms, text, strlen(text));
    subtitles_packet(t->f.subtitles, packet);
    subtitle_thread_packet(t->thread, packet);
}

/* Hash of the thread's picture for a time; 0: none. */
static uint64_t ask(Threaded *t, int64_t at_ms, int64_t next_ms)
{
    Fixture *f = &t->f;
    f->changed =
        subtitle_thread_draw(t->thread, at_ms * 1000, next_ms * 1000, &f->place, &f->overlay);
    if (f->changed)
        t->last = f->overlay.canvas.width ? hash(f) : 0;
    return t->last;
}

static uint64_t expected(Threaded *t, int64_t at_ms)
{
    return draw(&t->f, at_ms).width ? hash(&t->f) : 0;
}

static int comes(Threaded *t, int64_t at_ms, int64_t next_ms, uint64_t value)
{
    for (int waited = 0; waited < LOAD_MS && ask(t, at_ms, next_ms) != value; waited++)
        usleep(1000);
    return ask(t, at_ms, next_ms) == value;
}

/* Blocks the thread in the middle of a picture. */
static void hold(Threaded *t, int64_t at_ms)
{
    atomic_store(&held, 1);
    for (int waited = 0; waited < LOAD_MS && !atomic_load(&is_waiting); waited++) {
        ask(t, at_ms, at_ms);
        usleep(1000);
    }
    CHECK(atomic_load(&is_waiting), "nothing is drawn at %lld ms", (long long)at_ms);
}

TEST(thread_draws_ahead)
{
    FREED_BY(stop_thread) Threaded t;
    uint64_t pictures[FRAMES + 1];
    start_thread(&t, start(AV_CODEC_ID_ASS));
    put_both(&t, 0, 9000, "0,0,Default,,0,0,0,,{\\move(100,100,500,300,0,600)}moves");
    if (has_text(&t.f, 0)) {
        for (int i = 0; i <= FRAMES; i++)
            pictures[i] = expected(&t, i * FRAME_MS);
        for (int i = 0; i <= FRAMES; i++)
            atomic_store(&drawn[i], 0);
        CHECK(comes(&t, 0, FRAME_MS, pictures[0]), "nothing is drawn");
        for (int i = 1; i < FRAMES; i++) {
            for (int waited = 0; waited < LOAD_MS && !atomic_load(&drawn[i]); waited++)
                usleep(1000);
            CHECK(ask(&t, (i - 1) * FRAME_MS, i * FRAME_MS) == pictures[i - 1],
                  "the subtitle of frame %d is shown too early", i);
            atomic_store(&held, 1);
            CHECK(comes(&t, i * FRAME_MS, (i + 1) * FRAME_MS, pictures[i]) &&
                      pictures[i] != pictures[i - 1],
                  "the subtitle of frame %d is missing", i);
            atomic_store(&held, 0);
        }
    }
}

/* The last subtitles disappear if the position jumps, or if the size or the track changes. */
TEST(late_drawing_keeps_the_last_picture)
{
    FREED_BY(stop_thread) Threaded t;
    start_thread(&t, start(AV_CODEC_ID_ASS));
    put_both(&t, 0, 9000, "0,0,Default,,0,0,0,,stays");
    if (has_text(&t.f, 0)) {
        const uint64_t first = expected(&t, 0);
        CHECK(comes(&t, 0, FRAME_MS, first), "nothing is drawn");
        const int wakes = atomic_load(&t.wakes);
        CHECK(wakes > 0, "no wake-up for a picture");
        hold(&t, 2 * FRAME_MS);
        for (int i = 2; i < 10; i++)
            CHECK(ask(&t, i * FRAME_MS, (i + 1) * FRAME_MS) == first && !t.f.changed,
                  "the picture is gone after %d frames", i);
        CHECK(!ask(&t, 2000, 2040) && t.f.changed, "the picture is still there 2 s later");
        atomic_store(&held, 0);
        CHECK(comes(&t, 2000, 2040, first), "the picture does not come back");

        hold(&t, 2080);
        t.f.place.picture.width -= 2;
        CHECK(!ask(&t, 2080, 2120) && t.f.changed, "the picture is there in another size");
        atomic_store(&held, 0);
        const uint64_t small = expected(&t, 2080);
        CHECK(comes(&t, 2080, 2080, small), "not drawn again in the new size");

        hold(&t, 2120);
        subtitle_thread_reset(t.thread);
        CHECK(ask(&t, 2080, 2080) == small, "the picture is gone before its frame");
        CHECK(!ask(&t, 4120, 4120), "the picture is there after a seek");
        atomic_store(&held, 0);
        CHECK(comes(&t, 4120, 4120, small), "not drawn after a seek");

        hold(&t, 4160);
        subtitle_thread_select(t.thread, &t.f.source, NULL);
        CHECK(!ask(&t, 4120, 4120) && t.f.changed, "the picture of another track is there");
        CHECK(!atomic_load(&gave_up), "the test waited for a picture");
    }
}

/* While the thread is busy, packets wait in order, up to a limit. */
TEST(packets_wait_for_the_thread)
{
    FREED_BY(stop_thread) Threaded t;
    char line[64];
    int count = 0;
    start_thread(&t, start(AV_CODEC_ID_ASS));
    put_both(&t, 0, 9000, "0,0,Default,,0,0,0,,stays");
    if (has_text(&t.f, 0)) {
        const uint64_t first = expected(&t, 0);
        CHECK(comes(&t, 0, 0, first), "nothing is drawn");
        hold(&t, FRAME_MS);
        for (; !subtitle_thread_is_full(t.thread) && count < 10000; count++) {
            snprintf(line, sizeof(line), "%d,0,Default,,0,0,0,,line %d", count + 1, count);
            put_both(&t, 10000 + 1000 * count, 1000, line);
            subtitle_thread_reset(t.thread);
            subtitle_thread_reset(t.thread);
        }
        CHECK(count > 100 && count < 2000, "%d packets wait", count);
        const int64_t last = 10000 + 1000 * (count - 1) + 500;
        put_both(&t, 9000, 500, "9999,0,Default,,0,0,0,,too many");
        atomic_store(&held, 0);
        const uint64_t picture = expected(&t, last);
        CHECK(picture && comes(&t, last, last, picture), "the last line is missing");
        CHECK(!subtitle_thread_is_full(t.thread), "the queue stays full");
        CHECK(expected(&t, 9250) && comes(&t, 9250, 9250, 0), "a full queue takes a packet");
    }
}

TEST(trouble_of_the_chosen_track)
{
    FREED_BY(stop_thread) Threaded t;
    start_thread(&t, prepare(AV_CODEC_ID_H264));
    for (int i = 0; i < LOAD_MS && !subtitle_thread_trouble(t.thread); i++) {
        ask(&t, 0, 0);
        usleep(1000);
    }
    CHECK(subtitle_thread_trouble(t.thread) && atomic_load(&t.wakes), "there is no warning");
    subtitle_thread_select(t.thread, &t.f.source, NULL);
    CHECK(!subtitle_thread_trouble(t.thread), "a warning without a track");
}

TEST_MAIN
