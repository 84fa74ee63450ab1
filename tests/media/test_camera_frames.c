/* A (fake) camera's packets: their content, lifetime and colours, and missed frames. */
#include <linux/videodev2.h>
#include <pthread.h>

#include <libavutil/time.h>

#include "camera/pattern.h"
#include "fake_camera.h"

/* A YUYV frame is exactly one page of memory. */
#define WIDTH 64
#define HEIGHT 32

static Source *open_source(const char *modes, const char *words)
{
    Source *source = NULL;
    MediaError error;
    fake_camera_has(modes);
    fake_camera_is(words);
    CHECK(fake_camera_open(&source, &(CameraOptions){0}, &error) == 0, "%s: %s", modes, error.text);
    return source;
}

static uint32_t code_of(const char *modes)
{
    if (strncmp(modes, "Y16-", 4) == 0)
        return V4L2_PIX_FMT_Y16_BE;
    return v4l2_fourcc((uint32_t)modes[0], (uint32_t)modes[1], (uint32_t)modes[2],
                       (uint32_t)modes[3]);
}

static int is_white(const uint8_t *sample, uint32_t code)
{
    if (code == V4L2_PIX_FMT_Y12)
        return (sample[0] | sample[1] << 8) >= 1 << 11;
    return sample[code == V4L2_PIX_FMT_Y16] >= 128;
}

/* The number that a frame shows: 16 fields in its top eighth, one for each bit. */
static unsigned number_of(const AVPacket *packet, uint32_t code)
{
    const unsigned row = raw_row(code, WIDTH);
    const uint8_t *luma = packet->data + (size_t)row * (HEIGHT / 16);
    unsigned number = 0;
    for (unsigned i = 0; i < 16; i++)
        number = number << 1 | (unsigned)is_white(&luma[(2 * i + 1) * row / 32 & ~1u], code);
    return number;
}

/* True if the packet is exactly the frame of this number. */
static int holds(const AVPacket *packet, uint32_t code, unsigned number)
{
    static _Thread_local uint8_t frame[2 * WIDTH * HEIGHT];
    const size_t size = raw_size(code, HEIGHT, raw_row(code, WIDTH));
    draw_raw(frame, code, WIDTH, HEIGHT, raw_row(code, WIDTH), number);
    return packet->size == (int)size && memcmp(packet->data, frame, size) == 0;
}

/* ---- rows ---- */

static void check_rows(const char *modes, const char *words)
{
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    FREED_BY(source_close) Source *source = open_source(modes, words);
    const uint32_t code = code_of(modes);
    for (int i = 0; source && i < 4; i++) {
        if (CHECK(source_read(source, packet) == 0, "%s, '%s': no frame", modes, words))
            CHECK(holds(packet, code, number_of(packet, code)), "%s, '%s': frame %d has %d bytes",
                  modes, words, i, packet->size);
        av_packet_unref(packet);
    }
}

TEST(row_padding_is_removed)
{
    static const char *const modes[] = {"YUYV 64x32@60", "NV12 64x32@60", "YU12 64x32@60",
                                        "GREY 64x32@60", "Y12  64x32@60", "Y16- 64x32@60"};
    for (int i = 0; i < 6 && fake_camera_ready(); i++) {
        check_rows(modes[i], "");
        check_rows(modes[i], "pad=2");
        check_rows(modes[i], "pad=64");
        check_rows(modes[i], "nosize");
        check_rows(modes[i], "over");
    }
}

/* ---- missing frames ---- */

/* Reads `count` frames. If *first is negative, *first becomes the number of the first frame read.
 * Returns the number of frames captured from *first to the last frame read. */
static int64_t read_frames(Source *source, uint32_t code, int count, int64_t *first)
{
    FREED_BY(av_packet_free) AVPacket *packet = av_packet_alloc();
    unsigned number = 0;
    for (int i = 0; i < count; i++) {
        if (!CHECK(source_read(source, packet) == 0, "no frame comes"))
            break;
        number = number_of(packet, code);
        CHECK(holds(packet, code, number), "frame %u is damaged", number);
        CHECK(*first < 0 || number > *first, "%u after %lld", number, (long long)*first);
        if (*first < 0)
            *first = number;
        av_packet_unref(packet);
    }
    return number - *first + 1;
}

