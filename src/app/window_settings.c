#include "app/window_settings.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "app/options/option_arguments.h"
#include "app/options/option_table.h"
#include "app/setup.h"

/* Steps of settings. Clip limits and gamma change by a ratio, since equal ratios look equal. */
#define STRENGTH_STEP 0.05
#define MIN_VISIBLE_STRENGTH 0.25 /* a step up from auto reaches at least this */
#define SMOOTH_STEP 0.1           /* seconds */
#define MAX_SMOOTH 60
#define CLIP_RATIO 1.125
#define MAX_CLIP 100     /* the next step up is 0, no limit */
#define DEFAULT_CLIP 3.0 /* steps from auto start here */
#define BRIGHTNESS_STEP 0.05
#define GAMMA_RATIO 1.1
#define DENOISE_STEP 0.1

typedef struct Row {
    const char *option, *title; /* name in the option table; name in messages */
} Row;

static const Row rows[PLAYER_SETTINGS] = {
    [PLAYER_MODE] = {"mode", "Mode"},
    [PLAYER_PROFILE] = {"profile", "Profile"},
    [PLAYER_STRENGTH] = {"strength", "Strength"},
    [PLAYER_CLIP] = {"clip", "Clip limit"},
    [PLAYER_TILES] = {"tiles", "Tiles"},
    [PLAYER_CHROMA] = {"chroma", "Chroma"},
    [PLAYER_SMOOTH] = {"smooth", "Smoothing"},
    [PLAYER_BARS] = {"bars", "Black bars"},
    [PLAYER_RANGE] = {"range", "Range"},
    [PLAYER_DENOISE] = {"denoise", "Denoise"},
    [PLAYER_BRIGHTNESS] = {"brightness", "Brightness"},
    [PLAYER_GAMMA] = {"gamma", "Gamma"},
    [PLAYER_METER] = {"meter", "Metering"},
    [PLAYER_DEINTERLACE] = {"deinterlace", "Deinterlace"},
};

void window_settings_open(WindowSettings *s, const Options *options, OptionsInput input)
{
    *s = (WindowSettings){.usual = *options, .now = *options, .input = input};
    s->on = options->mode == LUMEQ_MODE_OFF ? LUMEQ_MODE_GLOBAL : options->mode;
}

void window_settings_next(WindowSettings *s, OptionsInput input)
{
    s->input = input;
    s->now.meter = s->usual.meter;
}

const char *window_settings_option(PlayerSetting setting)
{
    return rows[setting].option;
}

static const Option *option_of(PlayerSetting setting)
{
    return option_find(rows[setting].option, strlen(rows[setting].option));
}

/* ---- in words ---- */

static void value_text(const Options *o, PlayerSetting setting, char *text, size_t size)
{
    const Option *option = option_of(setting);
    char plain[OSD_SETTING_TEXT];
    const char *value =
        option_value_text(option, (const char *)o + option->offset, plain, sizeof(plain));
    if (setting == PLAYER_CLIP && o->clip == 0)
        value = "none";
    else if ((setting == PLAYER_DENOISE && o->denoise == 0) ||
             (setting == PLAYER_METER && o->meter.width == 0))
        value = "off";
    if (setting == PLAYER_METER && o->meter.width > 0)
        snprintf(text, size, "%dx%d at %d,%d", o->meter.width, o->meter.height, o->meter.x,
                 o->meter.y);
    else
        snprintf(text, size, "%s%s", value, setting == PLAYER_SMOOTH ? " s" : "");
}

/* True if the setting cannot be changed because of --reference. */
static bool is_excluded(const Options *o, PlayerSetting setting)
{
    switch (setting) {
    case PLAYER_MODE:
    case PLAYER_PROFILE:
    case PLAYER_CLIP:
    case PLAYER_TILES:
    case PLAYER_RANGE:
    case PLAYER_DEINTERLACE: return 0;
    default: return o->reference && setting < PLAYER_SETTINGS;
    }
}

