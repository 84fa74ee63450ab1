/* Tests the parts of reports: sums over long videos, choice of pictures, noise of blocks, texts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "new_frame.h"
#include "report/report_samples.h"
#include "report/report_summary.h"
#include "report/report_text.h"

/* ---- sums ---- */

static ReportFrame make_frame(CheckRandom *random, int64_t number, int cut)
{
    ReportFrame frame = {.number = number,
                         .begin_us = number * 40000,
                         .end_us = (number + 1) * 40000,
                         .cut = cut,
                         .width = 64,
                         .height = 48,
                         .depth = 8};
    for (int i = 0; i < REPORT_FIGURES; i++)
        for (int side = 0; side < REPORT_SIDES; side++)
            frame.value.of[i][side] =
                i < REPORT_MABD ? check_below(random, 2550000) : REPORT_UNKNOWN;
    if (number % 7 == 3)
        frame.value.of[REPORT_NOISE][0] = REPORT_UNKNOWN;
    return frame;
}

static ReportPicture *make_picture(int64_t number, int64_t entropy)
{
    ReportPicture *p = calloc(1, sizeof(*p));
    if (!p)
        abort();
    *p = (ReportPicture){.number = number, .entropy = entropy, .width = 16, .height = 9};
    for (int i = 0; i < REPORT_CURVE; i++)
        p->curve[i] = (uint16_t)(i * 257);
    p->jpeg[0] = strdup("/9j/4AAQ");
    p->jpeg[1] = strdup("/9j/4AAR==");
    p->words = strdup("dark, clean: lifted x2.1, equalized by 37 %");
    return p;
}

static int same_sum(const ReportSum *a, const ReportSum *b)
{
    return a->count == b->count && a->sum == b->sum &&
           (!a->count || (a->least == b->least && a->most == b->most));
}

/* The points of a long video add up to the sums of all its frames. */
TEST(sums)
{
    enum { FRAMES = 9000 };
    ReportSummary s;
    ReportSum expected = {0}, points = {0};
    CheckRandom random = check_random(1);
    int64_t cuts = 0, shown = 0, frames = 0;
    if (!CHECK(report_summary_open(&s) == 0, "out of memory"))
        return;
    for (int64_t i = 0; i < FRAMES; i++) {
        const int cut = i && (check_below(&random, 3) == 0);
        ReportFrame frame = make_frame(&random, i, cut);
        const int wants = report_summary_wants(&s, &frame);
        const int64_t value = frame.value.of[REPORT_NOISE][0];
        cuts += cut;
        if (value != REPORT_UNKNOWN) {
            expected.least = expected.count && expected.least < value ? expected.least : value;
            expected.most = expected.count && expected.most > value ? expected.most : value;
            expected.sum += value;
            expected.count++;
        }
        report_summary_add(&s, &frame, wants ? make_picture(i, 50000) : NULL);
    }
    CHECK(s.all.frames == FRAMES && s.cuts == cuts && s.shots_seen == cuts + 1,
          "%ld shots after %ld cuts", (long)s.shots_seen, (long)cuts);
    CHECK(s.point_count <= REPORT_POINTS && s.point_count * s.step >= FRAMES, "%d points",
          s.point_count);
    CHECK(s.shot_count == REPORT_SHOTS, "%d shots", s.shot_count);
    ReportSums merged = {0};
    for (int i = 0; i < s.point_count; i++) {
        frames += s.points[i].frames;
        report_sum_merge(&merged, &s.points[i].sums);
    }
    points = merged.of[REPORT_NOISE][0];
    CHECK(frames == FRAMES, "%ld frames in points", (long)frames);
    CHECK(same_sum(&expected, &s.all.sums.of[REPORT_NOISE][0]), "sums of all frames differ");
    CHECK(same_sum(&expected, &points), "sums of the points differ");
    for (int i = 0; i < s.shot_count; i++) {
        const ReportPicture *p = s.shots[i].picture;
        const ReportSpan *span = &s.shots[i].span;
        shown += p != NULL;
        CHECK((p != NULL) == (i % s.pictured == 0), "picture of shot %d", i);
        CHECK(!p || (p->number >= span->first && p->number < span->first + span->frames),
              "the picture of shot %d is from another shot", i);
    }
    CHECK(shown > REPORT_PICTURED / 2 && shown <= REPORT_PICTURED, "%ld pictures", (long)shown);
    report_summary_close(&s);
}

/* A shot's picture is not black. */
TEST(black_frames)
{
    ReportSummary s;
    CheckRandom random = check_random(2);
    if (!CHECK(report_summary_open(&s) == 0, "out of memory"))
        return;
    for (int64_t i = 0; i < 200; i++) {
        ReportFrame frame = make_frame(&random, i, 0);
        const int64_t entropy = i >= 40 && i < 160 ? 0 : 60000;
        frame.value.of[REPORT_ENTROPY][REPORT_BEFORE] = entropy;
        const int wants = report_summary_wants(&s, &frame);
        report_summary_add(&s, &frame, wants ? make_picture(i, entropy) : NULL);
    }
    CHECK(s.shot_count == 1 && s.shots[0].picture && s.shots[0].picture->entropy > 0,
          "%d shots, or a black picture", s.shot_count);
    report_summary_close(&s);
}

