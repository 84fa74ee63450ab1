/* Compares chroma's gain and limit with values by hand and with a model in double precision. */
#include <math.h>

#include "chroma_planes.h"

static CurveGain gain_of(int gain, int from, int to)
{
    return (CurveGain){
        .gain = (uint16_t)gain, .from = (uint16_t)from, .to = (uint16_t)to, .free = 0};
}

/* `in`, `out`: Cb and Cr of the input and expected output, in 8-bit codes from gray. `from`, `to`:
 * the pixel's luma before and after, counted from black or, if negative, from white. */
static const struct {
    int gain, from, to, in[2], out[2];
} limits[] = {
    {6144, -100, -75, {32, 8}, {40, 10}},       /* 15/8 of 40 reaches white */
    {6144, -100, -75, {8, 32}, {10, 40}},       /* the same with Cr */
    {6144, 62, 75, {-32, 8}, {-40, 10}},        /* 15/8 of 40 reaches black */
    {6144, 62, 75, {8, -32}, {10, -40}},        /* the same with Cr */
    {6144, 62, 75, {-16, -32}, {-20, -40}},     /* the first component to reach black counts */
    {6144, 80, 90, {-32, 16}, {-48, 24}},       /* just within the limit */
    {6144, -80, -60, {32, -8}, {32, -8}},       /* the gain may be limited to 1 */
    {6144, -80, -30, {32, 8}, {28, 7}},         /* or to less, but at least 7/8 */
    {6144, -80, 255, {32, 8}, {28, 7}},         /* even if luma becomes white */
    {6144, -30, -15, {32, 8}, {28, 7}},         /* already beyond white: counts as just at white */
    {6144, 30, 45, {-32, 8}, {-48, 12}},        /* already beyond black: counts as just at black */
    {6144, 0, 0, {-32, 8}, {-48, 12}},          /* the same at black */
    {6144, 0, 0, {32, 8}, {48, 12}},            /* there is room to white */
    {6144, -80, 255, {0, 0}, {0, 0}},           /* gray stays gray */
    {4096, -20, 255, {-112, 111}, {-112, 111}}, /* a gain of 1 changes nothing */
    {2048, -80, 255, {32, 8}, {16, 4}},         /* gains below 1 are not limited */
};

static uint32_t scale(int code, int gain, int add, int depth, int limited)
{
    const CurveLegal legal = curve_legal(depth, limited);
    return curve_chroma(code, (uint32_t)gain, (uint32_t)add, &legal);
}

TEST(limits_by_hand)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        for (int depth = 8; depth <= 16; depth++)
            for (int limited = 0; limited < 2; limited++) {
                const CurveLegal legal = curve_legal(depth, limited);
                const int unit = 1 << (depth - 8), white = limited ? 219 : 255;
                const int from = limits[i].from, to = limits[i].to;
                const CurveGain over =
                    gain_of(limits[i].gain, 256 * (from < 0 ? white + from : from),
                            256 * (to < 0 ? white + to : to));
                const int *in = limits[i].in;
                const int taken = (int)curve_pixel_gain(over, (128 + in[0]) * unit,
                                                        (128 + in[1]) * unit, depth, &legal);
                for (int k = 0; k < 2; k++) {
                    const int out =
                        (int)scale((128 + in[k]) * unit, taken, CURVE_ROUND, depth, limited);
                    CHECK(out == (128 + limits[i].out[k]) * unit,
                          "case %zu, depth %d, limited %d: component %d is %g, not %d", i, depth,
                          limited, k, out / (double)unit - 128, limits[i].out[k]);
                }
            }
}

TEST(gains)
{
    double worst = 0;
    for (int in = -40; in < 256; in++) {
        for (int out = -40 * 256; out < 256 * 256; out += 61) {
            const double gain = curve_gain(in * 256, out, curve_gain_rule(0)) / 4096.0;
            worst = fmax(worst, fabs(gain - model_gain(in, out / 256.0)));
        }
    }
    CHECK(worst < 4.0 / 4096, "off by %g", worst);
}

