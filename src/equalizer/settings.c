#include "equalizer/settings.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "equalizer/last_error.h"
#include "equalizer/rule/decay.h"
#include "equalizer/rule/light.h"

/* Frame duration if neither timestamps nor the caller give it: 25 frames a second. */
#define FALLBACK_DURATION_NS 40000000

/* The clip limit for LUMEQ_CLIP_AUTO without lift. */
#define USUAL_CLIP 3.0

/* Default of LumeqParams.tiles_x and tiles_y. */
#define USUAL_TILES 8

#define MAX_BIN_BITS 12
_Static_assert(LUMEQ_MAX_BINS == 1 << MAX_BIN_BITS, "as many bins as the deepest histogram has");

/* Upper limit of struct sizes, to detect an uninitialized size. */
#define LARGEST_STRUCT 65536

/* Returns the size of the caller's struct; 0: invalid. */
static size_t size_of(const void *caller, size_t own)
{
    size_t size;
    memcpy(&size, caller, sizeof(size));
    if (!size)
        return own; /* a caller's 0 means the size in version 1.0, which is the same */
    return size > LARGEST_STRUCT || size % sizeof(size) ? 0 : size;
}

int lumeq_take_struct(void *to, size_t to_size, const void *from, const char *name)
{
    const size_t size = size_of(from, to_size);
    int known = size != 0;
    for (size_t i = to_size; i < size; i++)
        known &= !((const uint8_t *)from)[i];
    if (!known)
        return lumeq_refuse("%s has an invalid size, or unknown members that are not 0", name);
    memset(to, 0, to_size);
    memcpy(to, from, size < to_size ? size : to_size);
    memcpy(to, &to_size, sizeof(to_size));
    return 0;
}

int lumeq_give_struct(void *to, const void *from, size_t from_size)
{
    const size_t room = size_of(to, from_size), begin = sizeof(size_t);
    if (!room)
        return LUMEQ_ERR_ARGUMENT;
    memcpy((uint8_t *)to + begin, (const uint8_t *)from + begin,
           (room < from_size ? room : from_size) - begin);
    return 0;
}

LumeqClock lumeq_clock_next(const LumeqClock *clock, int64_t number, int64_t time, int64_t duration)
{
    int64_t step = duration > 0 ? duration : FALLBACK_DURATION_NS;
    if (clock->started && time != LUMEQ_NO_TIME && clock->last_time != LUMEQ_NO_TIME &&
        time > clock->last_time) {
        const uint64_t apart = (uint64_t)time - (uint64_t)clock->last_time;
        step = apart < INT64_MAX ? (int64_t)apart : INT64_MAX;
    }
    return (LumeqClock){
        .last_time = time,
        .step = step,
        .number = number || !clock->started ? number : (int64_t)((uint64_t)clock->number + 1),
        .started = 1,
    };
}

static uint32_t to_q16(double value)
{
    return (uint32_t)lrint(value * CURVE_ONE);
}

CurveParams lumeq_sample_params(const LumeqImage *image)
{
    const int full = image->range == LUMEQ_RANGE_FULL, depth = image->depth;
    const int fraction = depth > MAX_BIN_BITS ? depth - MAX_BIN_BITS : 0;
    return (CurveParams){
        .depth = depth,
        .shift = image->shift,
        .bins = 1 << (depth - fraction),
        .fraction = fraction,
        .black = full ? 0 : 16 << (depth - 8),
        .white = full ? (1 << depth) - 1 : 235 << (depth - 8),
    };
}

/* Clips the meter to the picture. Returns {0} if it covers all or nothing, or is ignored. */
static LumeqRect meter_of(const LumeqParams *params, const LumeqImage *image)
{
    LumeqRect m = params->meter;
    if (m.width < 0)
        m = (LumeqRect){image->width / 4, image->height / 4, (image->width + 1) / 2,
                        (image->height + 1) / 2};
    const int all = m.x == 0 && m.y == 0 && m.width >= image->width && m.height >= image->height;
    const int ignored = params->reference || params->mode == LUMEQ_MODE_HAZE;
    if (all || ignored || m.x >= image->width || m.y >= image->height)
        return (LumeqRect){0};
    if (m.width > image->width - m.x)
        m.width = image->width - m.x;
    if (m.height > image->height - m.y)
        m.height = image->height - m.y;
    return m;
}

