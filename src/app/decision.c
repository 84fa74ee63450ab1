#include "app/decision.h"

#include <stdio.h>

#define CODES 256

/* From where on it is said: below that, nobody sees it. */
#define LIFT_SEEN 1.05
#define STRENGTH_SEEN 0.15

/* In codes of 8 bits: where a person begins to see it, and to be disturbed by it; and what a lift
 * may make of it at most, of which most is taken by the filters (see lift_rule.h). */
#define NOISE_SEEN 1.0
#define NOISE_MUCH 5.0
#define NOISE_LIMITS 13.0

/* A picture by its codes, as shares of the range from black to white. */
typedef struct Light {
    double mean, floor, apart; /* floor: 0.5 % lie below; apart: from 10 % to 90 % */
    double peak;               /* share of the picture in three neighbouring codes, but dark ones */
} Light;

static double place(double code, int full_range)
{
    return full_range ? code / 255 : (code - 16) / 219;
}

static double share_below(const uint64_t *sums, double share, int full_range)
{
    int code = 0;
    while (code < CODES - 1 && (double)sums[code] < share * (double)sums[CODES - 1])
        code++;
    return place(code, full_range);
}

static Light look(const LumeqFrameStats *s, int depth, int full_range)
{
    Light light = {.mean = place(s->mean_in * CODES / (double)(1 << depth), full_range)};
    uint64_t sums[CODES] = {0};
    for (int i = 0; i < s->bins; i++)
        sums[(int64_t)i * CODES / s->bins] += s->hist_in[i];
    for (int i = 1; i < CODES; i++)
        sums[i] += sums[i - 1];
    if (!sums[CODES - 1])
        return light;
    light.floor = share_below(sums, 0.005, full_range);
    light.apart = share_below(sums, 0.9, full_range) - share_below(sums, 0.1, full_range);
    for (int i = full_range ? 12 : 28; i + 2 < CODES; i++) {
        const double peak = (double)(sums[i + 2] - sums[i - 1]) / (double)sums[CODES - 1];
        light.peak = peak > light.peak ? peak : light.peak;
    }
    return light;
}

/* Where the picture decides. The bounds are the middles of those between which lift_rule.h blends
 * from one to the other. */
static DecisionKind decided(const LumeqFrameStats *s, const Light *light)
{
    if (s->lift >= LIFT_SEEN)
        return DECISION_LIFTED;
    if (light->peak > 0.45)
        return DECISION_PAGE;
    if (s->dark >= 0.5 && s->strength >= STRENGTH_SEEN)
        return DECISION_LAMPS;
    if (s->dark >= 0.5)
        return light->mean < 0.03 ? DECISION_BLACK : DECISION_EMPTY;
    if (light->mean > 0.62 && light->floor > 0.1 && light->apart > 0.34)
        return DECISION_HAZY;
    return s->strength < STRENGTH_SEEN ? DECISION_FINE : DECISION_DULL;
}

Decision decision_find(const LumeqFrameStats *stats, const LumeqParams *params, int depth,
                       int full_range)
{
    Decision d = {.kind = DECISION_ORDERED,
                  .mode = params->mode,
                  .dark = stats->dark,
                  .lift = stats->lift,
                  .strength = stats->strength,
                  .noise = stats->noise};
    if (params->mode == LUMEQ_MODE_OFF) {
        const int light = params->brightness != 0 || (params->gamma != 0 && params->gamma != 1);
        d.kind = light ? DECISION_LIGHT : DECISION_OFF;
    } else if (params->reference) {
        d.kind = DECISION_REFERENCE;
    } else if (params->mode == LUMEQ_MODE_GLOBAL && params->lift) {
        const Light light = look(stats, depth, full_range);
        d.kind = decided(stats, &light);
    }
    return d;
}

static const char *grain(double noise)
{
    return noise < 0            ? ""
           : noise < NOISE_SEEN ? ", clean"
           : noise < NOISE_MUCH ? ", noisy"
                                : ", very noisy";
}

