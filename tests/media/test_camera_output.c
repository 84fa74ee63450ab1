/* A (fake) virtual camera: which device is used, its settings, and the pictures written to it. */
#include <sys/stat.h>

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "fake_camera.h"
#include "media/camera/camera_output.h"
#include "new_frame.h"

#define OUTPUT_PATH "/dev/video9"
#define WIDTH 64
#define HEIGHT 48
#define RATE ((AVRational){30000, 1001})

static char record[64], record_log[80];

static void remove_records(void)
{
    unlink(record);
    unlink(record_log);
}

static int ready(const char *words)
{
    if (!record[0]) {
        snprintf(record, sizeof(record), "/tmp/fake-output-%d", (int)getpid());
        snprintf(record_log, sizeof(record_log), "%s.log", record);
        setenv("PIPEWIRE_REMOTE", "no-pipewire", 1);
        setenv("FAKE_OUTPUT", OUTPUT_PATH, 1);
        setenv("FAKE_OUTPUT_RECORD", record, 1);
        atexit(remove_records);
    }
    if (!fake_camera_ready())
        return 0;
    fake_camera_is(words);
    return 1;
}

/* ---- records ---- */

/* Returns the last `size` bytes written. Free them with free(). */
static uint8_t *written(size_t size)
{
    uint8_t *data = malloc(size + 1);
    FILE *file = fopen(record, "rb");
    if (!file || !data || fseek(file, -(long)size, SEEK_END) != 0 ||
        fread(data, 1, size, file) != size) {
        CHECK(0, "%s has fewer than %zu bytes", record, size);
        free(data);
        data = NULL;
    }
    if (file)
        fclose(file);
    return data;
}

static long size_of(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 ? (long)is.st_size : 0;
}

static void read_log(long from, char *text, size_t size)
{
    FILE *file = fopen(record_log, "r");
    size_t n = 0;
    if (file && fseek(file, from, SEEK_SET) == 0)
        n = fread(text, 1, size - 1, file);
    text[n] = '\0';
    if (file)
        fclose(file);
}

/* ---- pictures ---- */

/* Draws a picture whose rows and columns differ. */
static AVFrame *draw(enum AVPixelFormat format, int width, int height)
{
    AVFrame *frame = new_frame(format, width, height);
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const int wide = desc->comp[0].depth > 8 ? 2 : 1;
    for (int p = 0; p < av_pix_fmt_count_planes(format); p++) {
        const int rows = p ? AV_CEIL_RSHIFT(height, desc->log2_chroma_h) : height;
        const int samples = av_image_get_linesize(format, width, p) / wide;
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < samples; x++) {
                uint8_t *at = frame->data[p] + (ptrdiff_t)y * frame->linesize[p] + x * wide;
                const unsigned code = 16 + (unsigned)(x * 7 + y * 13 + p * 31) % 200;
                at[0] = (uint8_t)(wide == 2 ? code << 2 & 0xff : code);
                if (wide == 2)
                    at[1] = (uint8_t)(code >> 6);
            }
    }
    return frame;
}

static uint8_t sample(const AVFrame *frame, int plane, int x, int y)
{
    return frame->data[plane][(ptrdiff_t)y * frame->linesize[plane] + x];
}

/* Opens the virtual camera, sets its format, and writes a picture. */
static int give(CameraOutput **output, const AVFrame *frame, MediaError *error)
{
    *error = (MediaError){0};
    int ret = camera_output_open(output, NULL, error);
    if (ret >= 0)
        ret = camera_output_set(*output, frame, RATE, "in.mkv", error);
    if (ret >= 0)
        ret = camera_output_write(*output, frame, 0, error);
    return ret;
}

static int is_given(CameraOutput **output, const AVFrame *frame)
{
    MediaError error;
    return CHECK(give(output, frame, &error) >= 0, "%s", error.text);
}

/* ---- tests ---- */

