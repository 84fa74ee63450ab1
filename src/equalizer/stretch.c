/* Stretches gray pictures of 9 to 16 bits that use few codes, as from thermal cameras: measures the
 * used range, and maps it linearly to most of the codes. */
#include <stdlib.h>
#include <string.h>

#include "equalizer/backend.h"
#include "equalizer/last_error.h"

#define CODES 65536

/* Stretching of a stream begins when a picture spans less than SLIVER percent of all codes, and
 * ends when a picture spans SLIVER_HELD percent. */
#define SLIVER 8
#define SLIVER_HELD 16

/* A picture has content if its codes span more than this many standard deviations of its noise.
 * Noise alone spans about 6. */
#define NOISE_FACTOR 10

/* At each end, 1 in OUTLIERS samples is ignored. Dead pixels are fewer. */
#define OUTLIERS 1000

/* Second differences of normal noise have a median magnitude of 1.652 standard deviations. */
#define MEDIAN_NUM 1652
#define MEDIAN_DEN 1000

/* About this many samples are measured per frame; some rows of larger frames are skipped. */
#define ENOUGH_SAMPLES (1 << 18)

/* Codes outside the window share the margins at the output's ends, each 1 / MARGIN of all codes.
 * NEAR() is the part for codes at most one window length away, such as a small hot spot. */
#define MARGIN 16
#define NEAR(margin) ((margin)*3 / 4)

/* Time constant with which a stream's window follows the pictures, and the longest step of time. */
#define FOLLOW_US INT64_C(2000000)
#define MAX_STEP_US INT64_C(1000000)

/* A stream's window has fractional codes, because small steps add up. */
#define FRACTION 4096

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

static int greater(int a, int b)
{
    return a > b ? a : b;
}

static int check_gray(const LumeqImage *image)
{
    if (!image || !image->plane[0] || image->plane[1] || image->memory != LUMEQ_MEMORY_HOST ||
        image->depth < 9 || image->depth > 16 || image->shift < 0 ||
        image->shift > 16 - image->depth || image->width < 1 || image->width > LUMEQ_MAX_SIDE ||
        image->height < 1 || image->height > LUMEQ_MAX_SIDE)
        return lumeq_refuse("only gray pictures of 9 to 16 bits in host memory can be stretched");
    return 0;
}

static const uint16_t *row_of(const LumeqImage *image, int y)
{
    return (const uint16_t *)(const void *)((const uint8_t *)image->plane[0] +
                                            y * image->stride[0]);
}

/* ---- measuring ---- */

typedef struct Counts {
    uint32_t codes[CODES];
    /* histogram of second differences; the last bin includes larger ones */
    uint32_t differences[CODES];
    int64_t samples, difference_count;
} Counts;

static void count_row(Counts *counts, const uint16_t *row, int width, int shift)
{
    for (int x = 0; x < width; x++)
        counts->codes[row[x] >> shift]++;
    for (int x = 1; x + 1 < width; x++) {
        const int d = abs((row[x - 1] >> shift) - 2 * (row[x] >> shift) + (row[x + 1] >> shift));
        counts->differences[lesser(d, CODES - 1)]++;
    }
    counts->samples += width;
    counts->difference_count += greater(width - 2, 0);
}

/* The first code at which the cumulative count exceeds `skip`. */
static int code_above(const uint32_t *counts, int64_t skip)
{
    int64_t sum = 0;
    int code = 0;
    for (; code < CODES - 1; code++) {
        sum += counts[code];
        if (sum > skip)
            break;
    }
    return code;
}

int lumeq_measure_codes(const LumeqImage *in, LumeqCodes *used, int *noise)
{
    if (!used)
        return lumeq_refuse("`used` is NULL");
    if (check_gray(in) < 0)
        return LUMEQ_ERR_ARGUMENT;
    Counts *counts = calloc(1, sizeof(*counts));
    if (!counts)
        return lumeq_no_memory();
    const int64_t samples = (int64_t)in->width * in->height;
    const int step = (int)(samples / ENOUGH_SAMPLES) + 1;
    for (int y = 0; y < in->height; y += step)
        count_row(counts, row_of(in, y), in->width, in->shift);
    const int64_t skip = counts->samples / OUTLIERS;
    const int median = code_above(counts->differences, counts->difference_count / 2);
    const int deviation = greater((median * MEDIAN_DEN + MEDIAN_NUM / 2) / MEDIAN_NUM, 1);
    used->low = code_above(counts->codes, skip);
    used->high = code_above(counts->codes, counts->samples - skip - 1);
    if (noise)
        *noise = deviation;
    free(counts);
    return used->high - used->low > NOISE_FACTOR * deviation;
}

/* ---- the window of a stream ---- */

struct LumeqStretch {
    LumeqCodes fixed; /* high 0: none, the window follows the pictures */
    LumeqCodes window;
    int64_t low, high; /* of the window, in 1 / FRACTION codes */
    int has_window;    /* low and high are set; else the next picture sets them at once */
    int is_on;         /* the stream is stretched */
    int64_t last_us;
    LumeqCodes shown, levels; /* parameters of `table`; shown.high 0: not built */
    uint16_t table[CODES];
};

/* The codes of black and white. */
static LumeqCodes levels_of(const LumeqImage *image)
{
    const int depth = image->depth;
    return image->range == LUMEQ_RANGE_FULL ? (LumeqCodes){0, (1 << depth) - 1}
                                            : (LumeqCodes){16 << (depth - 8), 235 << (depth - 8)};
}

int lumeq_is_sliver(const LumeqCodes *used, const LumeqCodes *all, int held)
{
    if (!used || !all)
        return lumeq_refuse("`used` or `all` is NULL");
    return (used->high - used->low) * 100 < (held ? SLIVER_HELD : SLIVER) * (all->high - all->low);
}

