/* Media files. An input is such a file, which is opened, demuxed and decoded. */
#include <libavutil/avutil.h>

#include "fuzz.h"
#include "media/convert.h"
#include "media/input/decoder.h"

#define MOST_PIXELS (256 * 256)
#define MOST_FRAMES 20
#define MOST_PACKETS 200

int fuzz_valid;

/* Takes all decoded frames. Returns 1 if the decoder needs another packet, 0 at the end, after a
 * failure or at MOST_FRAMES. */
static int take_frames(Decoder *decoder, AVFrame *frame, int *frames)
{
    MediaError error = {0};
    int ret;
    while ((ret = decoder_receive(decoder, frame, &error)) == 0 && *frames < MOST_FRAMES) {
        FUZZ_CHECK(frame->pts != AV_NOPTS_VALUE && frame->width > 0 && frame->height > 0 &&
                       convert_is_direct((enum AVPixelFormat)frame->format),
                   "an incomplete frame");
        ++*frames;
        av_frame_unref(frame);
    }
    av_frame_unref(frame);
    FUZZ_CHECK(ret != MEDIA_INPUT || error.text[0], "%d without a reason", ret);
    return ret == AVERROR(EAGAIN);
}

static void decode(Source *source)
{
    MediaError error = {0};
    Decoder *decoder = NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    const DecoderOptions options = {.threads = 1};
    FUZZ_CHECK(packet && frame, "out of memory");
    int ret = decoder_open(&decoder, source, &options, &error), frames = 0;
    FUZZ_CHECK(ret == 0 || error.text[0], "%d without a reason", ret);
    for (int n = 0; ret == 0 && n < MOST_PACKETS && frames < MOST_FRAMES; n++) {
        const int read = source_read(source, packet);
        if (read == 0 && packet->stream_index != source->video->index) {
            av_packet_unref(packet);
            continue;
        }
        while ((ret = decoder_send(decoder, read < 0 ? NULL : packet)) == AVERROR(EAGAIN) &&
               take_frames(decoder, frame, &frames))
            continue;
        av_packet_unref(packet);
        if (!take_frames(decoder, frame, &frames) || read < 0)
            break;
    }
    fuzz_valid += frames > 0;
    decoder_close(&decoder);
    av_frame_free(&frame);
    av_packet_free(&packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const atomic_int never;
    char path[32];
    const int file = fuzz_file(bytes, size, path);
    const SourceOptions options = {
        .path = path, .max_pixels = MOST_PIXELS, .stop = &never, .open_timeout_s = 5};
    MediaError error = {0};
    Source *source = NULL;
    av_log_set_level(AV_LOG_QUIET);
    const int ret = source_open(&source, &options, &error);
    FUZZ_CHECK((ret == 0) == (source != NULL) && (ret == 0 || error.text[0]), "%d: %s", ret,
               error.text);
    if (source)
        decode(source);
    source_close(&source);
    FUZZ_CHECK(close(file) == 0, "cannot close a file");
    return 0;
}