/* MABD and flicker compare adjacent frames, except across cuts. */
TEST(changes)
{
    static const int means[][3] = {/* before, after, cut */
                                   {100, 110, 0},
                                   {102, 109, 0},
                                   {50, 60, 1},
                                   {49, 66, 0}};
    ReportSummary s;
    if (!CHECK(report_summary_open(&s) == 0, "out of memory"))
        return;
    for (int i = 0; i < 4; i++) {
        CheckRandom random = check_random(3);
        ReportFrame frame = make_frame(&random, i, means[i][2]);
        frame.value.of[REPORT_MEAN][0] = means[i][0] * REPORT_ONE;
        frame.value.of[REPORT_MEAN][1] = means[i][1] * REPORT_ONE;
        report_summary_add(&s, &frame, NULL);
    }
    const ReportSum *before = &s.all.sums.of[REPORT_MABD][0], *after = before + 1;
    const ReportSum *flicker = &s.all.sums.of[REPORT_FLICKER][REPORT_AFTER];
    CHECK(before->count == 2 && before->sum == (2 + 1) * REPORT_ONE, "before %ld",
          (long)before->sum);
    CHECK(after->count == 2 && after->sum == (1 + 6) * REPORT_ONE, "after %ld", (long)after->sum);
    CHECK(flicker->count == 2 && flicker->sum == (3 + 7) * REPORT_ONE, "flicker %ld",
          (long)flicker->sum);
    report_summary_close(&s);
}

/* ---- blocks ---- */

/* The sum of twelve uniform numbers: nearly Gaussian, with a standard deviation of 1. */
static double gaussian(CheckRandom *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += check_below(random, 1 << 20) / (double)(1 << 20);
    return sum;
}

/* Draws a still texture with noise: brighter by `more`, then multiplied by `gain`. */
static AVFrame *draw(int depth, uint64_t number, double sigma, double gain, double more)
{
    AVFrame *frame = new_frame(depth > 8 ? AV_PIX_FMT_GRAY10LE : AV_PIX_FMT_GRAY8, 320, 200);
    CheckRandom random = check_random(number);
    for (int y = 0; y < frame->height; y++)
        for (int x = 0; x < frame->width; x++) {
            const double tone = 60 + (x * 5 + y * 3) % 40 + more;
            const double code = (tone + sigma * gaussian(&random)) * gain * (depth > 8 ? 4 : 1);
            uint8_t *at = frame->data[0] + y * frame->linesize[0] + x * (depth > 8 ? 2 : 1);
            const int rounded = (int)lrint(code);
            at[0] = (uint8_t)rounded;
            if (depth > 8)
                at[1] = (uint8_t)(rounded >> 8);
        }
    return frame;
}

static ReportSamples samples[2]; /* of two frames */

/* Measures the noise of two drawn frames, before and after a gain. The second frame is brighter by
 * `more`. Returns 0 or -1 like block_samples_noise(). */
static int measure(int depth, double sigma, double gain, double more, double noise[2])
{
    const LumeqRect active = {3, 1, 310, 190};
    for (int i = 0; i < 4; i++) {
        const int later = i >= 2;
        AVFrame *frame =
            draw(depth, 10 + (uint64_t)later, sigma, i % 2 ? gain : 1, later ? more : 0);
        block_samples_take(&samples[later].of[i % 2], frame, active);
        av_frame_free(&frame);
    }
    samples[1].black = 16;
    return block_samples_noise(&samples[1], &samples[0], noise);
}

TEST(noise)
{
    for (int depth = 8; depth <= 10; depth += 2)
        for (int sigma = 1; sigma <= 4; sigma += 3) {
            double noise[2];
            if (!CHECK(measure(depth, sigma, 2, 0, noise) == 0, "the noise is unknown"))
                continue;
            /* The lower quartile of deviations of 64 samples is 6 % below their mean; rounding adds
             * some noise. */
            CHECK(noise[0] > 0.85 * sigma && noise[0] < 1.1 * sigma + 0.1,
                  "noise of %d measured as %g", sigma, noise[0]);
            CHECK(noise[1] > 1.85 * noise[0] && noise[1] < 2.1 * noise[0],
                  "noise is %g, and %g after a gain of 2", noise[0], noise[1]);
        }
}

TEST(no_noise)
{
    double noise[2] = {0};
    CHECK(measure(8, 0, 2, 0, noise) < 0, "a still picture has noise %g", noise[0]);
    CHECK(measure(8, 1, 2, 9, noise) < 0, "changing light counts as noise of %g", noise[0]);
}

TEST(contrast)
{
    FREED_BY(av_frame_free) AVFrame *frame = draw(8, 1, 0, 1, 0);
    const LumeqRect narrow = {0, 0, BLOCK_SIDE - 1, 100}, one = {2, 3, BLOCK_SIDE, BLOCK_SIDE};
    BlockSamples *blocks = &samples[0].of[0];
    double sum = 0, squares = 0;
    block_samples_take(blocks, frame, narrow);
    CHECK(blocks->count == 0 && isnan(block_samples_contrast(blocks)),
          "a block is found in an area narrower than a block");
    for (int i = 0; i < BLOCK_SIDE * BLOCK_SIDE; i++) {
        const int x = 2 + i % BLOCK_SIDE, y = 3 + i / BLOCK_SIDE;
        const double code = frame->data[0][y * frame->linesize[0] + x];
        sum += code / 64;
        squares += code * code / 64;
    }
    block_samples_take(blocks, frame, one);
    CHECK(blocks->count == 1, "%d blocks", blocks->count);
    CHECK(fabs(block_samples_contrast(blocks) - sqrt(squares - sum * sum)) < 1e-9,
          "contrast is %g, not %g", block_samples_contrast(blocks), sqrt(squares - sum * sum));
}

/* ---- texts ---- */

TEST(texts)
{
    CHECK(strcmp(report_time(3723456000).text, "1:02:03.5") == 0, "wrong hour");
    CHECK(strcmp(report_time(59960000).text, "1:00.0") == 0, "wrong minute");
    CHECK(strcmp(report_count(1234567).text, "1,234,567") == 0, "wrong million");
    CHECK(strcmp(report_count(100).text, "100") == 0, "wrong hundred");
}

TEST_MAIN