static void step(int64_t *at, int code, int64_t us)
{
    *at += ((int64_t)code * FRACTION - *at) * us / (FOLLOW_US + us);
}

/* Updates the window. A picture without content, as with a capped lens, changes nothing. */
static int update_window(LumeqStretch *s, LumeqCodeRange mode, const LumeqImage *in, int64_t time)
{
    const LumeqCodes levels = levels_of(in);
    const int64_t now = time / 1000, apart = now - s->last_us;
    const int64_t us = apart < 0 ? 0 : apart < MAX_STEP_US ? apart : MAX_STEP_US;
    LumeqCodes used = {0, 0};
    const int ret = lumeq_measure_codes(in, &used, NULL);
    s->last_us = now;
    if (ret <= 0)
        return ret;
    s->is_on = mode == LUMEQ_CODE_RANGE_USED || lumeq_is_sliver(&used, &levels, s->is_on);
    const LumeqCodes to = s->is_on ? used : levels;
    if (s->has_window) {
        step(&s->low, to.low, us);
        step(&s->high, to.high, us);
    } else {
        s->low = (int64_t)to.low * FRACTION;
        s->high = (int64_t)to.high * FRACTION;
    }
    s->has_window = 1;
    s->window.low = (int)(s->low / FRACTION);
    s->window.high = (int)((s->high + FRACTION - 1) / FRACTION);
    return 0;
}

static int is_same(LumeqCodes a, LumeqCodes b)
{
    return a.low == b.low && a.high == b.high;
}

int lumeq_stretch_window(LumeqStretch *s, LumeqCodeRange mode, const LumeqImage *in, int64_t time,
                         LumeqCodes *window)
{
    if (!s || !window || mode < LUMEQ_CODE_RANGE_FULL || mode > LUMEQ_CODE_RANGE_USED)
        return lumeq_refuse("`stretch` or `window` is NULL, or `mode` is unknown");
    if (check_gray(in) < 0)
        return LUMEQ_ERR_ARGUMENT;
    if (mode == LUMEQ_CODE_RANGE_FULL)
        return 0;
    const int ret = s->fixed.high ? 0 : update_window(s, mode, in, time);
    const LumeqCodes levels = levels_of(in), found = s->fixed.high ? s->fixed : s->window;
    *window = (LumeqCodes){greater(found.low, levels.low), lesser(found.high, levels.high)};
    return ret < 0 ? ret : window->high > window->low && !is_same(*window, levels);
}

/* ---- the lookup table ---- */

/* Builds a piecewise linear table: the window fills the output between the margins. */
static void make_table(LumeqStretch *s, LumeqCodes window, LumeqCodes levels)
{
    const int margin = (levels.high - levels.low) / MARGIN, length = window.high - window.low;
    const int low = lesser(window.low, levels.low + margin);
    const int high = greater(window.high, levels.high - margin);
    const int below = greater(window.low - length, levels.low);
    const int above = lesser(window.high + length, levels.high);
    const int from[] = {levels.low, below, window.low, window.high, above, levels.high};
    const int to[] = {levels.low,
                      below > levels.low ? low - NEAR(low - levels.low) : levels.low,
                      low,
                      high,
                      above < levels.high ? high + NEAR(levels.high - high) : levels.high,
                      levels.high};
    for (int code = 0; code < CODES; code++)
        s->table[code] = (uint16_t)code;
    for (int i = 0; i < 5; i++) {
        const int64_t span = greater(from[i + 1] - from[i], 1);
        for (int code = from[i]; code <= from[i + 1]; code++) {
            const int64_t scaled = (int64_t)(code - from[i]) * (to[i + 1] - to[i]);
            s->table[code] = (uint16_t)(to[i] + (int)((scaled + span / 2) / span));
        }
    }
    s->shown = window;
    s->levels = levels;
}

int lumeq_stretch_write(LumeqStretch *s, const LumeqCodes *window, const LumeqImage *in,
                        const LumeqImage *out)
{
    if (!s)
        return lumeq_refuse("`stretch` is NULL");
    if (check_gray(in) < 0 || check_gray(out) < 0)
        return LUMEQ_ERR_ARGUMENT;
    const LumeqCodes levels = levels_of(in);
    if (!window || window->low < levels.low || window->high > levels.high ||
        window->low >= window->high)
        return lumeq_refuse("the window must lie between black and white, and not be empty");
    if (in->width != out->width || in->height != out->height || in->depth != out->depth)
        return lumeq_refuse("the output must have the picture's size and depth");
    if (!is_same(*window, s->shown) || !is_same(levels, s->levels))
        make_table(s, *window, levels);
    for (int y = 0; y < in->height; y++) {
        const uint16_t *from = row_of(in, y);
        uint16_t *to = (uint16_t *)(void *)((uint8_t *)out->plane[0] + y * out->stride[0]);
        for (int x = 0; x < in->width; x++)
            to[x] = (uint16_t)(s->table[from[x] >> in->shift] << out->shift);
    }
    return 0;
}

int lumeq_stretch_create(LumeqStretch **stretch, const LumeqCodes *fixed)
{
    if (!stretch)
        return lumeq_refuse("`stretch` is NULL");
    *stretch = calloc(1, sizeof(**stretch));
    if (!*stretch)
        return lumeq_no_memory();
    if (fixed)
        (*stretch)->fixed = *fixed;
    return 0;
}

void lumeq_stretch_reset(LumeqStretch *s)
{
    if (!s)
        return;
    s->has_window = s->is_on = 0;
    s->window = (LumeqCodes){0};
}

void lumeq_stretch_destroy(LumeqStretch **stretch)
{
    if (!stretch)
        return;
    free(*stretch);
    *stretch = NULL;
}
