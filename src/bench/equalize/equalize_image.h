/* Images of lumeq-bench equalize, their expected results, and the copies that bound them. */
#ifndef LUMEQ_BENCH_EQUALIZE_IMAGE_H
#define LUMEQ_BENCH_EQUALIZE_IMAGE_H

#include <stddef.h>

#include "bench/equalize/equalize.h"

/* Parameters of a mode. */
LumeqParams equalize_params(const EqualizeMode *mode);

/* Bytes of a picture without gaps: luma and, with 3 planes, 4:2:0 chroma after it. */
size_t equalize_image_size(const BenchPicture *picture, int planes);

/* An image in memory of that size; planes are NULL if `memory` is. */
LumeqImage equalize_image(const BenchPicture *picture, void *memory, int planes);

/* The picture with uniform chroma, in malloc()ed memory at plane[0]; NULL if out of memory. */
LumeqImage equalize_input(const BenchPicture *picture, int planes);

/* Computes the result for a first frame with plain C; bars are treated like the rest. plane[0] of
 * `out` is malloc()ed memory, also on failure, or NULL. Returns 0, or -1 after a sentence on
 * stderr.
 */
int equalize_expected(LumeqImage *out, const LumeqImage *in, const EqualizeMode *mode);

/* Returns 0, or -1 after a sentence about the first wrong sample; `what` names the result. */
int equalize_compare(const EqualizeCase *c, const char *what, const LumeqImage *got,
                     const LumeqImage *expected);

/* Measures copies of the picture to the GPU and back. Returns 0, or -1 after a sentence on stderr.
 */
int equalize_copies(const EqualizeCase *c, BenchValue *row);

#endif
