/*
 * Kernels of the filter for lifted pictures: plain loops, which the compiler vectorizes for the
 * instruction set of the including file. That file defines LIFT_KERNELS, the name of the table of
 * kernels. If it also defines LIFT_VECTORS, it supplies some of the kernels itself.
 *
 * Results are cast to 16 bits, because otherwise the compiler would use lanes of 32.
 */
#ifndef LUMEQ_LIFT_LOOPS_H
#define LUMEQ_LIFT_LOOPS_H

#include <string.h>

#include "equalizer/cpu/gain_blocks.h"
#include "equalizer/cpu/kernels_common.h"
#include "equalizer/cpu/lift_kernels.h"

/* Clamps to -limit..limit. */
static inline int16_t within(int16_t value, int16_t limit)
{
    return most(least(value, limit), (int16_t)-limit);
}

#ifndef LIFT_VECTORS
static void look_up(int16_t *restrict quarter, int16_t *restrict still, const int16_t *now,
                    const LiftRow *row)
{
    for (int x = 0; x < row->width; x++) {
        const uint32_t entry = row->tables->tolerance[now[x] >> 6];
        quarter[x] = (int16_t)entry;
        if (still)
            still[x] = (int16_t)(entry >> 16);
    }
}
#endif

/* Prefetches the block that is FETCHED_AHEAD bytes after this one. */
static inline void fetch_block(const void *block, int bytes)
{
    for (int i = 0; i < bytes; i += 64)
        fetch_ahead((const uint8_t *)block + i);
}

static inline void load_block8(int16_t *restrict to, const uint8_t *from, int step,
                               const CurveParams *p)
{
    (void)p;
    for (int i = 0; i < LIFT_BLOCK; i++)
        to[i] = (int16_t)(from[i * step] << 6);
}

/* The high half of a * b, which is a >> n if b = 2^(16 - n). A variable shift would need lanes of
 * 32 bits. */
static inline uint16_t upper_half(uint16_t a, uint16_t b)
{
    return (uint16_t)((uint32_t)a * b >> 16);
}

static inline void load_codes(int16_t *restrict to, const uint16_t *from, int step,
                              const CurveParams *p, int shifted, int deep)
{
    const uint16_t last = (uint16_t)((1u << p->depth) - 1);
    const uint16_t part = (uint16_t)(1u << (16 - p->shift));
    const uint16_t q6 = (uint16_t)(deep ? 1u << (30 - p->depth) : 1u << (14 - p->depth));
    for (int i = 0; i < LIFT_BLOCK; i++) {
        const uint16_t code = shifted ? upper_half(from[i * step], part) : from[i * step];
        const uint16_t bound = code < last ? code : last;
        to[i] = (int16_t)(deep ? upper_half(bound, q6) : (uint16_t)(bound * q6));
    }
}

static inline void load_block16(int16_t *restrict to, const uint16_t *from, int step,
                                const CurveParams *p)
{
    if (p->depth > 14)
        load_codes(to, from, step, p, p->shift != 0, 1);
    else if (p->shift)
        load_codes(to, from, step, p, 1, 0);
    else
        load_codes(to, from, step, p, 0, 0);
}

#define DEFINE_LOAD(bits)                                                                          \
    static void load##bits(int16_t *to, const void *src, int step, int margin, const LiftRow *row) \
    {                                                                                              \
        const uint##bits##_t *from = src;                                                          \
        int x = 0;                                                                                 \
        for (; x + LIFT_BLOCK <= row->width; x += LIFT_BLOCK) {                                    \
            fetch_block(from + x * step, LIFT_BLOCK * step * (int)sizeof(*from));                  \
            if (step == 1)                                                                         \
                load_block##bits(to + x, from + x, 1, row->params);                                \
            else                                                                                   \
                load_block##bits(to + x, from + x * 2, 2, row->params);                            \
        }                                                                                          \
        if (x < row->width) {                                                                      \
            uint##bits##_t rest[2 * LIFT_BLOCK] = {0};                                             \
            const int samples = (row->width - x - 1) * step + 1;                                   \
            memcpy(rest, from + x * step, (size_t)samples * sizeof(*from));                        \
            load_block##bits(to + x, rest, step, row->params);                                     \
        }                                                                                          \
        lift_mirror(to, row->width, margin);                                                       \
    }