/* True if --reference excludes the mode. */
static bool is_excluded_mode(LumeqMode mode)
{
    return mode == LUMEQ_MODE_STRETCH || mode == LUMEQ_MODE_HAZE;
}

/* Returns the reason why a setting has no effect now, or NULL. */
static const char *why_idle(const WindowSettings *s, PlayerSetting setting)
{
    const Options *o = &s->now;
    const int lifts = o->mode == LUMEQ_MODE_HAZE ||
                      (window_settings_all(s).params.lift && o->mode == LUMEQ_MODE_GLOBAL);
    if (is_excluded(o, setting))
        return "with --reference";
    switch (setting) {
    case PLAYER_MODE:
    case PLAYER_PROFILE:
    case PLAYER_RANGE:
    case PLAYER_DEINTERLACE:
    case PLAYER_BRIGHTNESS:
    case PLAYER_GAMMA: return NULL;
    default: break;
    }
    if (o->mode == LUMEQ_MODE_OFF)
        return "in mode off";
    switch (setting) {
    case PLAYER_TILES: return o->mode == LUMEQ_MODE_CLAHE ? NULL : "outside mode clahe";
    case PLAYER_CLIP:
        if (o->mode == LUMEQ_MODE_STRETCH)
            return "in mode stretch";
        return o->reference && o->mode != LUMEQ_MODE_CLAHE ? "with --reference" : NULL;
    case PLAYER_METER:
        if (o->mode == LUMEQ_MODE_HAZE)
            return "in mode haze";
        return o->mode == LUMEQ_MODE_CLAHE ? "with tiles" : NULL;
    case PLAYER_DENOISE: return lifts ? NULL : "since these settings lift nothing";
    default: return NULL;
    }
}

static void say_setting(const WindowSettings *s, PlayerSetting setting, char *text, size_t size)
{
    static const char *const deinterlace[] = {
        [OPTIONS_AUTO] = "interlaced frames", [OPTIONS_ON] = "all frames", [OPTIONS_OFF] = "off"};
    char value[2 * OSD_SETTING_TEXT];
    const char *idle = why_idle(s, setting);
    value_text(&s->now, setting, value, sizeof(value));
    if (setting == PLAYER_METER && s->now.meter.width <= 0)
        snprintf(value, sizeof(value), "the %s", s->now.meter.width ? "centre" : "whole picture");
    else if (setting == PLAYER_METER)
        snprintf(value, sizeof(value), "only the marked part, %dx%d pixels", s->now.meter.width,
                 s->now.meter.height);
    if (setting == PLAYER_DEINTERLACE)
        snprintf(text, size, "Deinterlace: %s", deinterlace[s->now.deinterlace]);
    else if (idle)
        snprintf(text, size, "%s: %s; no effect %s", rows[setting].title, value, idle);
    else
        snprintf(text, size, "%s: %s", rows[setting].title, value);
}

void window_settings_list(const WindowSettings *s, OsdSettings *to)
{
    memset(to, 0, sizeof(*to)); /* callers compare it with memcmp() */
    to->count = PLAYER_SETTINGS;
    for (int i = 0; i < PLAYER_SETTINGS; i++) {
        OsdSetting *row = &to->rows[i];
        snprintf(row->name, sizeof(row->name), "%s", rows[i].option);
        value_text(&s->now, (PlayerSetting)i, row->value, sizeof(row->value));
        value_text(&s->usual, (PlayerSetting)i, row->usual, sizeof(row->usual));
        row->changed = strcmp(row->value, row->usual) != 0;
        row->idle = why_idle(s, (PlayerSetting)i) != NULL;
    }
}

/* ---- steps ---- */

static double rounded(double value)
{
    return round(value * 100) / 100;
}

/* Moves a value by `step` steps of this size, and rounds it to a multiple of the size. */
static double stepped(double value, int step, double size)
{
    return rounded((round(value / size) + step) * size);
}