/* The model's results are truncated to 4096ths. */
TEST(limit_is_the_model)
{
    CheckRandom random = check_random(2);
    int wrong = 0, limited = 0;
    for (int n = 0; n < 3000000; n++) {
        const int depth = 8 + check_below(&random, 9), full = check_below(&random, 2);
        const int unit = 1 << (depth - 8), to = check_below(&random, 65536);
        const int from = check_below(&random, 65281);
        const int cb = check_below(&random, 256 * unit), cr = check_below(&random, 256 * unit);
        const CurveGain over = gain_of(2000 + check_below(&random, 5373), from, to);
        const CurveLegal legal = curve_legal(depth, !full);
        const double wanted =
            model_limit(over.gain / 4096.0, (double)cb / unit - 128, (double)cr / unit - 128,
                        from / 256.0, to / 256.0, full ? 255 : 219);
        const uint32_t gain = curve_pixel_gain(over, cb, cr, depth, &legal);
        wrong += gain != (uint32_t)(wanted * 4096);
        limited += gain < over.gain;
    }
    CHECK(!wrong, "%d gains differ from the model", wrong);
    CHECK(limited > 1000000, "only %d gains are limited", limited);
}

/* Colours up to curve_free() codes from gray get the whole gain. One code further, a colour on at
 * least one side of gray does not. */
TEST(free_of_the_limit)
{
    CheckRandom random = check_random(4);
    int wrong = 0, cautious = 0, ended = 0;
    for (int n = 0; n < 1000000; n++) {
        const int depth = 8 + check_below(&random, 9), middle = 1 << (depth - 1);
        const CurveLegal legal = curve_legal(depth, check_below(&random, 2));
        const int gain = 4000 + check_below(&random, 3373), from = check_below(&random, 65281);
        CurveGain over = gain_of(gain, from, check_below(&random, 65536));
        const int free = curve_free(over, depth, legal.range);
        over.free = (uint16_t)free;
        const int far = free < middle ? free : middle;
        const int other = check_below(&random, 2 * far + 1) - far;
        wrong += curve_pixel_gain(over, middle - far, middle + other, depth, &legal) != over.gain;
        wrong += curve_pixel_gain(over, middle + other, middle + far - (far == middle), depth,
                                  &legal) != over.gain;
        over.free = 0;
        wrong += curve_pixel_gain(over, middle - far, middle + other, depth, &legal) != over.gain;
        if (free >= middle - 1)
            continue;
        ended++;
        cautious += curve_pixel_gain(over, middle - free - 1, middle, depth, &legal) == over.gain &&
                    curve_pixel_gain(over, middle + free + 1, middle, depth, &legal) == over.gain;
    }
    CHECK(!wrong, "%d colours within curve_free() are limited", wrong);
    CHECK(!cautious, "%d colours beyond curve_free() are not limited", cautious);
    CHECK(ended > 300000, "only %d gains are limited", ended);
}

/* The luma of gray, or of a colour with enough room, follows the curve. Other luma stays between
 * its input and the curve and leaves room for 7/8 of the colour. To within 1/16 code, luma
 * increases with the curve and decreases with more colour. */
TEST(luma_is_bounded)
{
    const uint32_t range = 219 << 8;
    int wrong = 0, bounded = 0;
    for (uint32_t from = 0; from <= range; from += 251)
        for (uint32_t far = 0; far <= 112 << 8; far += 509) {
            const uint32_t kept = 15 * far / 8 * 7 / 8;
            uint32_t last = 0;
            for (uint32_t to = from; to <= range; to += 127) {
                const uint32_t out = curve_bounded(from, to, far, range);
                const uint32_t less = curve_bounded(from, to, far + 509, range);
                wrong += out < from || out > to || out + 16 < last || less > out + 16;
                wrong += !far && out != to;
                wrong += to + kept + 15 * far / 16 <= range && out != to;
                wrong += out > from && out + kept > range + 16;
                bounded += out < to;
                last = out;
            }
        }
    CHECK(!wrong, "%d luma values are wrong", wrong);
    CHECK(bounded > 100000, "only %d luma values are bounded", bounded);
    CHECK(curve_bounded(110 << 8, 180 << 8, 60 << 8, range) == 30512, "a blue: %u",
          curve_bounded(110 << 8, 180 << 8, 60 << 8, range));
    CHECK(curve_bounded_code(126, 196, 188, 8, 16 << 8, range) == 135, "its code: %u",
          curve_bounded_code(126, 196, 188, 8, 16 << 8, range));
}

TEST_MAIN
