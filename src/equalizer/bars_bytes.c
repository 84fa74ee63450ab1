#include "equalizer/bars_bytes.h"

void lumeq_put_bars(ByteWriter *w, const BarsState *b)
{
    const int32_t fields[] = {b->width,    b->height,   b->depth,        b->range,
                              b->active.x, b->active.y, b->active.width, b->active.height};
    for (int i = 0; i < 8; i++)
        lumeq_put32(w, (uint32_t)fields[i]);
    for (int i = 0; i < BARS_DIRECTIONS; i++) {
        const BarsPair *pair = &b->pair[i];
        lumeq_put32(w, (uint32_t)pair->known);
        for (int side = 0; side < 2; side++) {
            lumeq_put32(w, (uint32_t)pair->held[side]);
            lumeq_put32(w, (uint32_t)pair->found[side]);
        }
        lumeq_put64(w, (uint64_t)pair->since);
    }
}

void lumeq_take_bars(ByteReader *r, BarsState *b)
{
    b->width = lumeq_take_range(r, 0, LUMEQ_MAX_SIDE);
    b->height = lumeq_take_range(r, 0, LUMEQ_MAX_SIDE);
    b->depth = lumeq_take_range(r, 0, 16);
    b->range = lumeq_take_range(r, 0, 1);
    b->active.x = lumeq_take_range(r, 0, LUMEQ_MAX_SIDE);
    b->active.y = lumeq_take_range(r, 0, LUMEQ_MAX_SIDE);
    b->active.width = lumeq_take_range(r, 0, LUMEQ_MAX_SIDE);
    b->active.height = lumeq_take_range(r, 0, LUMEQ_MAX_SIDE);
    for (int i = 0; i < BARS_DIRECTIONS; i++) {
        BarsPair *pair = &b->pair[i];
        const int size = i == BARS_ROWS ? b->height : b->width;
        pair->known = lumeq_take_range(r, 0, 1);
        for (int side = 0; side < 2; side++) {
            pair->held[side] = lumeq_take_range(r, 0, size / 2);
            pair->found[side] = lumeq_take_range(r, 0, size / 2);
        }
        pair->since = (int64_t)lumeq_take64(r);
        r->bad |= pair->since < 0 || pair->since > BARS_HOLD_LONE;
    }
    b->area = 0; /* both belong to a single frame */
    b->grew = 0;
}