/* Moves the strength by `step` steps. An automatic strength starts from the strength of `seen`. */
static double stepped_strength(const WindowSettings *s, int step, const LumeqFrameStats *seen)
{
    const LumeqParams params = window_settings_all(s).params;
    double strength = params.strength < 0 ? OPTIONS_USUAL_STRENGTH : params.strength;
    if ((params.adaptive || params.lift) && s->now.mode != LUMEQ_MODE_OFF && seen) {
        strength = seen->strength;
        if (step > 0)
            strength = fmax(strength, MIN_VISIBLE_STRENGTH - STRENGTH_STEP);
    }
    return av_clipd(stepped(strength, step, STRENGTH_STEP), 0, 1);
}

static int wrapped(int value, int step, int count)
{
    return ((value + step) % count + count) % count;
}

static LumeqMode stepped_mode(const Options *o, int step)
{
    static const LumeqMode order[] = {LUMEQ_MODE_GLOBAL, LUMEQ_MODE_CLAHE, LUMEQ_MODE_STRETCH,
                                      LUMEQ_MODE_HAZE, LUMEQ_MODE_OFF};
    const int count = sizeof(order) / sizeof(order[0]);
    int at = 0;
    while (order[at] != o->mode)
        at++;
    at = wrapped(at, step, count);
    while (o->reference && is_excluded_mode(order[at]))
        at = wrapped(at, step > 0 ? 1 : -1, count);
    return order[at];
}

/* Applies profile `number` (0: none), after resetting all options that any profile sets. */
static void set_profile(WindowSettings *s, int number)
{
    const Options none = options_default();
    const Options *without = s->usual.profile ? &none : &s->usual;
    for (int i = 0; i < profile_count; i++)
        for (const ProfileSetting *p = profiles[i].settings; p->option; p++)
            option_copy(option_find(p->option, strlen(p->option)), &s->now,
                        number == s->usual.profile ? &s->usual : without);
    s->now.profile = number;
    if (number != s->usual.profile)
        option_set_profile(&s->now);
}

static void change_by(WindowSettings *s, PlayerSetting setting, int step,
                      const LumeqFrameStats *seen)
{
    Options *o = &s->now;
    double value;
    if (is_excluded(o, setting))
        return;
    switch (setting) {
    case PLAYER_MODE: o->mode = stepped_mode(o, step); break;
    case PLAYER_PROFILE:
        set_profile(s, wrapped(o->profile, step, profile_count + 1));
        while (o->reference && is_excluded_mode(o->mode))
            set_profile(s, wrapped(o->profile, step > 0 ? 1 : -1, profile_count + 1));
        break;
    case PLAYER_STRENGTH: o->strength = stepped_strength(s, step, seen); break;
    case PLAYER_CLIP:
        value = o->clip == LUMEQ_CLIP_AUTO ? DEFAULT_CLIP : o->clip;
        value = value == 0 ? MAX_CLIP * CLIP_RATIO : value;
        value = fmax(1, value * pow(CLIP_RATIO, step));
        o->clip = value > MAX_CLIP ? 0 : rounded(value);
        break;
    case PLAYER_TILES:
        o->tiles.x = (int)av_clipd(o->tiles.x + step, 1, LUMEQ_MAX_TILES);
        o->tiles.y = (int)av_clipd(o->tiles.y + step, 1, LUMEQ_MAX_TILES);
        break;
    case PLAYER_CHROMA: o->chroma = (LumeqChroma)wrapped((int)o->chroma, step, 2); break;
    case PLAYER_SMOOTH:
        o->smooth = av_clipd(stepped(o->smooth, step, SMOOTH_STEP), 0, MAX_SMOOTH);
        break;
    case PLAYER_BARS: o->bars = (LumeqBars)wrapped((int)o->bars, step, 2); break;
    case PLAYER_RANGE: o->range = wrapped(o->range, step, 3); break;
    case PLAYER_DENOISE: /* the step after 1 is auto */
        value = o->denoise == LUMEQ_DENOISE_AUTO ? 1 + DENOISE_STEP : o->denoise;
        value = stepped(value, step, DENOISE_STEP);
        o->denoise = value > 1 ? LUMEQ_DENOISE_AUTO : fmax(value, 0);
        break;
    case PLAYER_BRIGHTNESS:
        o->brightness = av_clipd(stepped(o->brightness, step, BRIGHTNESS_STEP), -1, 1);
        break;
    case PLAYER_GAMMA:
        value = rounded(pow(GAMMA_RATIO, round(log(o->gamma) / log(GAMMA_RATIO)) + step));
        o->gamma = av_clipd(value, LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA);
        break;
    case PLAYER_METER:
        o->meter = o->meter.width ? (LumeqRect){0} : (LumeqRect){.width = -1, .height = -1};
        break;
    case PLAYER_DEINTERLACE: o->deinterlace = wrapped(o->deinterlace, step, 3); break;
    case PLAYER_ON_OFF: o->mode = o->mode == LUMEQ_MODE_OFF ? s->on : LUMEQ_MODE_OFF; break;
    default: break;
    }
}

