/* Compares the integer 1 - exp(-t / tau) with double precision. */
#include <math.h>

#include "../check.h"
#include "equalizer/rule/decay.h"

#define TAU_END (INT64_C(1) << 42) /* longest time constant, plus 1 */

static void check_decay(int64_t step, int64_t tau)
{
    const double exact = -expm1(-(double)step / (double)tau) * 65536;
    const uint32_t got = lumeq_decay(step, tau);
    CHECK(fabs(got - exact) <= 1, "step %lld, tau %lld: %u, not %.3f", (long long)step,
          (long long)tau, got, exact);
}

/* The expected values were computed with 40 digits. */
TEST(known_values)
{
    static const struct {
        int64_t step, tau;
        uint32_t decay;
    } known[] = {
        {40000000, 500000000, 5039}, /* 25 frames a second; tau = 0.5 s */
        {16683333, 500000000, 2151}, /* 59.94 frames a second */
        {41708333, 500000000, 5245}, /* 23.976 frames a second */
        {1, 1, 41427},
        {1000, 3000, 18577},
        {7, 2, 63557},
        {11, 1, 65535},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const uint32_t got = lumeq_decay(known[i].step, known[i].tau);
        CHECK(got == known[i].decay, "step %lld, tau %lld: %u, not %u", (long long)known[i].step,
              (long long)known[i].tau, got, known[i].decay);
    }
}

TEST(extremes)
{
    CHECK(lumeq_decay(0, 500000000) == 0, "a step of 0 decays");
    CHECK(lumeq_decay(1, 0) == 65536 && lumeq_decay(0, 0) == 65536, "tau = 0 does not decay fully");
    CHECK(lumeq_decay(INT64_MAX, TAU_END - 1) == 65536, "the longest step does not decay fully");
    CHECK(lumeq_decay(INT64_MAX, 1) == 65536, "the longest step with tau = 1 does not decay fully");
    for (int k = 0; k < 13; k++)
        for (int d = -2; d <= 2; d++)
            if (k || d >= 0)
                check_decay(k * (TAU_END - 1) + d, TAU_END - 1);
}

TEST(random_values)
{
    CheckRandom random = check_random(1);
    for (int i = 0; i < 200000; i++) {
        const int bits = check_below(&random, 42) + 1;
        const int64_t tau =
            ((int64_t)check_below(&random, 1 << 30) << 12 | check_below(&random, 1 << 12)) >>
            (42 - bits);
        const int64_t part = check_below(&random, 1 << 20);
        if (tau)
            check_decay((int64_t)((double)tau * 12 * (double)part / (1 << 20)), tau);
    }
}

TEST_MAIN