TEST(a_named_device_need_not_be_a_loopback)
{
    CameraOutput *output;
    MediaError error = {0};
    if (!ready("out.other"))
        return;
    CHECK(camera_output_open(&output, "9", &error) == 0, "%s", error.text);
    CHECK(output && strcmp(camera_output_path(output), OUTPUT_PATH) == 0, "another device is used");
    camera_output_close(&output);
}

TEST(closest_format_is_set)
{
    static const struct {
        enum AVPixelFormat format;
        int height;
        enum AVColorSpace space;
        const char *words, *text, *log;
    } cases[] = {
        {AV_PIX_FMT_YUV420P, 48, AVCOL_SPC_UNSPECIFIED, "", "yuv420p 64x48",
         "format YU12 64x48 colours 8"},
        {AV_PIX_FMT_NV12, 48, AVCOL_SPC_SMPTE170M, "", "nv12 64x48", "format NV12 64x48 colours 8"},
        {AV_PIX_FMT_YUVJ422P, 48, AVCOL_SPC_BT470BG, "", "yuyv422 64x48", "format YUYV 64x48"},
        {AV_PIX_FMT_YUV444P10, 48, AVCOL_SPC_BT709, "", "yuyv422 64x48",
         "format YUYV 64x48 colours 3"},
        {AV_PIX_FMT_GRAY8, 720, AVCOL_SPC_UNSPECIFIED, "", "64x720", "64x720 colours 3"},
        {AV_PIX_FMT_YUV420P, 48, 0, "out.takes=NV12,YUYV", "nv12 64x48", "format NV12"},
        {AV_PIX_FMT_YUV420P, 48, 0, "out.takes=YUYV", "yuyv422 64x48", "format YUYV"},
        {AV_PIX_FMT_YUV422P, 48, 0, "out.takes=YU12,NV12", "yuv420p 64x48", "format YU12"},
        {AV_PIX_FMT_NV12, 48, 0, "out.takes=YU12,YUYV", "yuv420p 64x48", "format YU12"},
        {AV_PIX_FMT_NV12, 48, 0, "out.norate", "nv12 64x48 at 29.97 fps", "format NV12"},
        {AV_PIX_FMT_YUV420P, 49, 0, "", "yuv420p 64x48", "format YU12 64x48"},
    };
    char text[256], said[512];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && ready(cases[i].words); i++) {
        FREED_BY(camera_output_close) CameraOutput *output = NULL;
        const long before = size_of(record_log);
        FREED_BY(av_frame_free) AVFrame *frame = draw(cases[i].format, WIDTH, cases[i].height);
        frame->colorspace = cases[i].space;
        if (is_given(&output, frame)) {
            camera_output_text(output, text, sizeof(text));
            CHECK(strstr(text, "Fake Loopback (/dev/video9): ") && strstr(text, cases[i].text) &&
                      strstr(text, " at 29.97 fps"),
                  "%zu: '%s'", i, text);
        }
        read_log(before, said, sizeof(said));
        const int with_rate = strstr(said, "rate 30000/1001") != NULL;
        CHECK(strstr(said, cases[i].log) && with_rate == !strstr(cases[i].words, "norate"),
              "%zu: '%s'", i, said);
    }
}