int window_settings_get(const WindowSettings *s, PlayerSetting setting, char *text, size_t size)
{
    const Option *option = option_of(setting);
    const char *now = (const char *)&s->now + option->offset;
    char plain[OSD_SETTING_TEXT];
    snprintf(text, size, "%s", option_value_text(option, now, plain, sizeof(plain)));
    return memcmp(now, (const char *)&s->usual + option->offset, option_size(option)) != 0 &&
           (setting != PLAYER_METER || s->now.meter.width < 0);
}

void window_settings_put(WindowSettings *s, PlayerSetting setting, const char *value,
                         const Refusal *refusal)
{
    Options wanted = s->now;
    if (setting == PLAYER_PROFILE && strcmp(value, "none") == 0)
        set_profile(s, 0);
    else if (option_set(option_of(setting), &wanted, value, refusal) >= 0 && wanted.profile >= 0) {
        if (setting == PLAYER_PROFILE)
            set_profile(s, wanted.profile);
        else
            option_copy(option_of(setting), &s->now, &wanted);
    }
    if (s->now.mode != LUMEQ_MODE_OFF)
        s->on = s->now.mode;
}

void window_settings_change(WindowSettings *s, PlayerSetting setting, int step,
                            const LumeqFrameStats *shown, char *text, size_t size)
{
    if (setting == PLAYER_RESET)
        s->now = s->usual;
    else if (step != PLAYER_STEP_BACK || setting >= PLAYER_SETTINGS)
        change_by(s, setting, step, shown);
    else if (setting == PLAYER_PROFILE)
        set_profile(s, s->usual.profile);
    else
        option_copy(option_of(setting), &s->now, &s->usual);
    if (s->now.mode != LUMEQ_MODE_OFF)
        s->on = s->now.mode;
    if (setting == PLAYER_ON_OFF)
        snprintf(text, size, "Equalizer: %s", s->now.mode == LUMEQ_MODE_OFF ? "off" : "on");
    else if (setting == PLAYER_RESET)
        snprintf(text, size, "Settings reset");
    else if (setting < PLAYER_SETTINGS)
        say_setting(s, setting, text, size);
}

void window_settings_meter(WindowSettings *s, LumeqRect part, char *text, size_t size)
{
    if (!is_excluded(&s->now, PLAYER_METER))
        s->now.meter = part.width > 0 ? part : (LumeqRect){0};
    say_setting(s, PLAYER_METER, text, size);
}

PlayerSettings window_settings_all(const WindowSettings *s)
{
    static const int ranges[] = {AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG};
    static const DeinterlaceMode deinterlace[] = {DEINTERLACE_AUTO, DEINTERLACE_ON,
                                                  DEINTERLACE_OFF};
    return (PlayerSettings){.params = options_params(&s->now, s->input),
                            .range = ranges[s->now.range],
                            .deinterlace = deinterlace[s->now.deinterlace],
                            .codes = setup_codes(&s->now, NULL).mode};
}
