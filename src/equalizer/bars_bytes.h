/* The history of black bars, written and read. */
#ifndef LUMEQ_BARS_BYTES_H
#define LUMEQ_BARS_BYTES_H

#include "equalizer/bars.h"
#include "equalizer/bytes.h"

/* The bars' state as bytes, and back; `bad` where it is none. */
void lumeq_put_bars(ByteWriter *w, const BarsState *bars);
void lumeq_take_bars(ByteReader *r, BarsState *bars);

#endif