static void lifted_text(const Decision *d, char *text, size_t size)
{
    char equalized[32] = "";
    if (d->strength >= STRENGTH_SEEN)
        snprintf(equalized, sizeof(equalized), ", equalized by %.0f %%", d->strength * 100);
    snprintf(text, size, "%s%s: lifted x%.1f%s%s", d->dark >= 0.5 ? "dark" : "dim", grain(d->noise),
             d->lift, d->noise * d->lift > NOISE_LIMITS ? ", as far as its noise allows" : "",
             equalized);
}

static void ordered_text(const Decision *d, char *text, size_t size)
{
    static const char *const what[] = {[LUMEQ_MODE_GLOBAL] = "equalized",
                                       [LUMEQ_MODE_CLAHE] = "equalized in tiles",
                                       [LUMEQ_MODE_STRETCH] = "stretched",
                                       [LUMEQ_MODE_HAZE] = "haze taken away"};
    snprintf(text, size, "%s by %.0f %%", what[d->mode], d->strength * 100);
}

void decision_text(const Decision *d, const char *key, char *text, size_t size)
{
    switch (d->kind) {
    case DECISION_OFF: snprintf(text, size, "off"); break;
    case DECISION_LIGHT: snprintf(text, size, "not equalized: brightness and gamma alone"); break;
    case DECISION_REFERENCE: snprintf(text, size, "equalized as OpenCV does it"); break;
    case DECISION_ORDERED: ordered_text(d, text, size); break;
    case DECISION_LIFTED: lifted_text(d, text, size); break;
    case DECISION_LAMPS:
        snprintf(text, size, "dark, with bright parts: equalized by %.0f %%", d->strength * 100);
        break;
    case DECISION_HAZY: snprintf(text, size, "hazy: black point pulled"); break;
    case DECISION_DULL:
        snprintf(text, size, "too little contrast: equalized by %.0f %%", d->strength * 100);
        break;
    case DECISION_FINE:
        snprintf(text, size, "well exposed: left alone%s%s%s", key ? ", " : "", key ? key : "",
                 key ? " for more" : "");
        break;
    case DECISION_PAGE: snprintf(text, size, "a page or a screen: left alone"); break;
    case DECISION_BLACK: snprintf(text, size, "black: left alone"); break;
    case DECISION_EMPTY: snprintf(text, size, "dark, and nothing in it: left alone"); break;
    }
}

/* ---- of a video ---- */

void decisions_add(Decisions *all, const Decision *d)
{
    Decision *sum = &all->of[d->kind].sum;
    sum->mode = d->mode;
    sum->dark += d->dark;
    sum->lift += d->lift;
    sum->strength += d->strength;
    sum->noise += d->noise >= 0 ? d->noise : 0;
    all->of[d->kind].noisy += d->noise >= 0;
    all->of[d->kind].frames++;
    all->frames++;
}

static Decision mean(const Decisions *all, int kind)
{
    const double frames = (double)all->of[kind].frames, noisy = (double)all->of[kind].noisy;
    Decision d = all->of[kind].sum;
    d.kind = (DecisionKind)kind;
    d.dark /= frames;
    d.lift /= frames;
    d.strength /= frames;
    d.noise = noisy > 0 ? d.noise / noisy : -1;
    return d;
}

void decisions_print(const Decisions *all, void (*print)(const char *line))
{
    int64_t before = INT64_MAX; /* of the line before */
    int said = -1;
    for (;;) {
        int next = -1;
        for (int i = 0; i < DECISION_KINDS; i++) {
            const int64_t n = all->of[i].frames;
            const int left = n < before || (n == before && i > said);
            if (n > 0 && n * 100 >= all->frames && left && (next < 0 || n > all->of[next].frames))
                next = i;
        }
        if (next < 0)
            return;
        char text[128], line[160];
        const Decision d = mean(all, next);
        decision_text(&d, NULL, text, sizeof(text));
        before = all->of[next].frames;
        said = next;
        if (before == all->frames)
            snprintf(line, sizeof(line), "%s", text);
        else
            snprintf(line, sizeof(line), "%s (%.0f %% of the frames)", text,
                     100.0 * (double)before / (double)all->frames);
        print(line);
    }
}