/* Missed frames are counted only if the driver numbers its frames. */
static void check_missed(const char *words, int is_counted)
{
    int64_t first = -1;
    FREED_BY(source_close) Source *source = open_source("YUYV 64x32@60", words);
    if (!source)
        return;
    read_frames(source, V4L2_PIX_FMT_YUYV, 3, &first);
    av_usleep(500000); /* 30 frames; the device keeps eight */
    const int64_t had = read_frames(source, V4L2_PIX_FMT_YUYV, 17, &first);
    const CameraStatus status = camera_status(source->camera);
    CHECK(had >= 20 + 20, "%lld frames in all", (long long)had);
    CHECK(status.missed == (is_counted ? had - 20 : 0) && status.frames == 20 && !status.corrupt,
          "'%s': %lld missed, %lld read, %lld damaged of %lld", words, (long long)status.missed,
          (long long)status.frames, (long long)status.corrupt, (long long)had);
}

TEST_IF(missed_frames_are_counted, fake_camera_ready())
{
    check_missed("", 1);
    check_missed("uncounted", 0);
}

/* Damaged frames are skipped and counted, but not as missed. */
static void check_damaged(const char *words)
{
    int64_t first = -1;
    FREED_BY(source_close) Source *source = open_source("YUYV 64x32@60", "");
    if (!source)
        return;
    read_frames(source, V4L2_PIX_FMT_YUYV, 3, &first);
    fake_camera_is(words);
    int64_t had = read_frames(source, V4L2_PIX_FMT_YUYV, 14, &first);
    fake_camera_is("");
    had = read_frames(source, V4L2_PIX_FMT_YUYV, 3, &first);
    const CameraStatus status = camera_status(source->camera);
    CHECK(status.corrupt > 0 && status.frames == 20 && status.missed + status.corrupt == had - 20,
          "'%s': %lld damaged, %lld missed, %lld read of %lld", words, (long long)status.corrupt,
          (long long)status.missed, (long long)status.frames, (long long)had);
}

TEST_IF(damaged_frames_are_counted, fake_camera_ready())
{
    check_damaged("flagged=3");
    check_damaged("short=3");
}

/* ---- ownership of memory ---- */

