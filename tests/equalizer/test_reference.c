/* The reference mode gives the output of OpenCV's equalizeHist, which opencv_oracle.h stores. */
#include "lumeq/lumeq.h"

#include "backends.h"
#include "opencv_oracle.h"

static const LumeqParams reference = {.reference = 1};

/* The output code of each input code, -1 for codes that the picture lacks. */
static void fill_table(int16_t *table, const CheckRect *in, const CheckRect *out)
{
    for (int i = 0; i < 256; i++)
        table[i] = -1;
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            table[check_row(in, y)[x]] = check_row(out, y)[x];
}

/* Codes that the picture lacks map like the next lower code. */
static int expected_code(const int16_t *table, int code)
{
    int first = 0;
    while (table[first] < 0)
        first++;
    int last = 255;
    while (table[last] < 0)
        last--;
    if (first == last) /* a picture of one code stays unchanged, and its curve is flat */
        return first;
    while (code > first && table[code] < 0)
        code--;
    return code < first ? 0 : table[code];
}

BACKEND_TEST(opencv)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = must_open(id, 0);
    set_params(eq, &reference);
    for (int i = 0; i < (int)(sizeof(opencv_oracle) / sizeof(opencv_oracle[0])); i++) {
        const int width = opencv_oracle[i].width, height = opencv_oracle[i].height;
        FREED_BY(check_rect_free) CheckRect in = check_rect(width, height, width + 5, 1, 0);
        FREED_BY(check_rect_free) CheckRect out = check_rect(width, height, -(width + 3), 2, 64);
        picture_fill(&in, opencv_oracle[i].picture, opencv_oracle[i].seed);
        CHECK(picture_hash(&in) == opencv_oracle[i].in_hash, "picture %d is not OpenCV's", i);

        /* The range tag is ignored. */
        FrameStats stats = {0};
        const LumeqFrame frame = frame_of(&in, &out, (LumeqRange)(i & 1), LUMEQ_NO_TIME);
        run_frame(eq, &frame, &stats);
        CHECK(picture_hash(&out) == opencv_oracle[i].out_hash, "picture %d differs from OpenCV's",
              i);
        CHECK(check_rect_intact(&out), "picture %d: writes outside", i);
        int16_t table[256];
        fill_table(table, &in, &out);
        for (int code = 0; code < 256; code++) {
            const int expected = expected_code(table, code);
            CHECK(stats.curve[code] == (uint32_t)expected << 16, "picture %d, code %d: %g, not %d",
                  i, code, stats.curve[code] / 65536.0, expected);
        }
        check_stats(&stats, &in, &out);
        CHECK(!stats.values.scene_cut && stats.values.curve_speed == 0,
              "a reference frame depends on earlier frames");
    }
}

/* Settings that OpenCV lacks change nothing. */
BACKEND_TEST(settings_are_ignored)
{
    static const LumeqParams settings[] = {
        {.reference = 1, .chroma = LUMEQ_CHROMA_KEEP, .bars = LUMEQ_BARS_IGNORE},
        {.reference = 1, .strength = 0.5, .clip = 1, .smooth = 10, .scene_cut = 1, .dither = 1},
        {.reference = 7, .strength = 1, .adaptive = 1, .clip = 1000, .smooth = 3600},
    };
    CheckRect in = check_rect(65, 33, 65, 0, 0), out = check_rect(65, 33, 65, 0, 64);
    picture_fill(&in, PICTURE_DARK, 6);
    const uint64_t expected = opencv_oracle[15].out_hash;
    CHECK(picture_hash(&in) == opencv_oracle[15].in_hash, "opencv_oracle.h has other pictures");

    LumeqEqualizer *eq = must_open(id, 0);
    for (int i = 0; i < (int)(sizeof(settings) / sizeof(settings[0])); i++) {
        const LumeqFrame frame = frame_of(&in, &out, LUMEQ_RANGE_LIMITED, i * (int64_t)40000000);
        set_params(eq, &settings[i]);
        run_frame(eq, &frame, NULL);
        CHECK(picture_hash(&out) == expected, "settings %d change the result", i);
    }
    lumeq_destroy(&eq);
    check_rect_free(&in);
    check_rect_free(&out);
}

TEST_MAIN
