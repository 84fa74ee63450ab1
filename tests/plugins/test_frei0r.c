/*
 * Calls the frei0r filter as hosts do, and compares it with the library. For test_frei0r.py,
 *   test_frei0r frames WIDTH HEIGHT PROFILE STRENGTH BRIGHTNESS DENOISE
 * runs the library alone: RGBA at 25 frames per second from standard input to standard output.
 */
#include <dlfcn.h>
#include <frei0r.h>
#include <stdint.h>

#include "../check.h"
#include "lumeq/lumeq.h"

#define WIDTH 61
#define HEIGHT 33
#define FRAMES 12
#define PIXELS (WIDTH * HEIGHT)
#define INTERVAL INT64_C(40000000)

/* ---- the library ---- */

static LumeqEqualizer *open_library(const char *profile, double strength, double brightness,
                                    double denoise)
{
    LumeqEqualizer *equalizer = NULL;
    LumeqParams p = {.size = sizeof(p)};
    lumeq_params_default(&p);
    (void)lumeq_params_profile(&p, profile);
    if (strength >= 0)
        p.strength = strength;
    if (brightness != 0)
        p.brightness = brightness;
    if (denoise < 1)
        p.denoise = denoise;
    p.await_noise = 1;
    if (lumeq_create(&equalizer, NULL, NULL, 0) < 0 || lumeq_set_params(equalizer, &p) < 0)
        abort();
    return equalizer;
}

static void equalize(LumeqEqualizer *equalizer, int width, int height, void *in, void *out,
                     int64_t time)
{
    const LumeqPixels from = {in, (ptrdiff_t)width * 4, width, height, 4, 8, LUMEQ_ORDER_RGB};
    LumeqPixels to = from;
    to.data = out;
    if (lumeq_process_pixels(equalizer, &from, &to, time, 0, NULL) < 0)
        abort();
}

static int print_frames(char **argv)
{
    const int width = atoi(argv[0]), height = atoi(argv[1]);
    const size_t size = (size_t)width * (size_t)height * 4;
    uint8_t *in = malloc(size), *out = malloc(size);
    LumeqEqualizer *equalizer = open_library(argv[2], atof(argv[3]), atof(argv[4]), atof(argv[5]));
    for (int64_t n = 0; fread(in, size, 1, stdin) == 1; n++) {
        equalize(equalizer, width, height, in, out, n * INTERVAL);
        fwrite(out, size, 1, stdout);
    }
    lumeq_destroy(&equalizer);
    free(in);
    free(out);
    return 0;
}

/* ---- the filter ---- */

static struct {
    int (*init)(void);
    f0r_instance_t (*construct)(unsigned, unsigned);
    void (*destruct)(f0r_instance_t);
    void (*info)(f0r_plugin_info_t *);
    void (*param_info)(f0r_param_info_t *, int);
    void (*set)(f0r_instance_t, f0r_param_t, int);
    void (*get)(f0r_instance_t, f0r_param_t, int);
    void (*update)(f0r_instance_t, double, const uint32_t *, uint32_t *);
} f0r;

static int load(void)
{
    const struct {
        const char *name;
        void *to;
    } symbols[] = {{"f0r_init", &f0r.init},
                   {"f0r_construct", &f0r.construct},
                   {"f0r_destruct", &f0r.destruct},
                   {"f0r_get_plugin_info", &f0r.info},
                   {"f0r_get_param_info", &f0r.param_info},
                   {"f0r_set_param_value", &f0r.set},
                   {"f0r_get_param_value", &f0r.get},
                   {"f0r_update", &f0r.update}};
    void *library = dlopen(LUMEQ_FREI0R_PLUGIN, RTLD_NOW);
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *found = library ? dlsym(library, symbols[i].name) : NULL;
        if (!CHECK(found, "no %s", symbols[i].name))
            return 0;
        memcpy(symbols[i].to, &found, sizeof(found));
    }
    return CHECK(f0r.init() == 1, "the plugin does not start");
}

static void draw(uint32_t *pixels, int n)
{
    CheckRandom random = check_random((uint64_t)n);
    for (int i = 0; i < PIXELS; i++) {
        const uint32_t light = (uint32_t)(10 + i / WIDTH + check_below(&random, 5));
        pixels[i] = light | (light + 3) << 8 | (light + 9) << 16 | (uint32_t)(i % 256) << 24;
    }
}

/* Hosts pass seconds, but FFmpeg passes milliseconds. A step back, or a gap of more than 2 s,
 * begins a new video. */
TEST(times)
{
    static const struct {
        const char *name;
        double first, step;
        int jump_at;
        double jump;
    } cases[] = {
        {"seconds", 0, 0.04, 0, 0},          {"milliseconds", 0, 40, 0, 0},
        {"seconds, later", 7, 0.04, 0, 0},   {"seconds, gap", 0, 0.04, 6, 3},
        {"seconds, back", 0, 0.04, 6, -0.2}, {"milliseconds, gap", 0, 40, 6, 3000},
        {"no times", -9e18, 0, 0, 0},
    };
    static uint32_t in[PIXELS], made[PIXELS], wanted[PIXELS];
    for (size_t i = 0; load() && i < sizeof(cases) / sizeof(cases[0]); i++) {
        f0r_instance_t filter = f0r.construct(WIDTH, HEIGHT);
        LumeqEqualizer *equalizer = open_library("", -1, 0, 1);
        double time = cases[i].first;
        for (int n = 0; n < FRAMES; n++) {
            draw(in, n);
            if (n && n == cases[i].jump_at) {
                time += cases[i].jump;
                lumeq_reset(equalizer);
            }
            equalize(equalizer, WIDTH, HEIGHT, in, wanted, n * INTERVAL);
            f0r.update(filter, time, in, made);
            CHECK(memcmp(made, wanted, sizeof(made)) == 0, "%s: frame %d", cases[i].name, n);
            CHECK(memcmp(made, in, sizeof(made)) != 0, "%s: frame %d is unchanged", cases[i].name,
                  n);
            time += cases[i].step;
        }
        lumeq_destroy(&equalizer);
        f0r.destruct(filter);
    }
}

TEST(parameters_are_kept)
{
    f0r_plugin_info_t plugin;
    if (!load())
        return;
    f0r_instance_t filter = f0r.construct(WIDTH, HEIGHT);
    f0r.info(&plugin);
    CHECK(plugin.num_params == 5 && plugin.plugin_type == F0R_PLUGIN_TYPE_FILTER &&
              plugin.color_model == F0R_COLOR_MODEL_RGBA8888,
          "another plugin");
    for (int i = 0; i < plugin.num_params; i++) {
        f0r_param_info_t info;
        f0r.param_info(&info, i);
        char text[] = "night", *string = text;
        double number = 0.25;
        void *value = info.type == F0R_PARAM_STRING ? (void *)&string : (void *)&number;
        f0r.set(filter, value, i);
        string = NULL;
        number = 0;
        f0r.get(filter, value, i);
        CHECK(number == 0.25 || (string && strcmp(string, "night") == 0), "%s is not kept",
              info.name);
    }
    f0r.destruct(filter);
}

int main(int argc, char **argv)
{
    return argc == 8 && strcmp(argv[1], "frames") == 0 ? print_frames(argv + 2)
                                                       : check_file(argc, argv);
}