/* Longest step between frames, in nanoseconds. Longer steps count as this long. */
#define MOST_STEP INT64_C(1000000000000)

/* At full brightness, tones near black become 1 + this many times as light. */
#define MOST_LIGHT 6

static CurveLight light_of(const LumeqParams *params)
{
    const double gamma = params->gamma;
    return (CurveLight){
        .power = gamma == 0 || gamma == 1 ? 0 : (uint32_t)llrint(CURVE_LIGHT_ONE / gamma),
        .lift = (int32_t)llrint(params->brightness * MOST_LIGHT * CURVE_LIGHT_ONE),
    };
}

static double literal_clip(const LumeqParams *params)
{
    return params->clip == LUMEQ_CLIP_AUTO ? USUAL_CLIP : params->clip;
}

CurveParams lumeq_curve_params(const LumeqParams *params, const LumeqImage *image,
                               const LumeqClock *clock)
{
    const int on = params->mode != LUMEQ_MODE_OFF, reference = on && params->reference;
    CurveParams curve = lumeq_sample_params(image);
    if (!reference)
        curve.light = light_of(params);
    const int curved = (on && !reference) || light_is_on(&curve.light);
    curve.clip = to_q16(literal_clip(params));
    curve.alpha = lumeq_decay(clock->step, llrint(params->smooth * 1e9));
    curve.step = (uint32_t)(clock->step < MOST_STEP ? clock->step / 1000 : MOST_STEP / 1000);
    curve.strength = on ? to_q16(params->strength) : 0;
    curve.adaptive = params->adaptive;
    curve.stretch = params->mode == LUMEQ_MODE_STRETCH;
    curve.scene_cut = params->scene_cut != 0;
    curve.limit = (int32_t)params->limit;
    curve.reference = reference;
    curve.transfer = reference ? LUMEQ_TRANSFER_SDR : (int32_t)params->transfer;
    /* With tiles, chroma gets the gain of luma's codes. In PQ, unchanged chroma comes closer to
     * SDR's colours. */
    const int scales = !lumeq_has_tiles(params) || curve.transfer != LUMEQ_TRANSFER_PQ;
    curve.chroma = curved && scales && params->chroma == LUMEQ_CHROMA_SCALE;
    curve.dither = curved && params->dither;
    curve.frame = (uint32_t)clock->number;
    curve.meter = meter_of(params, image);
    const int hazy = params->mode == LUMEQ_MODE_HAZE;
    if (hazy || (params->lift && (!on || (params->mode == LUMEQ_MODE_GLOBAL && !reference)))) {
        curve.lift = curve.adaptive = 1;
        curve.clear = hazy ? CURVE_CLEAR_ALWAYS : CURVE_CLEAR_HAZY;
        if (on && !hazy)
            curve.strength = CURVE_ONE;
        curve.denoise = params->denoise == LUMEQ_DENOISE_AUTO ? CURVE_ONE : to_q16(params->denoise);
        if (params->clip == LUMEQ_CLIP_AUTO)
            curve.clip = CURVE_CLIP_AUTO;
        /* The filter would lighten samples that are darker than their surroundings. */
        if (params->limit == LUMEQ_LIMIT_DARKEN)
            curve.denoise = 0;
    }
    if (curve.alpha < 1)
        curve.alpha = 1; /* 0 would stop the curve */
    return curve;
}

BarsParams lumeq_bars_params(const LumeqParams *params, const LumeqImage *image, int64_t step)
{
    const int reference = params->mode != LUMEQ_MODE_OFF && params->reference;
    return (BarsParams){
        .width = image->width,
        .height = image->height,
        .depth = image->depth,
        .shift = image->shift,
        .range = image->range,
        .ignore = params->bars == LUMEQ_BARS_IGNORE || reference,
        .step = step,
    };
}

