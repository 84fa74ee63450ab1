/* The decoder that --hwdec chooses by job, codec and cores; the table is in src/app/README.md. */
#include "app/engine.h"
#include "check.h"

static Options options_of(int hwdec, int headless, int cores)
{
    Options options = {.hwdec = hwdec, .null_output = headless, .threads = cores};
    return options;
}

TEST(by_itself)
{
    static const struct {
        enum AVCodecID codec;
        int most; /* cores, up to which the GPU decodes for a file */
    } rows[] = {{AV_CODEC_ID_H264, 4}, {AV_CODEC_ID_HEVC, 4}, {AV_CODEC_ID_VP9, 4},
                {AV_CODEC_ID_VP8, 3},  {AV_CODEC_ID_AV1, 3},  {AV_CODEC_ID_MPEG2VIDEO, 0},
                {AV_CODEC_ID_NONE, 4}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int cores = 1; cores < 17; cores++) {
            const Options written = options_of(OPTIONS_HWDEC_AUTO, 1, cores);
            const Options shown = options_of(OPTIONS_HWDEC_AUTO, 0, cores);
            CHECK(hwdec_choice(&written, rows[i].codec) == (cores <= rows[i].most), "%s, %d cores",
                  avcodec_get_name(rows[i].codec), cores);
            CHECK(hwdec_choice(&shown, rows[i].codec), "not in a window, %d cores", cores);
        }
}

TEST(as_asked)
{
    for (int i = 0; i < 4; i++) {
        const Options nvdec = options_of(OPTIONS_HWDEC_NVDEC, i & 1, i & 2 ? 16 : 1);
        const Options no = options_of(OPTIONS_HWDEC_NO, i & 1, i & 2 ? 16 : 1);
        CHECK(hwdec_choice(&nvdec, AV_CODEC_ID_H264), "not used on request");
        CHECK(!hwdec_choice(&no, AV_CODEC_ID_H264), "used although forbidden");
    }
}

int main(int argc, char **argv)
{
    return check_file(argc, argv);
}
