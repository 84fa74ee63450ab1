#include "panel/scopes.h"

#include <string.h>

int scopes_step(int length, int most)
{
    return (length + most - 1) / most;
}

static unsigned level_at(const ScopesPlane *plane, ptrdiff_t at)
{
    const uint8_t *sample = plane->first + at;
    if (plane->bytes == 1)
        return *sample;
    const unsigned code = (unsigned)(sample[0] | sample[1] << 8) >> plane->shift;
    const unsigned level = code >> (plane->depth - 8);
    return level < SCOPES_LEVELS ? level : SCOPES_LEVELS - 1;
}

static void count_luma(Scopes *s, const ScopesPlane *luma)
{
    const int across = scopes_step(luma->width, SCOPES_MOST_COLUMNS);
    const int down = scopes_step(luma->height, SCOPES_MOST_ROWS);
    const int count = scopes_step(luma->width, across); /* sampled columns */
    s->columns = count < SCOPES_COLUMNS ? count : SCOPES_COLUMNS;
    s->column_samples =
        (uint32_t)(scopes_step(count, s->columns) * scopes_step(luma->height, down));
    for (int y = 0; y < luma->height; y += down)
        for (int i = 0; i < count; i++) {
            const ptrdiff_t at = (ptrdiff_t)i * across * luma->column + y * luma->row;
            s->waveform[(int64_t)i * s->columns / count][level_at(luma, at)]++;
        }
}

static void count_chroma(Scopes *s, const ScopesPlane *cb, const ScopesPlane *cr)
{
    const int across = scopes_step(cb->width, SCOPES_MOST_COLUMNS),
              down = scopes_step(cb->height, SCOPES_MOST_ROWS);
    for (int y = 0; y < cb->height; y += down)
        for (int x = 0; x < cb->width; x += across) {
            const unsigned blue = level_at(cb, x * cb->column + y * cb->row);
            const unsigned red = level_at(cr, x * cr->column + y * cr->row);
            const uint32_t count = ++s->vectors[red][blue];
            s->most_vectors = count > s->most_vectors ? count : s->most_vectors;
        }
}

void scopes_count(Scopes *s, const ScopesPicture *picture)
{
    memset(s, 0, sizeof(*s));
    s->kr = picture->kr;
    s->kb = picture->kb;
    s->full_range = picture->full_range;
    s->has_chroma = picture->cb.first && picture->cr.first;
    count_luma(s, &picture->luma);
    if (s->has_chroma)
        count_chroma(s, &picture->cb, &picture->cr);
}
