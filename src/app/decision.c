#include "app/decision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CODES 256

/* From where on it is said: below that, nobody sees it. */
#define LIFT_SEEN 1.05
#define STRENGTH_SEEN 0.15
#define CHANGE_SEEN 1.0 /* in codes of 8 bits */

/* In codes of 8 bits: where a person begins to see it, and to be disturbed by it; and what a lift
 * may make of it at most, of which most is taken by the filters (see lift_rule.h). */
#define NOISE_SEEN 1.0
#define NOISE_LIMITS 13.0

/* In one line about a video: kinds of pictures at most, and what share of it makes one of them
 * worth the words, in percent. */
#define KINDS_NAMED 3
#define SHARE_SEEN 5

#define MORE " (--strength 1 or --profile fog does more)"

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
    if (light->mean < 0.03 && s->strength < STRENGTH_SEEN)
        return DECISION_BLACK;
    if (light->peak > 0.45)
        return DECISION_PAGE;
    if (s->dark >= 0.5 && s->strength >= STRENGTH_SEEN)
        return DECISION_LAMPS;
    if (s->dark >= 0.5)
        return DECISION_EMPTY;
    if (light->mean > 0.62 && light->floor > 0.1 && light->apart > 0.34)
        return DECISION_HAZY;
    return s->strength < STRENGTH_SEEN ? DECISION_FINE : DECISION_DULL;
}

/* See Decision. */
static double mean_change(const LumeqFrameStats *s, int depth)
{
    const double code = (double)(1 << depth) / s->bins; /* codes of a bin */
    double sum = 0, count = 0;
    for (int i = 0; s->curve && i < s->bins; i++) {
        sum += s->hist_in[i] * fabs(s->curve[i] / 65536.0 - i * code);
        count += s->hist_in[i];
    }
    return count > 0 ? sum / count * CODES / (1 << depth) : -1;
}

/* Filtering noise of less than a code makes no visible difference. */
static int is_denoised(const LumeqFrameStats *s)
{
    return s->filtered && s->previous > 0 && s->noise * s->lift >= NOISE_SEEN;
}

Decision decision_find(const LumeqFrameStats *stats, const LumeqParams *params, int depth,
                       int full_range)
{
    Decision d = {.kind = DECISION_ORDERED,
                  .mode = params->mode,
                  .limit = params->limit,
                  .adaptive = params->adaptive,
                  .light = params->brightness != 0 || (params->gamma != 0 && params->gamma != 1),
                  .denoised = is_denoised(stats),
                  .dark = stats->dark,
                  .lift = stats->lift,
                  .strength = stats->strength,
                  .noise = stats->noise,
                  .change = mean_change(stats, depth)};
    if (params->mode == LUMEQ_MODE_OFF) {
        d.kind = d.light ? DECISION_LIGHT : DECISION_OFF;
    } else if (params->reference) {
        d.kind = DECISION_REFERENCE;
    } else if (params->mode == LUMEQ_MODE_GLOBAL && params->lift &&
               params->limit != LUMEQ_LIMIT_DARKEN) {
        const Light light = look(stats, depth, full_range);
        d.kind = decided(stats, &light);
    }
    return d;
}

/* The option that decided instead of the picture. Only HDR video has an adaptive strength without
 * one. */
static void order(const Decision *d, char *text, size_t size)
{
    static const char *const modes[] = {[LUMEQ_MODE_CLAHE] = "--mode clahe",
                                        [LUMEQ_MODE_STRETCH] = "--mode stretch",
                                        [LUMEQ_MODE_HAZE] = "--mode haze"};
    if (d->mode != LUMEQ_MODE_GLOBAL)
        snprintf(text, size, "%s", modes[d->mode]);
    else if (d->limit == LUMEQ_LIMIT_DARKEN)
        snprintf(text, size, "--limit darken");
    else if (d->adaptive)
        snprintf(text, size, "HDR");
    else
        snprintf(text, size, "--strength %.3g", d->strength);
}

static const char *situation(const Decision *d)
{
    switch (d->kind) {
    case DECISION_OFF:
    case DECISION_LIGHT: return "not equalized (--mode off)";
    case DECISION_REFERENCE: return "equalized as OpenCV does it (--reference)";
    case DECISION_LIFTED: return d->dark >= 0.5 ? "dark" : "dim";
    case DECISION_LAMPS: return "dark with bright parts";
    case DECISION_HAZY: return "hazy";
    case DECISION_DULL: return "low contrast";
    case DECISION_FINE: return "well exposed";
    case DECISION_PAGE: return "page or screen recording";
    case DECISION_BLACK: return "black";
    case DECISION_EMPTY: return "noise only";
    default: return "";
    }
}

/* True if nobody sees what the equalizer did. In tiles the mean curve may be straight all the same.
 */
static int is_hardly_changed(const Decision *d)
{
    const int tiles = d->mode == LUMEQ_MODE_CLAHE || d->mode == LUMEQ_MODE_HAZE;
    return d->strength <= 0 || (!tiles && d->change >= 0 && d->change < CHANGE_SEEN);
}

