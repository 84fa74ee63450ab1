#include "equalizer/rule/decay.h"

#define ONE_Q31 (UINT64_C(1) << 31)
#define LOG2_E_Q31 UINT64_C(3098164009) /* log2(e) */
#define LN_2_Q32 UINT64_C(2977044472)   /* ln(2) */

/* 1 - exp(-12) rounds to 1.0 in Q16. */
#define COMPLETE 12

/* 2^(-i / 64) in Q31. */
static const uint32_t powers[64] = {
    2147483648u, 2124350982u, 2101467502u, 2078830522u, 2056437387u, 2034285470u, 2012372174u,
    1990694927u, 1969251188u, 1948038440u, 1927054196u, 1906295993u, 1885761398u, 1865448001u,
    1845353420u, 1825475297u, 1805811301u, 1786359126u, 1767116489u, 1748081133u, 1729250827u,
    1710623359u, 1692196547u, 1673968228u, 1655936265u, 1638098541u, 1620452965u, 1602997467u,
    1585730000u, 1568648537u, 1551751076u, 1535035634u, 1518500250u, 1502142985u, 1485961921u,
    1469955159u, 1454120821u, 1438457051u, 1422962010u, 1407633882u, 1392470869u, 1377471191u,
    1362633090u, 1347954824u, 1333434672u, 1319070932u, 1304861917u, 1290805962u, 1276901417u,
    1263146652u, 1249540052u, 1236080024u, 1222764986u, 1209593378u, 1196563654u, 1183674286u,
    1170923762u, 1158310587u, 1145833280u, 1133490379u, 1121280436u, 1109202018u, 1097253708u,
    1085434106u,
};

/* step / tau in Q28. The remainder is shifted in two parts to fit 64 bits. */
static uint64_t ratio(uint64_t step, uint64_t tau)
{
    const uint64_t whole = step / tau, rest = step % tau;
    const uint64_t high = (rest << 21) / tau, low = ((rest << 21) % tau << 7) / tau;
    return whole << 28 | high << 7 | low;
}

/* 2^-x in Q31; x, in Q28, is below 1: a table for the high 6 bits of x, a series for the rest. */
static uint64_t power(uint32_t x)
{
    const uint64_t w = (x & ((1u << 22) - 1)) * LN_2_Q32 >> 32; /* Q28, below 2^-6 */
    const uint64_t square = w * w >> 25;                        /* Q31 */
    const uint64_t cube = square * w >> 28;
    const uint64_t series = ONE_Q31 - (w << 3) + square / 2 - cube / 6;
    return powers[x >> 22] * series >> 31;
}

uint32_t lumeq_decay(int64_t step, int64_t tau)
{
    if (tau <= 0 || step / tau >= COMPLETE)
        return 1 << 16;
    const uint64_t x = ratio((uint64_t)step, (uint64_t)tau) * LOG2_E_Q31 >> 31;
    const uint64_t left = power((uint32_t)x & ((1u << 28) - 1)) >> (x >> 28);
    return (uint32_t)((ONE_Q31 - left + (1 << 14)) >> 15);
}
