/* Bounding luma over saturated colours in plain C. */
#include "equalizer/cpu/bound_loops.h"

void lumeq_bound8(const LumeqBoundRow *row, int width)
{
    bound8(row, width);
}

void lumeq_bound16(const LumeqBoundRow *row, int width)
{
    bound16(row, width);
}