/* True if the device's buffers are mapped. */
static int is_mapped(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (CHECK(maps, "cannot read the mappings") && fgets(line, sizeof(line), maps))
        found |= strstr(line, "fake camera") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* A packet is a copy, so it stays valid when the camera's buffers are unmapped. */
TEST_IF(packets_survive_unplugging, fake_camera_ready())
{
    FREED_BY(av_packet_free) AVPacket *held = av_packet_alloc(), *packet = av_packet_alloc();
    FREED_BY(source_close) Source *source = open_source("YUYV 64x32@60", "");
    if (!source || !CHECK(source_read(source, held) == 0, "no frame comes"))
        return;
    const unsigned number = number_of(held, V4L2_PIX_FMT_YUYV);
    CHECK(is_mapped(), "the buffers are not mapped");
    fake_camera_is("gone");
    int ret = 0;
    while (ret == 0) {
        ret = source_read(source, packet);
        av_packet_unref(packet);
    }
    CHECK(ret == AVERROR_EOF, "source_read() returns %d", ret);
    CHECK(!is_mapped(), "the buffers of an unplugged camera are mapped");
    CHECK(holds(held, V4L2_PIX_FMT_YUYV, number), "the packet has changed");
}

/* ---- waiting ---- */

static int64_t happened; /* time of the event, set before its thread ends */

static void *unplug(void *opaque)
{
    (void)opaque;
    av_usleep(200000);
    fake_camera_is("gone");
    happened = av_gettime_relative();
    return NULL;
}

static void *stop(void *opaque)
{
    (void)opaque;
    av_usleep(200000);
    atomic_store(&fake_stop, 1);
    happened = av_gettime_relative();
    return NULL;
}

static void check_wait(void *(*what)(void *), int expected)
{
    pthread_t thread;
    int ret = 0;
    AVPacket *packet = av_packet_alloc();
    Source *source = open_source("YUYV 64x32@1", "");
    if (source && CHECK(pthread_create(&thread, NULL, what, NULL) == 0, "no thread")) {
        while (ret == 0) {
            ret = source_read(source, packet);
            av_packet_unref(packet);
        }
        const int64_t end = av_gettime_relative();
        pthread_join(thread, NULL);
        CHECK(ret == expected, "source_read() returns %d", ret);
        CHECK(end - happened < CHECK_SLOWER * 500000, "the wait ends %lld us after the event",
              (long long)(end - happened));
    }
    source_close(&source);
    av_packet_free(&packet);
    atomic_store(&fake_stop, 0);
}

TEST_IF(events_end_a_wait, fake_camera_ready())
{
    check_wait(unplug, AVERROR_EOF);
    check_wait(stop, AVERROR_EXIT);
}

/* ---- colours ---- */

TEST(colours)
{
    static const struct {
        int space, encoding, quantization, transfer;
        int matrix, range, primaries, curve;
    } all[] = {
        {V4L2_COLORSPACE_DEFAULT, 0, 0, 0, AVCOL_SPC_SMPTE170M, AVCOL_RANGE_UNSPECIFIED,
         AVCOL_PRI_UNSPECIFIED, AVCOL_TRC_UNSPECIFIED},
        {V4L2_COLORSPACE_SRGB, 0, 0, 0, AVCOL_SPC_SMPTE170M, AVCOL_RANGE_UNSPECIFIED,
         AVCOL_PRI_BT709, AVCOL_TRC_UNSPECIFIED},
        {V4L2_COLORSPACE_SRGB, V4L2_YCBCR_ENC_709, V4L2_QUANTIZATION_FULL_RANGE,
         V4L2_XFER_FUNC_SRGB, AVCOL_SPC_BT709, AVCOL_RANGE_JPEG, AVCOL_PRI_BT709,
         AVCOL_TRC_IEC61966_2_1},
        {V4L2_COLORSPACE_REC709, 0, V4L2_QUANTIZATION_LIM_RANGE, V4L2_XFER_FUNC_709,
         AVCOL_SPC_BT709, AVCOL_RANGE_MPEG, AVCOL_PRI_BT709, AVCOL_TRC_BT709},
        {V4L2_COLORSPACE_JPEG, 0, 0, 0, AVCOL_SPC_SMPTE170M, AVCOL_RANGE_JPEG, AVCOL_PRI_BT709,
         AVCOL_TRC_UNSPECIFIED},
        {V4L2_COLORSPACE_BT2020, 0, 0, V4L2_XFER_FUNC_SMPTE2084, AVCOL_SPC_BT2020_NCL,
         AVCOL_RANGE_UNSPECIFIED, AVCOL_PRI_BT2020, AVCOL_TRC_SMPTE2084},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && fake_camera_ready(); i++) {
        char words[64];
        snprintf(words, sizeof(words), "colours=%d/%d/%d/%d", all[i].space, all[i].encoding,
                 all[i].quantization, all[i].transfer);
        FREED_BY(source_close) Source *source = open_source("YUYV 64x32@60", words);
        if (!source)
            return;
        const AVCodecParameters *par = source->video->codecpar;
        CHECK((int)par->color_space == all[i].matrix && (int)par->color_range == all[i].range &&
                  (int)par->color_primaries == all[i].primaries &&
                  (int)par->color_trc == all[i].curve,
              "%s: matrix %d, range %d, primaries %d, transfer %d", words, par->color_space,
              par->color_range, par->color_primaries, par->color_trc);
    }
}

TEST_MAIN