DEFINE_LOAD(8)
DEFINE_LOAD(16)

static void apart(int16_t *restrict to, const int16_t *now, const int16_t *past, const LiftRow *row)
{
    for (int x = 0; x < row->width; x += LIFT_BLOCK)
        for (int i = 0; i < LIFT_BLOCK; i++)
            to[x + i] = (int16_t)((now[x + i] >> 4) - (past[x + i] >> 4));
}

static inline void add_rows(int16_t *restrict to, const int16_t *const from[5], int width)
{
    const int16_t *const a = from[0], *const b = from[1], *const c = from[2];
    const int16_t *const d = from[3], *const e = from[4];
    for (int x = 0; x < width; x += LIFT_BLOCK)
        for (int i = 0; i < LIFT_BLOCK; i++)
            to[x + i] = (int16_t)(a[x + i] + b[x + i] + c[x + i] + d[x + i] + e[x + i]);
}

/* Adds a row's moves towards a previous frame to `to`; with `last`, turns the sum into the mean.
 * `bound` limits the moves, and each frame may lower it. Not inlined, because after inlining the
 * compiler would forget that the rows do not overlap. */
#define DEFINE_ADD_MOVES(name, first, last)                                                        \
    static __attribute__((noinline)) void name(                                                    \
        int16_t *restrict to, int16_t *restrict bound, const int16_t *now, const int16_t *past,    \
        const int16_t *sums, int16_t part, const LiftRow *row)                                     \
    {                                                                                              \
        const int16_t near = (int16_t)row->tables->near;                                           \
        for (int x = 0; x < row->width; x += LIFT_BLOCK)                                           \
            for (int i = x; i < x + LIFT_BLOCK; i++) {                                             \
                const int16_t sum =                                                                \
                    (int16_t)(sums[i - 2] + sums[i - 1] + sums[i] + sums[i + 1] + sums[i + 2]);    \
                const int16_t off = most(sum, (int16_t)-sum);                                      \
                const int16_t room = (int16_t)(most((int16_t)(near - off), 0) << 2);               \
                const int16_t limit = least(bound[i], room);                                       \
                const int16_t move = within((int16_t)(past[i] - now[i]), limit);                   \
                const int16_t moves = first ? move : (int16_t)(to[i] + move);                      \
                bound[i] = limit;                                                                  \
                to[i] = last ? (int16_t)(now[i] + rounded_part(moves, part)) : moves;              \
            }                                                                                      \
    }

/* value * part / 2^15, rounded. */
static inline int16_t rounded_part(int16_t value, int16_t part)
{
    return (int16_t)((((int32_t)value * part >> 14) + 1) >> 1);
}

typedef void AddMoves(int16_t *to, int16_t *bound, const int16_t *now, const int16_t *past,
                      const int16_t *sums, int16_t part, const LiftRow *row);

DEFINE_ADD_MOVES(only_moves, 1, 1)
DEFINE_ADD_MOVES(first_moves, 1, 0)
DEFINE_ADD_MOVES(more_moves, 0, 0)
DEFINE_ADD_MOVES(last_moves, 0, 1)

static void mean(int16_t *restrict to, const int16_t *now, int16_t *restrict still,
                 const LiftPastRow *past, int count, const LiftRow *row)
{
    static AddMoves *const kinds[2][2] = {{more_moves, last_moves}, {first_moves, only_moves}};
    const int16_t part = count == 1 ? 1 << 14 : 1 << 13;
    for (int p = 0; p < count; p++) {
        add_rows(row->scratch[0], past[p].apart, row->width);
        lift_mirror(row->scratch[0], row->width, 2);
        kinds[p == 0][p == count - 1](to, still, now, past[p].row, row->scratch[0], part, row);
    }
}

