/* Serializes the history of black bars. */
#ifndef LUMEQ_BARS_BYTES_H
#define LUMEQ_BARS_BYTES_H

#include "equalizer/bars.h"
#include "equalizer/bytes.h"

/* Write and read the state; reading sets `bad` if it is invalid. */
void lumeq_put_bars(ByteWriter *w, const BarsState *bars);
void lumeq_take_bars(ByteReader *r, BarsState *bars);

#endif
