#include "app/decision.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "app/options/option_arguments.h"

#define CODES 256 /* number of 8-bit codes */

/* Smaller values are not visible. */
#define VISIBLE_LIFT 1.05
#define VISIBLE_STRENGTH 0.15
#define VISIBLE_CHANGE 1.0 /* in 8-bit codes */
#define VISIBLE_CLEARED 0.1
#define VISIBLE_NOISE 1.0 /* in 8-bit codes */

/* The text names up to MAX_KINDS kinds. All but the first need MIN_PERCENT of the frames. */
#define MAX_KINDS 3
#define MIN_PERCENT 5

#define MORE " (--strength 1 or --profile fog does more)"

typedef struct Light {
    double mean; /* 0: black, 1: white */
    double peak; /* largest share of samples in any three neighbouring codes above the dark ones */
} Light;

/* Returns the level of an 8-bit code: 0 for black, 1 for white. */
static double level_of(double code, int full_range)
{
    return full_range ? code / 255 : (code - 16) / 219;
}

/* Returns the 8-bit SDR code that is as bright as an HDR level from 0 to 1. */
static int code_of_light(LumeqTransfer transfer, double level, int full_range)
{
    const double light = fmin(pow(lumeq_nits(transfer, level) / lumeq_nits(0, 1), 1 / 2.4), 1);
    return (int)lrint(full_range ? 255 * light : 16 + 219 * light);
}

static Light measure_light(const LumeqFrameStats *s, LumeqTransfer transfer, int full_range)
{
    Light light = {0};
    uint64_t sums[CODES] = {0};
    for (int i = 0; i < s->bins; i++) {
        const double level = level_of((double)i * CODES / s->bins, full_range);
        int code = (int)((int64_t)i * CODES / s->bins);
        if (transfer != LUMEQ_TRANSFER_SDR && level > 0)
            code = code_of_light(transfer, level, full_range);
        sums[code] += s->hist_in[i];
        light.mean +=
            s->hist_in[i] * (transfer == LUMEQ_TRANSFER_SDR ? level : level_of(code, full_range));
    }
    for (int i = 1; i < CODES; i++)
        sums[i] += sums[i - 1];
    if (!sums[CODES - 1])
        return light;
    light.mean /= (double)sums[CODES - 1];
    for (int i = full_range ? 12 : 28; i + 2 < CODES; i++) {
        const double peak = (double)(sums[i + 2] - sums[i - 1]) / (double)sums[CODES - 1];
        light.peak = peak > light.peak ? peak : light.peak;
    }
    return light;
}

/* The thresholds of `peak` and `dark` lie in the middle of transitions of rule/lift.c. */
static DecisionKind find_kind(const LumeqFrameStats *s, const Light *light)
{
    if (s->lift >= VISIBLE_LIFT)
        return DECISION_LIFTED;
    if (light->mean < 0.03 && s->strength < VISIBLE_STRENGTH)
        return DECISION_BLACK;
    if (light->peak > 0.45)
        return DECISION_PAGE;
    if (s->dark >= 0.5 && s->strength >= VISIBLE_STRENGTH)
        return DECISION_LAMPS;
    if (s->dark >= 0.5)
        return DECISION_EMPTY;
    if (s->cleared >= VISIBLE_CLEARED)
        return DECISION_HAZY;
    return s->strength < VISIBLE_STRENGTH ? DECISION_FINE : DECISION_DULL;
}

static double mean_change(const LumeqFrameStats *s, int depth)
{
    const double code = (double)(1 << depth) / s->bins; /* codes per bin */
    double sum = 0, count = 0;
    for (int i = 0; s->curve && i < s->bins; i++) {
        sum += s->hist_in[i] * fabs(s->curve[i] / 65536.0 - i * code);
        count += s->hist_in[i];
    }
    return count > 0 ? sum / count * CODES / (1 << depth) : -1;
}

Decision decision_find(const LumeqFrameStats *stats, const LumeqParams *params,
                       const Options *options, int depth, int full_range)
{
    Decision d = {.kind = DECISION_ORDERED,
                  .mode = params->mode,
                  .limit = params->limit,
                  .light = params->brightness != 0 || (params->gamma != 0 && params->gamma != 1),
                  .options = options,
                  .denoised = stats->filtered && stats->previous > 0 &&
                              stats->noise * stats->lift >= VISIBLE_NOISE,
                  .dark = stats->dark,
                  .lift = stats->lift,
                  .strength = stats->strength,
                  .change = mean_change(stats, depth)};
    if (params->mode == LUMEQ_MODE_OFF) {
        d.kind = d.light ? DECISION_LIGHT : DECISION_OFF;
    } else if (params->reference) {
        d.kind = DECISION_REFERENCE;
    } else if (params->mode == LUMEQ_MODE_GLOBAL && params->lift &&
               params->limit != LUMEQ_LIMIT_DARKEN) {
        const Light light = measure_light(stats, params->transfer, full_range);
        d.kind = find_kind(stats, &light);
    }
    return d;
}

/* For DECISION_ORDERED: prints the option that ordered the change. */
static void name_option(const Decision *d, char *text, size_t size)
{
    if (d->mode != LUMEQ_MODE_GLOBAL)
        option_print_given(d->options, "mode", text, size);
    else if (d->limit == LUMEQ_LIMIT_DARKEN)
        snprintf(text, size, "--limit darken");
    else
        snprintf(text, size, "--strength %.3g", d->strength);
}