static void smooth(int16_t *restrict to, const int16_t *const from[3], const LiftRow *row)
{
    const int16_t *const a = from[0], *const b = from[1], *const c = from[2];
    int16_t *restrict column = row->scratch[0];
    for (int x = 0; x < row->width; x += LIFT_BLOCK)
        for (int i = 0; i < LIFT_BLOCK; i++)
            column[x + i] = (int16_t)((a[x + i] >> 4) + 2 * (b[x + i] >> 4) + (c[x + i] >> 4));
    lift_mirror(column, row->width, 1);
    for (int x = 0; x < row->width; x += LIFT_BLOCK)
        for (int i = 0; i < LIFT_BLOCK; i++)
            to[x + i] = (int16_t)(column[x + i - 1] + 2 * column[x + i] + column[x + i + 1]);
}

static inline int16_t least_of_5(int16_t a, int16_t b, int16_t c, int16_t d, int16_t e)
{
    return least(least(least(a, b), least(c, d)), e);
}

static inline int16_t most_of_5(int16_t a, int16_t b, int16_t c, int16_t d, int16_t e)
{
    return most(most(most(a, b), most(c, d)), e);
}

static inline void find_ends(int16_t *restrict high, int16_t *restrict low,
                             const int16_t *const from[5], int width)
{
    const int16_t *const a = from[0], *const b = from[1], *const c = from[2];
    const int16_t *const d = from[3], *const e = from[4];
    for (int x = 0; x < width; x += LIFT_BLOCK)
        for (int i = 0; i < LIFT_BLOCK; i++) {
            const int16_t top = most_of_5(a[x + i], b[x + i], c[x + i], d[x + i], e[x + i]);
            low[x + i] = least_of_5(a[x + i], b[x + i], c[x + i], d[x + i], e[x + i]);
            high[x + i] = top;
        }
    lift_mirror(high, width, 2);
    lift_mirror(low, width, 2);
}

static void tolerance(int16_t *restrict quarter, const int16_t *const from[5], const LiftRow *row)
{
    const int16_t edge = (int16_t)row->tables->edge;
    find_ends(row->scratch[0], row->scratch[1], from, row->width);
    for (int x = 0; x < row->width; x += LIFT_BLOCK) {
        const int16_t *const h = row->scratch[0] + x, *const l = row->scratch[1] + x;
        for (int i = 0; i < LIFT_BLOCK; i++) {
            const int16_t top = most_of_5(h[i - 2], h[i - 1], h[i], h[i + 1], h[i + 2]);
            const int16_t bottom = least_of_5(l[i - 2], l[i - 1], l[i], l[i + 1], l[i + 2]);
            const int16_t room = most((int16_t)(edge - (int16_t)(top - bottom)), 0);
            quarter[x + i] = least(quarter[x + i], (int16_t)(room >> 2));
        }
    }
}

static inline void find_near_ends(int16_t *restrict high, int16_t *restrict low,
                                  const int16_t *const from[3], int width)
{
    const int16_t *const a = from[0], *const b = from[1], *const c = from[2];
    for (int x = 0; x < width; x += LIFT_BLOCK)
        for (int i = x; i < x + LIFT_BLOCK; i++) {
            const int16_t top = most(most(a[i], b[i]), c[i]);
            low[i] = least(least(a[i], b[i]), c[i]);
            high[i] = top;
        }
    lift_mirror(high, width, 1);
    lift_mirror(low, width, 1);
}

