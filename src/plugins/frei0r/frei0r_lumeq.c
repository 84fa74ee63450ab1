/*
 * The frei0r filter "lumeq", for FFmpeg, GStreamer and MLT (melt, Kdenlive, Shotcut, Flowblade). A
 * host calls one instance from one thread at a time. frei0r cannot report errors, so a frame
 * that cannot be equalized passes unchanged.
 */
#include <frei0r.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lumeq/lumeq.h"

#define SECOND INT64_C(1000000000)
#define MAX_GAP (2 * SECOND) /* a larger gap between frames begins a new video */
#define USUAL_STEP (SECOND / 25)

/* Parameters. All hosts limit doubles to 0..1. */
enum { PROFILE, AUTOMATIC, STRENGTH, BRIGHTNESS, DENOISE, PARAMS };

static const struct {
    const char *name;
    int type;
    const char *about;
} params[PARAMS] = {
    {"profile", F0R_PARAM_STRING,
     "Settings for a kind of video: fog, medical-gray, night, screen, surveillance, thermal, "
     "water"},
    {"automatic", F0R_PARAM_BOOL, "Let the picture decide the strength, and lift dark video"},
    {"strength", F0R_PARAM_DOUBLE, "If not automatic: 0 is unchanged, 1 fully equalized"},
    {"brightness", F0R_PARAM_DOUBLE, "Below 0.5 darkens, above 0.5 lightens"},
    {"denoise", F0R_PARAM_DOUBLE, "Noise filter of lifted video, 0 to 1"},
};

typedef struct Filter {
    LumeqEqualizer *equalizer;
    int width, height;
    char profile[32];
    double numbers[PARAMS];
    int changed;      /* set until the equalizer has these settings */
    double host_time; /* of the previous frame, in the host's unit */
    int is_in_seconds;
    int64_t time; /* of the previous frame, in nanoseconds from the first one */
} Filter;

int f0r_init(void)
{
    return 1;
}

void f0r_deinit(void)
{
}

void f0r_get_plugin_info(f0r_plugin_info_t *info)
{
    *info = (f0r_plugin_info_t){.name = "lumeq",
                                .author = "the authors of lumeq",
                                .plugin_type = F0R_PLUGIN_TYPE_FILTER,
                                .color_model = F0R_COLOR_MODEL_RGBA8888,
                                .frei0r_version = FREI0R_MAJOR_VERSION,
                                .major_version = LUMEQ_VERSION_MAJOR,
                                .minor_version = LUMEQ_VERSION_MINOR,
                                .num_params = PARAMS,
                                .explanation = "Makes dark, dull and foggy video clear"};
}

void f0r_get_param_info(f0r_param_info_t *info, int index)
{
    *info = (f0r_param_info_t){
        .name = params[index].name, .type = params[index].type, .explanation = params[index].about};
}

f0r_instance_t f0r_construct(unsigned int width, unsigned int height)
{
    Filter *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    *f = (Filter){.width = (int)width,
                  .height = (int)height,
                  .numbers = {[AUTOMATIC] = 1, [STRENGTH] = 0.8, [BRIGHTNESS] = 0.5, [DENOISE] = 1},
                  .changed = 1};
    if (lumeq_create(&f->equalizer, NULL, NULL, 0) < 0) {
        free(f);
        return NULL;
    }
    return f;
}

void f0r_destruct(f0r_instance_t instance)
{
    Filter *f = instance;
    lumeq_destroy(&f->equalizer);
    free(f);
}

void f0r_set_param_value(f0r_instance_t instance, f0r_param_t value, int index)
{
    Filter *f = instance;
    const size_t most = sizeof(f->profile) - 1;
    if (index == PROFILE)
        strncpy(f->profile, *(f0r_param_string *)value, most);
    else
        f->numbers[index] = *(double *)value;
    f->changed = 1;
}

void f0r_get_param_value(f0r_instance_t instance, f0r_param_t value, int index)
{
    Filter *f = instance;
    if (index == PROFILE)
        *(f0r_param_string *)value = f->profile;
    else
        *(double *)value = f->numbers[index];
}

/* An unknown profile has no effect. If the library refuses a number, all settings stay. */
static void set_params(Filter *f)
{
    LumeqParams p = {.size = sizeof(p)};
    lumeq_params_default(&p);
    (void)lumeq_params_profile(&p, f->profile);
    if (f->numbers[AUTOMATIC] < 0.5)
        p.strength = f->numbers[STRENGTH];
    if (f->numbers[BRIGHTNESS] != 0.5)
        p.brightness = 2 * f->numbers[BRIGHTNESS] - 1;
    if (f->numbers[DENOISE] < 1)
        p.denoise = f->numbers[DENOISE];
    p.await_noise = 1;
    (void)lumeq_set_params(f->equalizer, &p);
    f->changed = 0;
}

/*
 * FFmpeg passes milliseconds, other hosts pass seconds. A step below 1 means seconds. If rows are
 * padded, FFmpeg passes the same time for all frames; each frame then takes USUAL_STEP.
 */
static void advance(Filter *f, double host_time)
{
    const double step = host_time - f->host_time;
    f->host_time = host_time;
    if (step > 0 && step < 1)
        f->is_in_seconds = 1;
    const double ns = step * (f->is_in_seconds ? 1e9 : 1e6);
    if (step == 0)
        f->time += USUAL_STEP;
    else if (ns > 0 && ns <= (double)MAX_GAP)
        f->time += (int64_t)(ns + 0.5);
    else
        lumeq_reset(f->equalizer);
}

void f0r_update(f0r_instance_t instance, double time, const uint32_t *in, uint32_t *out)
{
    Filter *f = instance;
    const LumeqPixels from = {.data = (void *)(uintptr_t)in,
                              .stride = (ptrdiff_t)f->width * 4,
                              .width = f->width,
                              .height = f->height,
                              .channels = 4,
                              .depth = 8,
                              .order = LUMEQ_ORDER_RGB};
    LumeqPixels to = from;
    to.data = out;
    if (f->changed)
        set_params(f);
    advance(f, time);
    if (lumeq_process_pixels(f->equalizer, &from, &to, f->time, 0, NULL) < 0)
        memcpy(out, in, (size_t)f->height * (size_t)from.stride);
}