static const char *situation(const Decision *d)
{
    switch (d->kind) {
    case DECISION_OFF:
    case DECISION_LIGHT: return "not equalized (--mode off)";
    case DECISION_REFERENCE: return "equalized like OpenCV (--reference)";
    case DECISION_LIFTED: return d->dark >= 0.5 ? "dark" : "dim";
    case DECISION_LAMPS: return "dark with bright parts";
    case DECISION_HAZY: return "haze";
    case DECISION_DULL: return "low contrast";
    case DECISION_FINE: return "well exposed";
    case DECISION_PAGE: return "page or screen recording";
    case DECISION_BLACK: return "black";
    case DECISION_EMPTY: return "noise only";
    default: return "";
    }
}

/* True if the change is not visible. d->change is incomplete in modes clahe and haze. */
static bool is_hardly_changed(const Decision *d)
{
    const int tiles = d->mode == LUMEQ_MODE_CLAHE || d->mode == LUMEQ_MODE_HAZE;
    return d->strength <= 0 || (!tiles && d->change >= 0 && d->change < VISIBLE_CHANGE);
}

static const char *raised(const Decision *d)
{
    if (d->limit != LUMEQ_LIMIT_NONE)
        return d->limit == LUMEQ_LIMIT_DARKEN ? "darkened" : "lightened";
    if (d->mode == LUMEQ_MODE_HAZE)
        return "haze removed";
    if (d->kind == DECISION_HAZY)
        return "cleared";
    return d->mode == LUMEQ_MODE_CLAHE ? "contrast raised in tiles" : "contrast raised";
}

/* True if the equalizer visibly changed this kind of picture. */
static bool is_equalized(const Decision *d)
{
    switch (d->kind) {
    case DECISION_HAZY: return 1;
    case DECISION_ORDERED:
    case DECISION_LAMPS:
    case DECISION_DULL: return !is_hardly_changed(d);
    case DECISION_PAGE:
    case DECISION_BLACK:
    case DECISION_EMPTY: return d->strength >= VISIBLE_STRENGTH && !is_hardly_changed(d);
    default: return 0;
    }
}

/* Prints what changed the midtones, such as "midtones lightened by --profile night". */
static void name_light(const Decision *d, char *text, size_t size)
{
    const Options *o = d->options;
    char name[64] = "--brightness and --gamma";
    if (o->brightness == 0 || o->gamma == 1)
        option_print_given(o, o->gamma == 1 ? "brightness" : "gamma", name, sizeof(name));
    const char *change = "changed";
    if (o->brightness >= 0 && o->gamma >= 1)
        change = "lightened";
    else if (o->brightness <= 0 && o->gamma <= 1)
        change = "darkened";
    snprintf(text, size, "midtones %s by %s", change, name);
}

/* Describes the change; "" if situation() already does. */
static void action(const Decision *d, char *text, size_t size)
{
    char light[96];
    text[0] = '\0';
    if (d->kind == DECISION_OFF || d->kind == DECISION_REFERENCE)
        return;
    if (d->kind == DECISION_LIFTED)
        snprintf(text, size, "lifted %.1fx%s%s", d->lift, d->denoised ? ", noise reduced" : "",
                 d->strength >= VISIBLE_STRENGTH ? ", contrast raised" : "");
    else if (is_equalized(d) && d->kind == DECISION_ORDERED && d->mode != LUMEQ_MODE_GLOBAL)
        snprintf(text, size, "%s, strength %.2g", raised(d), d->strength);
    else if (is_equalized(d))
        snprintf(text, size, "%s", raised(d));
    else if (!d->light)
        snprintf(text, size, "%s", d->kind >= DECISION_PAGE ? "left alone" : "hardly changed");
    const size_t used = strlen(text);
    if (d->light) {
        name_light(d, light, sizeof(light));
        snprintf(text + used, size - used, "%s%s", used ? ", " : "only ", light);
    }
}

static void whole_text(const Decision *d, const char *share, char *text, size_t size)
{
    char is[64], done[256];
    if (d->kind == DECISION_ORDERED)
        name_option(d, is, sizeof(is));
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

void decisions_add(Decisions *all, const Decision *d)
{
    Decision *sum = &all->of[d->kind].sum;
    sum->mode = d->mode;
    sum->limit = d->limit;
    sum->light = d->light;
    sum->options = d->options;
    sum->denoised += d->denoised;
    sum->dark += d->dark;
    sum->lift += d->lift;
    sum->strength += d->strength;
    sum->change += d->change;
    all->of[d->kind].frames++;
    all->frames++;
}

static Decision mean(const Decisions *all, int kind)
{
    const double frames = (double)all->of[kind].frames;
    Decision d = all->of[kind].sum;
    d.kind = (DecisionKind)kind;
    d.denoised = d.denoised * 2 > frames;
    d.dark /= frames;
    d.lift /= frames;
    d.strength /= frames;
    d.change /= frames;
    return d;
}

void decisions_text(const Decisions *all, char *text, size_t size)
{
    int named[DECISION_KINDS] = {0};
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < MAX_KINDS && used < size; i++) {
        char share[32] = "", line[352];
        int kind = 0; /* the most frequent kind not named yet */
        for (int k = 1; k < DECISION_KINDS; k++)
            if (!named[k] && (named[kind] || all->of[k].frames > all->of[kind].frames))
                kind = k;
        const double part = 100.0 * (double)all->of[kind].frames / (double)all->frames;
        if (!all->of[kind].frames || (i && part < MIN_PERCENT))
            break;
        const int alone = part > 100 - MIN_PERCENT;
        const Decision d = mean(all, kind);
        if (!alone)
            snprintf(share, sizeof(share), " (%.0f %% of the frames)", part);
        whole_text(&d, share, line, sizeof(line));
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", i ? "; " : "", line,
                                 alone && kind == DECISION_FINE ? MORE : "");
        named[kind] = 1;
    }
}