static void specks(int16_t *restrict to, const int16_t *const from[3], const int16_t *quarter,
                   int margin, const LiftRow *row)
{
    const int16_t limit = (int16_t)row->tables->speck;
    find_near_ends(row->scratch[0], row->scratch[1], from, row->width);
    for (int x = 0; x < row->width; x += LIFT_BLOCK) {
        const int16_t *const a = from[0] + x, *const b = from[1] + x, *const c = from[2] + x;
        const int16_t *const h = row->scratch[0] + x, *const l = row->scratch[1] + x;
        for (int i = 0; i < LIFT_BLOCK; i++) {
            const int16_t high = most(most(a[i], c[i]), most(h[i - 1], h[i + 1]));
            const int16_t low = least(least(a[i], c[i]), least(l[i - 1], l[i + 1]));
            const int16_t bound = least((int16_t)(8 * quarter[x + i]), limit);
            const int16_t nearest = most(least(b[i], high), low);
            to[x + i] = (int16_t)(b[i] + within((int16_t)(nearest - b[i]), bound));
        }
    }
    lift_mirror(to, row->width, margin);
}

#ifndef LIFT_VECTORS
static inline void pass_block(int16_t *restrict to, const int16_t *before, const int16_t *f,
                              const int16_t *after, const int16_t *q)
{
    for (int i = 0; i < LIFT_BLOCK; i++) {
        const int16_t one = (int16_t)(before[i] - f[i]);
        const int16_t two = (int16_t)(after[i] - f[i]);
        const int16_t near = (int16_t)(within(one, q[i]) + within(two, q[i]));
        const int16_t far = (int16_t)(4 * q[i]);
        const int16_t all = (int16_t)(within(one, far) + within(two, far));
        const int16_t eighths = (int16_t)(4 * near - all + 4);
        to[i] = (int16_t)(f[i] + (eighths >> 3));
    }
}
#endif

static void pass(int16_t *restrict to, const int16_t *before, const int16_t *here,
                 const int16_t *after, const int16_t *quarter, int width)
{
    for (int x = 0; x < width; x += LIFT_BLOCK)
        pass_block(to + x, before + x, here + x, after + x, quarter + x);
}

/* The dither of a row, which repeats every 8 samples. */
static inline void find_dither(uint16_t add[LIFT_BLOCK], int y, const CurveParams *p)
{
    for (int i = 0; i < LIFT_BLOCK; i++)
        add[i] = (uint16_t)curve_dither((uint32_t)i % 8, (uint32_t)y, p->frame);
}