/* Pictures that need no conversion are written and repeated bit for bit. */
TEST(pictures_are_written_bit_for_bit)
{
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12,
                                                 AV_PIX_FMT_YUV422P};
    for (int i = 0; i < 3 && ready(""); i++) {
        const enum AVPixelFormat format = formats[i];
        const int is_packed = format == AV_PIX_FMT_YUV422P;
        const int stride = (is_packed ? 2 : 1) * WIDTH;
        const size_t size = (size_t)stride * HEIGHT * (is_packed ? 2 : 3) / 2;
        FREED_BY(camera_output_close) CameraOutput *output = NULL;
        MediaError error = {0};
        FREED_BY(av_frame_free) AVFrame *frame = draw(format, WIDTH, HEIGHT);
        uint8_t *first = NULL, *again = NULL;
        int wrong = 0;
        if (is_given(&output, frame))
            first = written(size);
        for (int y = 0; first && y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const uint8_t *row = first + (size_t)stride * (size_t)y;
                wrong += row[is_packed ? 2 * x : x] != sample(frame, 0, x, y);
                if (is_packed)
                    wrong += row[2 * x + 1] != sample(frame, 1 + x % 2, x / 2, y);
                else if (y % 2 == 0 && format == AV_PIX_FMT_NV12)
                    wrong += first[(size_t)stride * (size_t)(HEIGHT + y / 2) + (size_t)x] !=
                             sample(frame, 1, x, y / 2);
                else if (y % 2 == 0) /* YU12: a plane of each chroma */
                    wrong += first[(size_t)stride * HEIGHT +
                                   (size_t)(stride / 2) * (size_t)(y / 2 + x % 2 * HEIGHT / 2) +
                                   (size_t)(x / 2)] != sample(frame, 1 + x % 2, x / 2, y / 2);
            }
        CHECK(first && !wrong, "%s: %d bytes differ", av_get_pix_fmt_name(format), wrong);
        if (output && CHECK(camera_output_repeat(output, 0, &error) == 1, "%s", error.text))
            again = written(2 * size);
        CHECK(again && memcmp(again, again + size, size) == 0, "the repeated picture differs");
        free(first);
        free(again);
    }
}

static void fill(AVFrame *frame, uint8_t luma)
{
    for (int p = 0; p < 3; p++)
        memset(frame->data[p], p ? 128 : luma, (size_t)frame->linesize[p] * (size_t)frame->height);
}

/* Full range is converted, because programs assume limited range for a camera's YUV. */
TEST(full_range_becomes_limited)
{
    static const uint8_t pairs[][2] = {{0, 16}, {255, 235}, {128, 126}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && ready(""); i++) {
        FREED_BY(camera_output_close) CameraOutput *output = NULL;
        FREED_BY(av_frame_free) AVFrame *frame = draw(AV_PIX_FMT_YUV422P, WIDTH, HEIGHT);
        frame->color_range = AVCOL_RANGE_JPEG;
        fill(frame, pairs[i][0]);
        uint8_t *data = is_given(&output, frame) ? written(2 * WIDTH * HEIGHT) : NULL;
        CHECK(data && abs(data[0] - pairs[i][1]) <= 1 && data[1] == 128, "%d becomes %d, %d",
              pairs[i][0], data ? data[0] : -1, data ? data[1] : -1);
        free(data);
    }
}

/* Later pictures are converted to the device's size and depth. */
TEST(size_and_depth_stay)
{
    FREED_BY(camera_output_close) CameraOutput *output = NULL;
    MediaError error = {0};
    if (!ready(""))
        return;
    AVFrame *first = draw(AV_PIX_FMT_YUV420P, WIDTH, HEIGHT);
    FREED_BY(av_frame_free) AVFrame *large = draw(AV_PIX_FMT_YUV444P, 2 * WIDTH, 2 * HEIGHT);
    FREED_BY(av_frame_free) AVFrame *deep = draw(AV_PIX_FMT_YUV420P10, WIDTH, HEIGHT);
    fill(large, 77);
    uint8_t *data = NULL;
    if (is_given(&output, first) &&
        CHECK(camera_output_write(output, large, 0, &error) >= 0, "%s", error.text))
        data = written(WIDTH * HEIGHT * 3 / 2);
    CHECK(data && data[0] == 77 && data[WIDTH * HEIGHT - 1] == 77 && data[WIDTH * HEIGHT] == 128,
          "a larger picture is not scaled to the device's size");
    free(data);
    data = NULL;
    if (output && CHECK(camera_output_write(output, deep, 0, &error) >= 0, "%s", error.text))
        data = written(WIDTH * HEIGHT * 3 / 2);
    int wrong = 0;
    for (int i = 0; data && i < WIDTH * HEIGHT; i++) {
        const int was = 16 + (i % WIDTH * 7 + i / WIDTH * 13) % 200;
        wrong += abs(data[i] - was) > 1;
    }
    CHECK(data && !wrong, "%d samples of a 10-bit picture are wrong", wrong);
    free(data);
    av_frame_free(&first);
}

TEST_MAIN
