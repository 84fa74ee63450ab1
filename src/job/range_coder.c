#include "job/range_coder.h"

/* Probabilities are of 4096; each bit moves its own by a 32nd of what it was off. */
#define ONE_BITS 12
#define ONE (1u << ONE_BITS)
#define PACE 5

#define LEAST_RANGE (1u << 24)
#define LENGTH_BITS 6

void range_model_begin(RangeModel *m)
{
    for (int i = 0; i < RANGE_CONTEXTS; i++)
        for (int k = 0; k < 1 << LENGTH_BITS; k++)
            m->length[i][k] = ONE / 2;
    for (int i = 0; i < RANGE_LENGTHS; i++)
        for (int k = 0; k < 4; k++)
            m->below[i][k] = ONE / 2;
}

int range_length(uint32_t number)
{
    return number ? 32 - __builtin_clz(number) : 0;
}

static void learn(uint16_t *zero, int bit)
{
    const uint32_t was = *zero;
    *zero = (uint16_t)(bit ? was - (was >> PACE) : was + ((ONE - was) >> PACE));
}

/* ---- out ---- */

void range_write_begin(RangeWriter *w, uint8_t *to)
{
    *w = (RangeWriter){.to = to, .range = UINT32_MAX, .waiting = 1};
}

/* The highest byte goes out once no carry can reach it any more. The first one is always 0, and is
 * left out. */
static void shift(RangeWriter *w)
{
    if ((uint32_t)w->low < 0xff000000u || w->low >> 32) {
        const uint8_t carry = (uint8_t)(w->low >> 32);
        if (w->began)
            w->to[w->used++] = (uint8_t)(w->last + carry);
        for (; w->waiting > 1; w->waiting--)
            w->to[w->used++] = (uint8_t)(0xff + carry);
        w->began = 1;
        w->waiting = 0;
        w->last = (uint8_t)(w->low >> 24);
    }
    w->waiting++;
    w->low = (w->low & 0x00ffffff) << 8;
}

static void write_bit(RangeWriter *w, uint16_t *zero, int bit)
{
    const uint32_t bound = (w->range >> ONE_BITS) * *zero;
    w->low += bit ? bound : 0;
    w->range = bit ? w->range - bound : bound;
    learn(zero, bit);
    for (; w->range < LEAST_RANGE; w->range <<= 8)
        shift(w);
}

static void write_even(RangeWriter *w, int bit)
{
    w->range >>= 1;
    w->low += bit ? w->range : 0;
    for (; w->range < LEAST_RANGE; w->range <<= 8)
        shift(w);
}

/* Its length, as the way down a tree, and the bits below the first one. */
void range_write(RangeWriter *w, RangeModel *m, int context, uint32_t number)
{
    const int length = range_length(number);
    int node = 1;
    for (int i = LENGTH_BITS - 1; i >= 0; i--) {
        const int bit = length >> i & 1;
        write_bit(w, &m->length[context][node], bit);
        node = 2 * node + bit;
    }
    node = 1;
    for (int i = length - 2; i >= 0; i--) {
        const int bit = (int)(number >> i & 1);
        if (node < 4)
            write_bit(w, &m->below[length][node], bit);
        else
            write_even(w, bit);
        node = node < 4 ? 2 * node + bit : node;
    }
}

size_t range_write_end(RangeWriter *w)
{
    w->low = (w->low + LEAST_RANGE - 1) & ~(uint64_t)(LEAST_RANGE - 1); /* as good, and short */
    for (int i = 0; i < 5; i++)
        shift(w);
    while (w->used && !w->to[w->used - 1])
        w->used--;
    return w->used;
}

/* ---- in ---- */

static uint8_t take_byte(RangeReader *r)
{
    if (!r->left)
        return 0;
    r->left--;
    return *r->from++;
}

void range_read_begin(RangeReader *r, const uint8_t *from, size_t size)
{
    *r = (RangeReader){.from = from, .left = size, .range = UINT32_MAX};
    for (int i = 0; i < 4; i++)
        r->code = r->code << 8 | take_byte(r);
}

static void go_on(RangeReader *r)
{
    for (; r->range < LEAST_RANGE; r->range <<= 8)
        r->code = r->code << 8 | take_byte(r);
}

static int read_bit(RangeReader *r, uint16_t *zero)
{
    const uint32_t bound = (r->range >> ONE_BITS) * *zero;
    const int bit = r->code >= bound;
    r->code -= bit ? bound : 0;
    r->range = bit ? r->range - bound : bound;
    learn(zero, bit);
    go_on(r);
    return bit;
}

static int read_even(RangeReader *r)
{
    r->range >>= 1;
    const int bit = r->code >= r->range;
    r->code -= bit ? r->range : 0;
    go_on(r);
    return bit;
}

uint32_t range_read(RangeReader *r, RangeModel *m, int context)
{
    int node = 1;
    for (int i = 0; i < LENGTH_BITS; i++)
        node = 2 * node + read_bit(r, &m->length[context][node]);
    const int length = node - (1 << LENGTH_BITS);
    r->bad |= length >= RANGE_LENGTHS;
    if (!length || r->bad)
        return 0;
    uint32_t number = 1;
    node = 1;
    for (int i = length - 2; i >= 0; i--) {
        const int bit = node < 4 ? read_bit(r, &m->below[length][node]) : read_even(r);
        number = 2 * number + (uint32_t)bit;
        node = node < 4 ? 2 * node + bit : node;
    }
    return number;
}