static const char *raised(const Decision *d)
{
    return d->limit == LUMEQ_LIMIT_DARKEN    ? "darkened"
           : d->limit == LUMEQ_LIMIT_LIGHTEN ? "lightened"
           : d->mode == LUMEQ_MODE_HAZE      ? "haze removed"
           : d->mode == LUMEQ_MODE_CLAHE     ? "contrast raised in tiles"
                                             : "contrast raised";
}

static void lifted_text(const Decision *d, char *text, size_t size)
{
    snprintf(text, size, "lifted %.1fx%s%s%s", d->lift,
             d->noise * d->lift > NOISE_LIMITS ? ", as far as its noise allows" : "",
             d->denoised ? ", noise reduced" : "",
             d->strength >= STRENGTH_SEEN ? ", contrast raised" : "");
}

/* True if such a picture is one that the equalizer works on, when it is to. */
static int is_for_equalizing(const Decision *d)
{
    switch (d->kind) {
    case DECISION_ORDERED:
    case DECISION_LAMPS:
    case DECISION_HAZY:
    case DECISION_DULL: return !is_hardly_changed(d);
    case DECISION_PAGE:
    case DECISION_BLACK:
    case DECISION_EMPTY: return d->strength >= STRENGTH_SEEN && !is_hardly_changed(d);
    default: return 0;
    }
}

/* The change to such a picture; "" if situation() says it all. */
static void action(const Decision *d, char *text, size_t size)
{
    text[0] = '\0';
    if (d->kind == DECISION_OFF || d->kind == DECISION_REFERENCE)
        return;
    if (d->kind == DECISION_LIFTED)
        lifted_text(d, text, size);
    else if (is_for_equalizing(d) && d->kind == DECISION_ORDERED && d->mode != LUMEQ_MODE_GLOBAL)
        snprintf(text, size, "%s, strength %.2g", raised(d), d->strength);
    else if (is_for_equalizing(d))
        snprintf(text, size, "%s", raised(d));
    else if (d->light)
        snprintf(text, size, "only brightness and gamma changed");
    else
        snprintf(text, size, "%s", d->kind >= DECISION_PAGE ? "left alone" : "hardly changed");
}

static void whole_text(const Decision *d, const char *share, char *text, size_t size)
{
    char is[64], done[128];
    if (d->kind == DECISION_ORDERED)
        order(d, is, sizeof(is));
    else
        snprintf(is, sizeof(is), "%s", situation(d));
    action(d, done, sizeof(done));
    snprintf(text, size, "%s%s%s%s", is, share, done[0] ? ": " : "", done);
}

void decision_text(const Decision *d, const char *key, char *text, size_t size)
{
    whole_text(d, "", text, size);
    const size_t used = strlen(text);
    if (d->kind == DECISION_FINE && key && used < size)
        snprintf(text + used, size - used, ", %s for more", key);
}

/* ---- of a video ---- */

void decisions_add(Decisions *all, const Decision *d)
{
    Decision *sum = &all->of[d->kind].sum;
    sum->mode = d->mode;
    sum->limit = d->limit;
    sum->adaptive = d->adaptive;
    sum->light = d->light;
    sum->denoised += d->denoised;
    sum->dark += d->dark;
    sum->lift += d->lift;
    sum->strength += d->strength;
    sum->noise += d->noise >= 0 ? d->noise : 0;
    sum->change += d->change;
    all->of[d->kind].noisy += d->noise >= 0;
    all->of[d->kind].frames++;
    all->frames++;
}

static Decision mean(const Decisions *all, int kind)
{
    const double frames = (double)all->of[kind].frames, noisy = (double)all->of[kind].noisy;
    Decision d = all->of[kind].sum;
    d.kind = (DecisionKind)kind;
    d.denoised = d.denoised * 2 > frames;
    d.dark /= frames;
    d.lift /= frames;
    d.strength /= frames;
    d.change /= frames;
    d.noise = noisy > 0 ? d.noise / noisy : -1;
    return d;
}

/* The most frequent kind of those that are not `named`. */
static int most_frequent(const Decisions *all, const int named[DECISION_KINDS])
{
    int most = 0;
    for (int i = 1; i < DECISION_KINDS; i++)
        if (!named[i] && (named[most] || all->of[i].frames > all->of[most].frames))
            most = i;
    return most;
}

void decisions_text(const Decisions *all, char *text, size_t size)
{
    int named[DECISION_KINDS] = {0};
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < KINDS_NAMED && used < size; i++) {
        char share[32] = "", line[192];
        const int kind = most_frequent(all, named);
        const double part = 100.0 * (double)all->of[kind].frames / (double)all->frames;
        if (!all->of[kind].frames || (i && part < SHARE_SEEN))
            break;
        const int alone = part > 100 - SHARE_SEEN;
        const Decision d = mean(all, kind);
        if (!alone)
            snprintf(share, sizeof(share), " (%.0f %% of the frames)", part);
        whole_text(&d, share, line, sizeof(line));
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", i ? "; " : "", line,
                                 alone && kind == DECISION_FINE ? MORE : "");
        named[kind] = 1;
    }
}
