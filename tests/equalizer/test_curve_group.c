/*
 * A group of threads computes the same curve as one thread, in any order. ThreadSanitizer is
 * stricter than comparing bits: a missing barrier rarely escapes it.
 */
#include <string.h>

#include "../check.h"
#include "curve_threads.h"
#include "equalizer/curve.h"

#define FRAMES 6 /* each with the history of the earlier ones */

static uint32_t draw_codes(CheckRandom *random, int depth, int part)
{
    return (uint32_t)(check_below(random, 1 << (depth - 8)) + (part << (depth - 8)));
}

static CurveParams draw_params(CheckRandom *random)
{
    CurveParams p = {.depth = check_below(random, 3) ? 8 : 10};
    const int limited = check_below(random, 2);
    p.bins = 1 << p.depth;
    p.black = limited ? 16 << (p.depth - 8) : 0;
    p.white = limited ? 235 << (p.depth - 8) : p.bins - 1;
    p.alpha = 1 + (uint32_t)check_below(random, CURVE_ONE);
    p.strength = (uint32_t)check_below(random, CURVE_ONE + 1);
    p.clip = (uint32_t)check_below(random, 4) * CURVE_ONE;
    p.adaptive = check_below(random, 2);
    p.scene_cut = check_below(random, 2);
    p.chroma = check_below(random, 4) > 0;
    p.dither = check_below(random, 2);
    p.lift = check_below(random, 2);
    if (p.lift) {
        p.strength = CURVE_ONE;
        p.adaptive = 1;
        p.slow = 1 + (uint32_t)check_below(random, CURVE_ONE);
        p.denoise = (uint32_t)check_below(random, CURVE_ONE + 1);
        p.past = check_below(random, 4);
        if (check_below(random, 3))
            p.clip = CURVE_CLIP_AUTO;
    } else {
        p.stretch = check_below(random, 3) == 0;
        p.reference = p.depth == 8 && check_below(random, 4) == 0;
    }
    if (!p.reference && check_below(random, 4) == 0)
        p.light.lift = check_below(random, 6) << 24;
    return p;
}

/* One or two humps over mostly rare codes; sometimes only one code, or an empty histogram. */
static void draw_counts(CheckRandom *random, const CurveParams *p, uint32_t *counts)
{
    memset(counts, 0, LUMEQ_MAX_BINS * sizeof(counts[0]));
    const int kind = check_below(random, 8);
    for (int hump = 0; hump < kind / 2; hump++) {
        const uint32_t from = draw_codes(random, p->depth, check_below(random, 200));
        const uint32_t wide = draw_codes(random, p->depth, 2 + check_below(random, 50));
        for (uint32_t i = from; i < from + wide && i < (uint32_t)p->bins; i++)
            counts[i] += (uint32_t)check_below(random, 20000);
    }
    if (kind == 1)
        counts[check_below(random, p->bins)] = 1000000;
}

TEST(bits)
{
    static CurveWork work;
    static CurveBin now[CURVE_BINS];
    static CurveResult one[2], group[2];
    static CurveTable one_table, group_table;
    static uint32_t counts[LUMEQ_MAX_BINS];
    const int rounds = check_rounds(60);
    for (int round = 0; round < rounds; round++) {
        CheckRandom random = check_random((uint64_t)round);
        CurveParams p = draw_params(&random);
        memset(one, 0, sizeof(one));
        memset(group, 0, sizeof(group));
        for (int frame = 0; frame < FRAMES; frame++) {
            const CurveResult *before = &one[frame % 2], *group_before = &group[frame % 2];
            CurveResult *result = &one[1 - frame % 2], *group_result = &group[1 - frame % 2];
            memset(&one_table, 0, sizeof(one_table));
            memset(&group_table, 0, sizeof(group_table));
            p.frame = (uint32_t)frame;
            draw_counts(&random, &p, counts);
            for (int i = 0; i < p.bins; i++)
                now[i].hist = counts[i];
            curve_compute(&p, before, before->bin, result, now, &one_table, &work);
            memcpy(result->bin, now, (size_t)p.bins * sizeof(now[0]));
            const int error =
                curve_by_threads(&p, counts, group_before, group_result, &group_table);
            if (!CHECK(error == 0, "no threads: %s", strerror(error)))
                return;
            result->noise = group_result->noise = (uint32_t)check_below(&random, 400);
            CHECK(!memcmp(result, group_result, sizeof(*result)),
                  "round %d, frame %d: another curve%s", round, frame, p.lift ? ", lifted" : "");
            CHECK(!memcmp(&one_table, &group_table, sizeof(one_table)),
                  "round %d, frame %d: another table", round, frame);
        }
    }
}

TEST_MAIN
