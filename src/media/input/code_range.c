#include "media/input/code_range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>

#include "media/convert.h"

#define CODES 65536

/* Pictures that span less than this percentage of all codes are stretched, and streams stay
 * stretched below the second. */
#define SLIVER 8
#define SLIVER_HELD 16

/* Least span of a picture with content, in standard deviations of its noise; noise alone spans
 * about 6. */
#define NOISE_FACTOR 10

/* Ignored samples at each end: 1 in 1000. Dead pixels are fewer. */
#define OUTLIERS 1000

/* Second differences of normal noise have a median magnitude of 1.652 standard deviations. */
#define MEDIAN_NUM 1652
#define MEDIAN_DEN 1000

/* Most samples measured per frame; beyond it, rows are skipped. */
#define ENOUGH_SAMPLES (1 << 18)

/* The margin at each end of the output, as a fraction of all codes, into which outliers are
 * squeezed. Most of it is for codes within one window length, such as a small hot spot. */
#define MARGIN 16
#define NEAR(margin) ((margin)*3 / 4)

/* Time constant with which a stream's window follows the picture, and the longest step. */
#define FOLLOW_US INT64_C(2000000)
#define MAX_STEP_US INT64_C(1000000)

/* A stream's window has fractional codes, because small steps add up. */
#define FRACTION 4096

int code_range_suits(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    return desc && desc->nb_components == 1 && desc->comp[0].depth > 8 && convert_is_direct(format);
}

/* ---- measuring ---- */

typedef struct Counts {
    uint32_t codes[CODES];
    /* histogram of second differences; the last bin includes larger ones */
    uint32_t differences[CODES];
    int64_t samples, difference_count;
} Counts;

static void count_row(Counts *counts, const uint16_t *row, int width)
{
    for (int x = 0; x < width; x++)
        counts->codes[row[x]]++;
    for (int x = 1; x + 1 < width; x++) {
        const int d = abs(row[x - 1] - 2 * row[x] + row[x + 1]);
        counts->differences[FFMIN(d, CODES - 1)]++;
    }
    counts->samples += width;
    counts->difference_count += FFMAX(width - 2, 0);
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

int code_range_measure(const AVFrame *frame, CodeUse *use)
{
    Counts *counts = calloc(1, sizeof(*counts));
    if (!counts)
        return AVERROR(ENOMEM);
    const int64_t samples = (int64_t)frame->width * frame->height;
    const int step = (int)(samples / ENOUGH_SAMPLES) + 1;
    for (int y = 0; y < frame->height; y += step)
        count_row(
            counts,
            (const uint16_t *)(const void *)(frame->data[0] + (ptrdiff_t)y * frame->linesize[0]),
            frame->width);
    const int64_t skip = counts->samples / OUTLIERS;
    const int median = code_above(counts->differences, counts->difference_count / 2);
    const int noise = (median * MEDIAN_DEN + MEDIAN_NUM / 2) / MEDIAN_NUM;
    use->window.low = code_above(counts->codes, skip);
    use->window.high = code_above(counts->codes, counts->samples - skip - 1);
    use->noise = FFMAX(noise, 1);
    use->has_content = use->window.high - use->window.low > NOISE_FACTOR * use->noise;
    free(counts);
    return 0;
}

/* ---- the rule ---- */

/* Returns the codes of black and white. */
static CodeWindow levels_of(const CodeRange *range, const AVFrame *frame)
{
    const int is_known = range->levels != AVCOL_RANGE_UNSPECIFIED;
    const enum AVColorRange levels = is_known ? range->levels : frame->color_range;
    const int depth = convert_layout(frame->format).depth;
    return levels == AVCOL_RANGE_MPEG ? (CodeWindow){16 << (depth - 8), 235 << (depth - 8)}
                                      : (CodeWindow){0, (1 << depth) - 1};
}

static int is_sliver(const CodeRange *range, CodeWindow window, CodeWindow levels, int percent)
{
    return range->mode == CODE_RANGE_USED ||
           (window.high - window.low) * 100 < percent * (levels.high - levels.low);
}

void code_window_text(CodeWindow window, CodeWindow all, char *text, size_t size)
{
    int most = UINT8_MAX;
    while (most < all.high)
        most = 2 * most + 1;
    snprintf(text, size, "uses codes %d to %d of %d: stretched", window.low, window.high, most);
}

/* ---- a file ---- */

void code_range_add(CodeRange *range, const AVFrame *frame, const CodeUse *use)
{
    CodeWindow *sum = &range->window;
    range->all = levels_of(range, frame);
    if (!use->has_content)
        return;
    sum->low = sum->high ? FFMIN(sum->low, use->window.low) : use->window.low;
    sum->high = FFMAX(sum->high, use->window.high);
}

void code_range_decide(CodeRange *range)
{
    range->is_measured = 1;
    if (!is_sliver(range, range->window, range->all, SLIVER))
        range->window = (CodeWindow){0};
}

/* ---- a stream ---- */

struct CodeStretch {
    CodeRange range;
    int64_t low, high; /* a stream's window, in 1 / FRACTION codes */
    int has_window;    /* low and high are set; else the next picture sets them at once */
    int is_on;         /* the stream is stretched */
    int64_t last_us;
    CodeWindow shown, levels; /* parameters of `table`; shown.high 0: not built */
    uint16_t table[CODES];
    CodeWindow last_window;
    char text[64];
};

static void step(int64_t *at, int code, int64_t us)
{
    *at += ((int64_t)code * FRACTION - *at) * us / (FOLLOW_US + us);
}

/* Updates the window. A picture without content, as with a capped lens, changes nothing. */
static int update_window(CodeStretch *s, const AVFrame *frame, CodeWindow levels)
{
    CodeUse use;
    const int64_t now = av_rescale_q(frame->pts, frame->time_base, AV_TIME_BASE_Q);
    const int64_t us = av_clip64(now - s->last_us, 0, MAX_STEP_US);
    const int ret = code_range_measure(frame, &use);
    s->last_us = now;
    if (ret < 0 || !use.has_content)
        return ret;
    s->is_on = is_sliver(&s->range, use.window, levels, s->is_on ? SLIVER_HELD : SLIVER);
    const CodeWindow to = s->is_on ? use.window : levels;
    if (s->has_window) {
        step(&s->low, to.low, us);
        step(&s->high, to.high, us);
    } else {
        s->low = (int64_t)to.low * FRACTION;
        s->high = (int64_t)to.high * FRACTION;
    }
    s->has_window = 1;
    s->range.window.low = (int)(s->low / FRACTION);
    s->range.window.high = (int)((s->high + FRACTION - 1) / FRACTION);
    return 0;
}

/* ---- the lookup table ---- */

/* Builds a piecewise linear table: the window fills most of the output, and outliers share the
 * margins. */
static void make_table(CodeStretch *s, CodeWindow window, CodeWindow levels)
{
    const int margin = (levels.high - levels.low) / MARGIN, length = window.high - window.low;
    const int low = FFMIN(window.low, levels.low + margin);
    const int high = FFMAX(window.high, levels.high - margin);
    const int below = FFMAX(window.low - length, levels.low);
    const int above = FFMIN(window.high + length, levels.high);
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
        const int64_t span = FFMAX(from[i + 1] - from[i], 1);
        for (int code = from[i]; code <= from[i + 1]; code++) {
            const int64_t scaled = (int64_t)(code - from[i]) * (to[i + 1] - to[i]);
            s->table[code] = (uint16_t)(to[i] + (int)((scaled + span / 2) / span));
        }
    }
    s->shown = window;
    s->levels = levels;
}

