/*
 * Chroma without tiles, in blocks. Gains are at most CURVE_GAIN_MOST: lifted pictures with more use
 * the filter instead.
 *
 * The including file defines BLOCKS_AT_ONCE before it includes this, and afterwards ChromaGains
 * (the gains of a frame and the dither of a row), ChromaMeans (the means of luma over that many
 * blocks), and:
 *
 *   start_gains()                      makes ChromaGains from a table's gains
 *   start_row()                        sets the dither of a row
 *   find_means8(), find_means16()      means of luma over some blocks, from two of its rows
 *   mean_bytes()                       one block's means in the order of its pixels
 *   scale_block8(), scale_block16()    return whether no gain is limited; otherwise they write
 *                                      nothing. `step` is a constant.
 */
#ifndef LUMEQ_CHROMA_PLANES_H
#define LUMEQ_CHROMA_PLANES_H

#include "equalizer/cpu/chroma_blocks.h"

/* A block with limited gains. */
#define DEFINE_SCALE_ENDED(bits)                                                                   \
    static void scale_ended##bits(uint##bits##_t *const to[2],                                     \
                                  const uint##bits##_t *const from[2], int step,                   \
                                  const uint8_t *mean, const ChromaRow *row, int x)                \
    {                                                                                              \
        uint16_t means[CHROMA_BLOCK];                                                              \
        ChromaCodes codes;                                                                         \
        for (int i = 0; i < CHROMA_BLOCK; i++)                                                     \
            means[i] = mean[i];                                                                    \
        chroma_load##bits(codes, from, step, row);                                                 \
        chroma_block(codes, means, row, x);                                                        \
        chroma_store##bits(to, codes, step, row);                                                  \
    }

DEFINE_SCALE_ENDED(8)
DEFINE_SCALE_ENDED(16)

#define DEFINE_CHROMA(bits, name)                                                                  \
    /* Scales the whole blocks of a row and returns their number of pixels. */                     \
    static inline int scale_blocks##bits(                                                          \
        uint##bits##_t *const to[2], const uint##bits##_t *const from[2],                          \
        const uint##bits##_t *const luma[2], int step, const LumeqChromaRows *r,                   \
        const ChromaGains *gains, const ChromaRow *row)                                            \
    {                                                                                              \
        const int sub_x = r->sub_x, whole = (r->luma_width >> sub_x) / CHROMA_BLOCK;               \
        int x = 0;                                                                                 \
        for (int first = 0; first < whole; first += BLOCKS_AT_ONCE) {                              \
            const int blocks = chroma_min(whole - first, BLOCKS_AT_ONCE), over = x << sub_x;       \
            ChromaMeans means;                                                                     \
            find_means##bits(&means, luma[0] + over, luma[1] + over, sub_x, blocks, row);          \
            for (int i = 0; i < blocks; i++, x += CHROMA_BLOCK) {                                  \
                uint##bits##_t *const dst[2] = {to[0] + x * step, to[1] + x * step};               \
                const uint##bits##_t *const src[2] = {from[0] + x * step, from[1] + x * step};     \
                uint8_t mean[CHROMA_BLOCK];                                                        \
                if (scale_block##bits(dst, src, step, &means, i, gains, row))                      \
                    continue;                                                                      \
                mean_bytes(mean, &means, i);                                                       \
                scale_ended##bits(dst, src, step, mean, row, x);                                   \
            }                                                                                      \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
    static void scale_chroma##bits(const LumeqChromaRows *r, const CurveTable *table,              \
                                   const CurveParams *params)                                      \
    {                                                                                              \
        const int sub_x = r->sub_x, width = (r->luma_width + sub_x) >> sub_x;                      \
        ChromaRow row = chroma_rows(r, table, params, NULL, NULL);                                 \
        ChromaGains gains;                                                                         \
        start_gains(&gains, table->gain, row.legal.range);                                         \
        for (int y = 0; y < r->height; y++) {                                                      \
            const ChromaLines lines = chroma_lines(r, y);                                          \
            uint##bits##_t *const to[2] = {lines.to[0], lines.to[1]};                              \
            const uint##bits##_t *const from[2] = {lines.from[0], lines.from[1]};                  \
            const uint##bits##_t *const luma[2] = {lines.luma[0], lines.luma[1]};                  \
            chroma_add(&row, params, r->y + y);                                                    \
            start_row(&gains, &row);                                                               \
            const int x = r->step == 1 ? scale_blocks##bits(to, from, luma, 1, r, &gains, &row)    \
                                       : scale_blocks##bits(to, from, luma, 2, r, &gains, &row);   \
            if (x < width)                                                                         \
                chroma_last##bits(                                                                 \
                    (uint##bits##_t *[2]){to[0] + x * r->step, to[1] + x * r->step},               \
                    (const uint##bits##_t *[2]){from[0] + x * r->step, from[1] + x * r->step},     \
                    (const uint##bits##_t *[2]){luma[0] + (x << sub_x), luma[1] + (x << sub_x)},   \
                    r->luma_width - (x << sub_x), x, width - x, r, &row);                          \
        }                                                                                          \
    }                                                                                              \
    void name(const LumeqChromaRows *rows, const CurveTable *table, const CurveParams *params)     \
    {                                                                                              \
        LumeqKernels c;                                                                            \
        if (chroma_has_blocks(rows) && !rows->grid) {                                              \
            scale_chroma##bits(rows, table, params);                                               \
            return;                                                                                \
        }                                                                                          \
        lumeq_kernels_c(&c);                                                                       \
        (chroma_has_blocks(rows) ? chroma##bits##_in_blocks : c.chroma##bits)(rows, table,         \
                                                                              params);             \
    }

#endif
