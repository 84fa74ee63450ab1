#include "player/view/view_colour.h"

#include <math.h>

/* Screen white in nits for HDR video: BT.2408's level for paper white and captions, so that they
 * are about as bright as in SDR video. */
#define SCREEN_NITS 203.0

/* SMPTE ST 2084: luminance to code, 0..1. */
static double pq_code(double nits)
{
    const double y = pow(nits / 10000, 2610.0 / 16384);
    return pow((3424.0 / 4096 + 2413.0 / 128 * y) / (1 + 2392.0 / 128 * y), 2523.0 / 32);
}

ViewColour view_colour(const PictureFormat *f)
{
    /* BT.2407, annex 1: BT.2020 to BT.709, with out-of-gamut colours clipped */
    static const float from_2020[9] = {1.6605f,  -0.1246f, -0.0182f, -0.5876f, 1.1329f,
                                       -0.1006f, -0.0728f, -0.0083f, 1.1187f};
    const double unit = 1 << (f->depth - 8); /* one 8-bit code at this depth */
    const double codes = (1 << f->depth) - 1;
    const double code = ((f->bytes == 1 ? 255 : 65535) / (double)(1 << f->shift));
    /* texture value to luma (0..1) and chroma (-0.5..0.5): value * scale - zero */
    const double luma_scale = code / (f->full_range ? codes : 219 * unit);
    const double luma_zero = f->full_range ? 0 : 16.0 / 219;
    const double chroma_scale = code / (f->full_range ? codes : 224 * unit);
    const double chroma_zero = f->full_range ? 128 * unit / codes : 128.0 / 224;
    const double kr = f->kr, kb = f->kb, kg = 1 - kr - kb;
    const double cb[3] = {0, -2 * kb * (1 - kb) / kg, 2 * (1 - kb)};
    const double cr[3] = {2 * (1 - kr), -2 * kr * (1 - kr) / kg, 0};
    ViewColour colour;
    for (int i = 0; i < 3; i++) {
        const double blue = f->planes > 1 ? cb[i] : 0, red = f->planes > 1 ? cr[i] : 0;
        colour.matrix[i] = (float)luma_scale;
        colour.matrix[3 + i] = (float)(chroma_scale * (f->cr_first ? red : blue));
        colour.matrix[6 + i] = (float)(chroma_scale * (f->cr_first ? blue : red));
        colour.offset[i] = (float)(-luma_zero - chroma_zero * (blue + red));
    }
    for (int i = 0; i < 9; i++)
        colour.gamut[i] = f->wide_gamut ? from_2020[i] : i % 4 == 0 ? 1 : 0;
    /* BT.2390, 5.4.1: the knee of its EETF. Streams no brighter than the screen are not compressed.
     */
    const double source = pq_code(f->peak), screen = fmin(pq_code(SCREEN_NITS) / source, 1);
    colour.tone[0] = (float)source;
    colour.tone[1] = (float)screen;
    colour.tone[2] = (float)(1.5 * screen - 0.5);
    return colour;
}