int lumeq_has_tiles(const LumeqParams *params)
{
    return params->mode == LUMEQ_MODE_CLAHE;
}

int lumeq_tiles_params(TileGrid *grid, const LumeqParams *params, const LumeqImage *image,
                       const CurveParams *curve)
{
    const int x = params->tiles_x, y = params->tiles_y;
    if (!lumeq_has_tiles(params))
        return 0;
    lumeq_tile_grid(grid, image->width, image->height, x ? x : USUAL_TILES, y ? y : USUAL_TILES,
                    curve, literal_clip(params));
    return 1;
}

#define SHARED .scene_cut = 1, .lift = 1, .denoise = LUMEQ_DENOISE_AUTO, .gamma = 1
#define TILES(x, y) .tiles_x = (x), .tiles_y = (y)

static const LumeqParams usual = {SHARED, .strength = LUMEQ_STRENGTH_AUTO, .clip = LUMEQ_CLIP_AUTO,
                                  TILES(USUAL_TILES, USUAL_TILES), .smooth = 0.5};

void lumeq_params_default(LumeqParams *params)
{
    if (params)
        (void)lumeq_give_struct(params, &usual, sizeof(usual));
}

static const struct {
    const char *name;
    LumeqParams params;
} profiles[] = {
    {"fog",
     {SHARED, TILES(USUAL_TILES, USUAL_TILES), .mode = LUMEQ_MODE_HAZE, .strength = 1,
      .clip = LUMEQ_CLIP_AUTO, .smooth = 0.5}},
    {"medical-gray",
     {SHARED, TILES(4, 4), .mode = LUMEQ_MODE_CLAHE, .strength = 1, .clip = 2, .smooth = 0.1,
      .chroma = LUMEQ_CHROMA_KEEP, .bars = LUMEQ_BARS_IGNORE}},
    {"night",
     {SHARED, .strength = LUMEQ_STRENGTH_AUTO, .clip = LUMEQ_CLIP_AUTO, TILES(8, 8), .smooth = 0.5,
      .brightness = 0.13}},
    {"screen",
     {SHARED, TILES(8, 8), .mode = LUMEQ_MODE_STRETCH, .strength = 0.8, .clip = LUMEQ_CLIP_AUTO,
      .smooth = 0.5}},
    {"surveillance",
     {SHARED, TILES(4, 3), .mode = LUMEQ_MODE_CLAHE, .strength = 0.9, .clip = 2.8, .smooth = 2}},
    {"thermal",
     {SHARED, TILES(4, 3), .mode = LUMEQ_MODE_CLAHE, .strength = 0.8, .clip = 4, .smooth = 2,
      .code_range = LUMEQ_CODE_RANGE_USED}},
    {"water",
     {SHARED, TILES(USUAL_TILES, USUAL_TILES), .mode = LUMEQ_MODE_HAZE, .strength = 1,
      .clip = LUMEQ_CLIP_AUTO, .smooth = 0.5}},
};

#define PROFILES ((int)(sizeof(profiles) / sizeof(profiles[0])))

const char *lumeq_profile_name(int index)
{
    return index >= 0 && index < PROFILES ? profiles[index].name : NULL;
}

int lumeq_params_profile(LumeqParams *params, const char *name)
{
    LumeqParams made;
    if (!params || !name)
        return lumeq_refuse("`params` or `name` is NULL");
    if (LUMEQ_TAKE(LumeqParams, &made, params) < 0)
        return LUMEQ_ERR_ARGUMENT;
    for (int i = 0; i < PROFILES; i++) {
        if (strcmp(name, profiles[i].name) != 0)
            continue;
        const LumeqParams before = made;
        made = profiles[i].params;
        made.await_noise = before.await_noise;
        made.transfer = before.transfer;
        return lumeq_give_struct(params, &made, sizeof(made));
    }
    return lumeq_refuse(
        "profile '%.40s' is unknown; choose fog, medical-gray, night, screen, surveillance, "
        "thermal or water",
        name);
}
