/* The small pictures that a GPU's decoder is tried with are right: software decodes them. */
#include <string.h>

#include <libavcodec/avcodec.h>

#include "check.h"
#include "media/input/decoder_trial.h"

TEST(pictures)
{
    for (int i = 0; i < DECODER_TRIALS; i++) {
        MediaError error = {0};
        /* FFmpeg's own decoder of AV1 knows no software; other libraries do. */
        if (strcmp(decoder_trial_name(i), "av1") == 0 &&
            !avcodec_find_decoder_by_name("libdav1d") &&
            !avcodec_find_decoder_by_name("libaom-av1"))
            continue;
        const int ret = decoder_trial_run(i, NULL, &error);
        CHECK(ret == 0, "%s: %s", decoder_trial_name(i), error.text);
    }
}

TEST(no_gpu)
{
    AVBufferRef *gpu;
    MediaError error = {0};
    const int ret = decoder_trial_open(&gpu, 250, &error);
    CHECK(ret == MEDIA_INPUT && !gpu && *error.text, "GPU 250: %d %s", ret, error.text);
    decoder_trial_close(&gpu);
}

TEST_MAIN