static int is_same(CodeWindow a, CodeWindow b)
{
    return a.low == b.low && a.high == b.high;
}

static int write_frame(const CodeStretch *s, AVFrame *frame)
{
    AVFrame *out = av_frame_alloc();
    int ret = out ? av_frame_copy_props(out, frame) : AVERROR(ENOMEM);
    if (ret >= 0) {
        out->format = frame->format;
        out->width = frame->width;
        out->height = frame->height;
        ret = av_frame_get_buffer(out, 0);
    }
    for (int y = 0; y < frame->height && ret >= 0; y++) {
        const uint16_t *from =
            (const uint16_t *)(const void *)(frame->data[0] + (ptrdiff_t)y * frame->linesize[0]);
        uint16_t *to = (uint16_t *)(void *)(out->data[0] + (ptrdiff_t)y * out->linesize[0]);
        for (int x = 0; x < frame->width; x++)
            to[x] = s->table[from[x]];
    }
    if (ret >= 0) {
        av_frame_unref(frame);
        av_frame_move_ref(frame, out);
    }
    av_frame_free(&out);
    return ret;
}

CodeStretch *code_stretch_create(const CodeRange *range)
{
    CodeStretch *s = calloc(1, sizeof(*s));
    if (s)
        s->range = *range;
    return s;
}

int code_stretch_frame(CodeStretch *s, AVFrame *frame)
{
    if (s->range.mode == CODE_RANGE_FULL || !code_range_suits(frame->format))
        return 0;
    const CodeWindow levels = levels_of(&s->range, frame);
    const int ret = s->range.is_measured ? 0 : update_window(s, frame, levels);
    const CodeWindow window = {FFMAX(s->range.window.low, levels.low),
                               FFMIN(s->range.window.high, levels.high)};
    if (ret < 0 || window.high <= window.low || is_same(window, levels))
        return ret;
    if (!is_same(window, s->shown) || !is_same(levels, s->levels))
        make_table(s, window, levels);
    s->last_window = window;
    return write_frame(s, frame);
}

void code_stretch_set_mode(CodeStretch *s, CodeRangeMode mode)
{
    s->range.mode = mode;
}

void code_stretch_reset(CodeStretch *s)
{
    s->has_window = s->is_on = 0;
    if (!s->range.is_measured)
        s->range.window = (CodeWindow){0};
}

const char *code_stretch_text(CodeStretch *s)
{
    if (!s->last_window.high)
        return NULL;
    code_window_text(s->last_window, s->levels, s->text, sizeof(s->text));
    return s->text;
}

void code_stretch_free(CodeStretch **stretch)
{
    free(*stretch);
    *stretch = NULL;
}
