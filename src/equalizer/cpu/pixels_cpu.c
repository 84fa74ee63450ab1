#include "equalizer/cpu/bands.h"

typedef struct Conversion {
    const LumeqKernels *kernels;
    const LumeqPixelsJob *job;
    int bands;
} Conversion;

static void *pixel_row(const LumeqPixels *pixels, int y)
{
    return (uint8_t *)pixels->data + y * pixels->stride;
}

static void copy_alpha(void *to, const void *from, const LumeqPixels *pixels)
{
    const int size = pixels->depth > 8 ? 2 : 1;
    for (ptrdiff_t i = 3 * size; i < (ptrdiff_t)pixels->width * 4 * size; i += 4 * size)
        memcpy((uint8_t *)to + i, (const uint8_t *)from + i, (size_t)size);
}

static void convert_band(void *priv, int band)
{
    const Conversion *c = priv;
    const LumeqPixels *in = &c->job->in, *out = &c->job->out;
    const LumeqKernels *k = c->kernels;
    const int is_deep = in->depth > 8, rgb = in->order == LUMEQ_ORDER_RGB;
    const int end = lumeq_band_start(in->height, band + 1, c->bands);
    for (int y = lumeq_band_start(in->height, band, c->bands); y < end; y++) {
        uint16_t *const row[3] = {lumeq_row(&c->job->planes, 0, y),
                                  lumeq_row(&c->job->planes, 1, y),
                                  lumeq_row(&c->job->planes, 2, y)};
        const uint16_t *const from[3] = {row[0], row[1], row[2]};
        if (!out->data) {
            (is_deep ? k->pixels_to_planes16 : k->pixels_to_planes8)(row, pixel_row(in, y),
                                                                     in->channels, rgb, in->width);
            continue;
        }
        (is_deep ? k->planes_to_pixels16 : k->planes_to_pixels8)(pixel_row(out, y), from,
                                                                 out->channels, rgb, out->width);
        if (out->channels == 4)
            copy_alpha(pixel_row(out, y), pixel_row(in, y), out);
    }
}

void lumeq_cpu_convert(const CpuTeam *team, const LumeqPixelsJob *job)
{
    Conversion c = {.kernels = &team->kernels, .job = job, .bands = 1};
    if (!team->workers) {
        convert_band(&c, 0);
        return;
    }
    c.bands = lumeq_count_bands(team, &job->planes);
    lumeq_workers_run(team->workers, convert_band, &c, c.bands);
}