#define DEFINE_FINISH(bits)                                                                        \
    static void finish##bits(void *dst, const int16_t *from, const void *source, int y, int shift, \
                             const LiftRow *row)                                                   \
    {                                                                                              \
        const int depth = row->params->depth, in_shift = row->params->shift;                       \
        const uint16_t floor = (uint16_t)lift_floor(row->params->black, depth);                    \
        const uint16_t ceiling = (uint16_t)lift_ceiling(row->params->white, depth);                \
        uint16_t add[LIFT_BLOCK];                                                                  \
        find_dither(add, y, row->params);                                                          \
        for (int i = 0; i < LIFT_BLOCK; i++)                                                       \
            add[i] = (uint16_t)(add[i] >> (depth - 8));                                            \
        for (int x = 0; x < row->width; x += LIFT_BLOCK) {                                         \
            uint16_t node[LIFT_BLOCK], rise[LIFT_BLOCK];                                           \
            uint##bits##_t out[LIFT_BLOCK] = {0};                                                  \
            const int left = row->width - x, count = left < LIFT_BLOCK ? left : LIFT_BLOCK;        \
            memcpy(out, (const uint##bits##_t *)source + x, (size_t)count * sizeof(*out));         \
            for (int i = 0; i < LIFT_BLOCK; i++) {                                                 \
                const uint32_t entry = row->tables->node[(uint8_t)(from[x + i] >> 6)];             \
                node[i] = (uint16_t)entry;                                                         \
                rise[i] = (uint16_t)(entry >> 16);                                                 \
            }                                                                                      \
            for (int i = 0; i < LIFT_BLOCK; i++) {                                                 \
                const int16_t part = (int16_t)((from[x + i] & 63) << 9);                           \
                const int16_t more = rounded_part((int16_t)rise[i], part);                         \
                const uint16_t value = (uint16_t)(node[i] + (uint16_t)more + add[i]);              \
                const uint16_t code = (uint16_t)(value >> (16 - depth));                           \
                const uint16_t before = (uint16_t)(out[i] >> in_shift);                            \
                const uint16_t low = before < floor ? before : floor;                              \
                const uint16_t high = before > ceiling ? before : ceiling;                         \
                const uint16_t bound = code > low ? code : low;                                    \
                out[i] = (uint##bits##_t)((bound < high ? bound : high) << shift);                 \
            }                                                                                      \
            memcpy((uint##bits##_t *)dst + x, out, (size_t)count * sizeof(*out));                  \
        }                                                                                          \
    }

#ifndef LIFT_VECTORS
DEFINE_FINISH(8)
DEFINE_FINISH(16)
#endif

#define DEFINE_CELL(bits)                                                                          \
    static inline uint32_t code_of##bits(const uint##bits##_t *from, int x, const CurveParams *p)  \
    {                                                                                              \
        const uint32_t code = (uint32_t)from[x] >> p->shift, last = (1u << p->depth) - 1;          \
        return code < last ? code : last;                                                          \
    }                                                                                              \
    /* The mean luma under chroma sample x; columns are clamped to `last`. */                      \
    static inline uint8_t cell_over##bits(const LiftUnder *u, int x, int last,                     \
                                          const CurveParams *p)                                    \
    {                                                                                              \
        const int area = u->sub_x + u->sub_y;                                                      \
        uint32_t sum = (1u << area) >> 1;                                                          \
        for (int v = 0; v < 1 << u->sub_y; v++)                                                    \
            for (int c = x << u->sub_x; c < (x + 1) << u->sub_x; c++)                              \
                sum += code_of##bits(u->luma[v], c < last ? c : last, p);                          \
        return (uint8_t)(sum >> area >> (p->depth - 8));                                           \
    }

#define DEFINE_UNDER(bits)                                                                         \
    static inline void cells_over##bits(uint8_t *restrict cells, const uint##bits##_t *a,          \
                                        const uint##bits##_t *b, const CurveParams *p)             \
    {                                                                                              \
        const int down = 2 + p->depth - 8;                                                         \
        for (int i = 0; i < LIFT_BLOCK; i++)                                                       \
            cells[i] =                                                                             \
                (uint8_t)((code_of##bits(a, 2 * i, p) + code_of##bits(a, 2 * i + 1, p) +           \
                           code_of##bits(b, 2 * i, p) + code_of##bits(b, 2 * i + 1, p) + 2) >>     \
                          down);                                                                   \
    }                                                                                              \
    static void under##bits(int16_t *restrict quarter, uint8_t *restrict cells,                    \
                            const LiftUnder *u, const LiftRow *row)                                \
    {                                                                                              \
        int x = 0;                                                                                 \
        if (u->sub_x == 1 && u->sub_y <= 1)                                                        \
            for (; 2 * (x + LIFT_BLOCK) <= u->columns; x += LIFT_BLOCK)                            \
                cells_over##bits(cells + x, (const uint##bits##_t *)u->luma[0] + 2 * x,            \
                                 (const uint##bits##_t *)u->luma[u->sub_y] + 2 * x, row->params);  \
        for (; x < row->width; x++)                                                                \
            cells[x] = cell_over##bits(u, x, u->columns - 1, row->params);                         \
        for (; x % LIFT_BLOCK; x++)                                                                \
            cells[x] = 0;                                                                          \
        for (int i = 0; i < x; i++)                                                                \
            quarter[i] = (int16_t)row->tables->chroma[cells[i]];                                   \
    }

DEFINE_CELL(8)
DEFINE_CELL(16)
#ifndef LIFT_VECTORS
DEFINE_UNDER(8)
DEFINE_UNDER(16)
#endif

static inline void find_gains(GainBlock *restrict block, const LiftChroma *chroma, int x)
{
    uint32_t over[LIFT_BLOCK][2]; /* [0]: gain, and `from` in the upper half; [1]: `to` */
    for (int i = 0; i < LIFT_BLOCK; i++)
        memcpy(over[i], &chroma->gain[chroma->cells[x + i]], sizeof(over[i]));
    for (int i = 0; i < LIFT_BLOCK; i++) {
        block->gain[i] = over[i][0] & 0xffff;
        block->from[i] = over[i][0] >> 16;
        block->to[i] = over[i][1] & 0xffff;
    }
}

_Static_assert(LIFT_BLOCK == GAIN_BLOCK, "rows are filtered and scaled in the same blocks");

/* Limits gains for samples in Q6. */
DEFINE_END_GAINS(end_gains, int16_t)

#define DEFINE_SCALE(bits)                                                                         \
    static inline void scale_block##bits(uint##bits##_t *restrict out, const int16_t *from,        \
                                         const int16_t *source, const GainBlock *block,            \
                                         const uint16_t *add, int shift, const CurveParams *p)     \
    {                                                                                              \
        const CurveLegal legal = curve_legal(p->depth, p->black != 0);                             \
        const int down = 26 - p->depth, up = 18 - p->depth;                                        \
        const int code_up = p->depth > 14 ? p->depth - 14 : 0;                                     \
        const int code_down = p->depth < 14 ? 14 - p->depth : 0;                                   \
        for (int i = 0; i < LIFT_BLOCK; i++) {                                                     \
            const int32_t more = (from[i] - 8192) * (int32_t)block->gain[i] + (add[i] << up);      \
            const int32_t scaled = legal.middle + (more >> down);                                  \
            const int32_t code = source[i] << code_up >> code_down;                                \
            const int32_t high = code > legal.high ? code : legal.high;                            \
            const int32_t low = code < legal.low ? code : legal.low;                               \
            const int32_t limited = scaled < high ? scaled : high;                                 \
            out[i] = (uint##bits##_t)((limited > low ? limited : low) << shift);                   \
        }                                                                                          \
    }                                                                                              \
    static void scale##bits(const LiftChroma *chroma, const LiftRow *row)                          \
    {                                                                                              \
        const uint32_t range = curve_legal(row->params->depth, row->params->black != 0).range;     \
        uint16_t add[LIFT_BLOCK];                                                                  \
        find_dither(add, chroma->y, row->params);                                                  \
        for (int i = 0; i < LIFT_BLOCK; i++)                                                       \
            add[i] = (uint16_t)(64 + (add[i] >> 1));                                               \
        for (int x = 0; x < row->width; x += LIFT_BLOCK) {                                         \
            const int left = row->width - x, count = left < LIFT_BLOCK ? left : LIFT_BLOCK;        \
            GainBlock block;                                                                       \
            find_gains(&block, chroma, x);                                                         \
            const int16_t *const first = chroma->from[0] + x, *const second = chroma->from[1] + x; \
            if (end_gains_any(&block, range, first, second, 8192, 1, 2))                           \
                end_gains(&block, range, first, second, 8192, 1, 2);                               \
            for (int i = 0; i < 2; i++) {                                                          \
                uint##bits##_t out[LIFT_BLOCK];                                                    \
                scale_block##bits(out, chroma->from[i] + x, chroma->source[i] + x, &block, add,    \
                                  chroma->shift, row->params);                                     \
                memcpy((uint##bits##_t *)chroma->dst[i] + x, out, (size_t)count * sizeof(*out));   \
            }                                                                                      \
        }                                                                                          \
    }

#ifndef LIFT_VECTORS
DEFINE_SCALE(8)
DEFINE_SCALE(16)
#endif

const LiftKernels LIFT_KERNELS = {
#ifdef LIFT_VECTORS
    .prepare = prepare,
    .whole_tolerance = whole_tolerance,
#endif
    .load8 = load8,
    .load16 = load16,
    .look_up = look_up,
    .apart = apart,
    .mean = mean,
    .smooth = smooth,
    .tolerance = tolerance,
    .specks = specks,
    .pass = pass,
    .finish8 = finish8,
    .finish16 = finish16,
    .under8 = under8,
    .under16 = under16,
    .scale8 = scale8,
    .scale16 = scale16,
};

#endif
