/* Tests the sentence that describes a picture or a video, with tables of invented statistics. */
#include "../check.h"

#include "app/decision.h"
#include "app/options/option_table.h"
#include "app/options/option_value.h"

static LumeqParams usual(void)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    return params;
}

/* A picture with a flat histogram between two codes, and a share of pixels with one code. */
typedef struct Case {
    int from, to; /* codes of 8 bits */
    double peak;  /* share of pixels with the code `at` */
    int at;
    double dark, lift, strength, noise;
    const char *text;
} Case;

static const Case cases[] = {
    {16, 52, 0, 0, 1, 2.5, 0, 0.2, "dark: lifted 2.5x"},
    {16, 52, 0, 0, 1, 2.5, 0.4, 0.2, "dark: lifted 2.5x, contrast raised"},
    {16, 52, 0, 0, 1, 2.5, 0, -1, "dark: lifted 2.5x"},
    {16, 52, 0, 0, 1, 2.5, 0, 2.8, "dark: lifted 2.5x, noise reduced"},
    {16, 90, 0, 0, 0.3, 1.2, 0, 0.2, "dim: lifted 1.2x"},
    {16, 52, 0.05, 220, 1, 1, 1, 0.2, "dark with bright parts: contrast raised"},
    {16, 17, 0, 0, 1, 1, 0, 0.2, "black: left alone"},
    {16, 17, 0, 0, 0, 1, 0, -1, "black: left alone"},
    {30, 40, 0, 0, 1, 1, 0, 5, "noise only: left alone"},
    {16, 60, 0.8, 32, 1, 1, 0, 0, "page or screen recording: left alone"},
    {120, 235, 0.8, 234, 0, 1, 0, 0, "page or screen recording: left alone"},
    {120, 235, 0.8, 234, 0, 1, 0.6, 0, "page or screen recording: contrast raised"},
    {16, 235, 0, 0, 0, 1, 0.1, 0.5, "well exposed: hardly changed, 2 for more"},
    {16, 235, 0, 0, 0, 1, 0.2, 0.5, "low contrast: contrast raised"},
    {100, 235, 0, 0, 0, 1, 0.35, 0.5, "low contrast: contrast raised"},
    {60, 235, 0, 0, 0, 1, 0.1, 0.5, "well exposed: hardly changed, 2 for more"},
    {150, 220, 0, 0, 0, 1, 0.5, 0.5, "low contrast: contrast raised"},
};

/* The options that give these parameters. */
static const Options *options_of(const LumeqParams *params)
{
    static Options o;
    o = options_default();
    o.mode = params->mode;
    o.brightness = params->brightness;
    o.gamma = params->gamma != 0 ? params->gamma : 1;
    return &o;
}

static Decision find(const Case *c, double cleared, const LumeqParams *params, int depth,
                     int full_range)
{
    static uint32_t hist[4096];
    const int bins = depth > 12 ? 4096 : 1 << depth, width = bins / 256;
    const int from = full_range ? (c->from - 16) * 255 / 219 : c->from;
    const int to = full_range ? (c->to - 16) * 255 / 219 : c->to;
    const int at = full_range ? (c->at - 16) * 255 / 219 : c->at;
    double sum = 0, mean = 0;
    memset(hist, 0, sizeof(hist));
    for (int i = from * width; i < to * width; i++)
        hist[i] += (uint32_t)((1 - c->peak) * 1e6 / ((to - from) * width));
    if (c->peak > 0)
        hist[at * width] += (uint32_t)(c->peak * 1e6);
    for (int i = 0; i < bins; i++) {
        sum += hist[i];
        mean += (double)hist[i] * i;
    }
    const LumeqFrameStats stats = {.size = sizeof(stats),
                                   .hist_in = hist,
                                   .bins = bins,
                                   .mean_in = mean / sum * (1 << depth) / bins,
                                   .dark = c->dark,
                                   .lift = c->lift,
                                   .filtered = c->noise > 1,
                                   .previous = c->noise > 1,
                                   .strength = c->strength,
                                   .noise = c->noise,
                                   .cleared = cleared};
    return decision_find(&stats, params, options_of(params), depth, full_range);
}

TEST(pictures)
{
    static const int depths[] = {8, 10, 12, 16};
    const LumeqParams params = usual();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int k = 0; k < 4; k++)
            for (int full = 0; full < 2; full++) {
                char text[128];
                const Decision d = find(&cases[i], 0, &params, depths[k], full);
                decision_text(&d, "2", text, sizeof(text));
                CHECK(strcmp(text, cases[i].text) == 0, "%d bits, %s: \"%s\", not \"%s\"",
                      depths[k], full ? "full" : "limited", text, cases[i].text);
            }
}

/* Haze is named only if it is visibly cleared, and a lift takes precedence. */
TEST(haze)
{
    static const struct {
        double cleared;
        Case picture;
    } all[] = {
        {0.3, {100, 235, 0, 0, 0, 1, 0.35, 0.5, "haze: cleared"}},
        {0.3, {16, 235, 0, 0, 0, 1, 0.05, 0.5, "haze: cleared"}},
        {0.03, {100, 235, 0, 0, 0, 1, 0.35, 0.5, "low contrast: contrast raised"}},
        {0.3, {16, 52, 0, 0, 1, 2.5, 0, 0.2, "dark: lifted 2.5x"}},
    };
    const LumeqParams params = usual();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[128];
        const Decision d = find(&all[i].picture, all[i].cleared, &params, 8, 0);
        decision_text(&d, "2", text, sizeof(text));
        CHECK(strcmp(text, all[i].picture.text) == 0, "\"%s\", not \"%s\"", text,
              all[i].picture.text);
    }
}

TEST(options)
{
    const Case c = {16, 52, 0, 0, 0, 1, 0.8, 0.2, ""};
    const struct {
        LumeqMode mode;
        int lift, reference;
        LumeqLimit limit;
        double brightness, gamma;
        const char *text;
    } all[] = {
        {LUMEQ_MODE_OFF, 1, 0, 0, 0, 1, "not equalized (--mode off)"},
        {LUMEQ_MODE_OFF, 1, 0, 0, 0, 0, "not equalized (--mode off)"},
        {LUMEQ_MODE_OFF, 1, 0, 0, 0, 1.3,
         "not equalized (--mode off): only midtones lightened by --gamma 1.3"},
        {LUMEQ_MODE_OFF, 1, 0, 0, 0.3, 1,
         "not equalized (--mode off): only midtones lightened by --brightness 0.3"},
        {LUMEQ_MODE_OFF, 1, 0, 0, -0.3, 0.5,
         "not equalized (--mode off): only midtones darkened by --brightness and --gamma"},
        {LUMEQ_MODE_OFF, 1, 0, 0, 0.3, 0.5,
         "not equalized (--mode off): only midtones changed by --brightness and --gamma"},
        {LUMEQ_MODE_GLOBAL, 0, 0, 0, 0, 1, "--strength 0.8: contrast raised"},
        {LUMEQ_MODE_GLOBAL, 1, 0, LUMEQ_LIMIT_DARKEN, 0, 1, "--limit darken: darkened"},
        {LUMEQ_MODE_GLOBAL, 1, 0, LUMEQ_LIMIT_LIGHTEN, 0, 1, "low contrast: lightened"},
        {LUMEQ_MODE_CLAHE, 1, 0, 0, 0, 1, "--mode clahe: contrast raised in tiles, strength 0.8"},
        {LUMEQ_MODE_STRETCH, 1, 0, 0, 0, 1, "--mode stretch: contrast raised, strength 0.8"},
        {LUMEQ_MODE_HAZE, 1, 0, 0, 0, 1, "--mode haze: haze removed, strength 0.8"},
        {LUMEQ_MODE_GLOBAL, 1, 1, 0, 0, 1, "equalized like OpenCV (--reference)"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[128];
        LumeqParams params = usual();
        params.mode = all[i].mode;
        params.lift = all[i].lift;
        params.reference = all[i].reference;
        params.limit = all[i].limit;
        params.brightness = all[i].brightness;
        params.gamma = all[i].gamma;
        const Decision d = find(&c, 0, &params, 8, 0);
        decision_text(&d, "2", text, sizeof(text));
        CHECK(strcmp(text, all[i].text) == 0, "\"%s\", not \"%s\"", text, all[i].text);
    }
}

/* The sentence names the profile that set a parameter, or the option that overrides it. */
TEST(profile_names)
{
    static const struct {
        const char *profile, *option, *value;
        Case picture;
        const char *text;
    } all[] = {
        {"night",
         NULL,
         NULL,
         {16, 52, 0, 0, 1, 3, 0, 2, ""},
         "dark: lifted 3.0x, noise reduced, midtones lightened by --profile night"},
        {"night",
         NULL,
         NULL,
         {16, 235, 0, 0, 0, 1, 0.1, 0.2, ""},
         "well exposed: only midtones lightened by --profile night, 2 for more"},
        {"night",
         "brightness",
         "0.2",
         {16, 52, 0, 0, 1, 3, 0, 0.1, ""},
         "dark: lifted 3.0x, midtones lightened by --brightness 0.2"},
        {"fog",
         NULL,
         NULL,
         {16, 52, 0, 0, 0, 1, 0.8, 0.2, ""},
         "--profile fog: haze removed, strength 0.8"},
        {"fog",
         "mode",
         "clahe",
         {16, 52, 0, 0, 0, 1, 0.8, 0.2, ""},
         "--mode clahe: contrast raised in tiles, strength 0.8"},
        {"fog",
         "gamma",
         "0.8",
         {16, 52, 0, 0, 0, 1, 0.8, 0.2, ""},
         "--profile fog: haze removed, strength 0.8, midtones darkened by --gamma 0.8"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[256];
        Options o = options_default();
        const Refusal refusal = {text, sizeof(text), "--"};
        CHECK(option_set(option_find("profile", 7), &o, all[i].profile, &refusal) == 0, "%s", text);
        option_set_profile(&o);
        if (all[i].option)
            CHECK(option_set(option_find(all[i].option, strlen(all[i].option)), &o, all[i].value,
                             &refusal) == 0,
                  "%s", text);
        const LumeqParams params = options_params(&o, (OptionsInput){0});
        Decision d = find(&all[i].picture, 0, &params, 8, 0);
        d.options = &o;
        decision_text(&d, "2", text, sizeof(text));
        CHECK(strcmp(text, all[i].text) == 0, "\"%s\", not \"%s\"", text, all[i].text);
    }
}

/* In mode stretch, a curve that changes less than a code is not reported as more contrast. In mode
 * CLAHE, the curve of the whole picture says nothing about the tiles. */
TEST(curves)
{
    static uint32_t hist[1024], curve[1024];
    static const struct {
        LumeqMode mode;
        double codes; /* codes of 8 bits that the curve adds */
        const char *text;
    } all[] = {{LUMEQ_MODE_STRETCH, 0.5, "--mode stretch: hardly changed"},
               {LUMEQ_MODE_STRETCH, 1.5, "--mode stretch: contrast raised, strength 0.8"},
               {LUMEQ_MODE_STRETCH, -1.5, "--mode stretch: contrast raised, strength 0.8"},
               {LUMEQ_MODE_CLAHE, 0, "--mode clahe: contrast raised in tiles, strength 0.8"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (int depth = 8; depth <= 10; depth += 2) {
            char text[128];
            LumeqParams params = usual();
            params.mode = all[i].mode;
            const int bins = 1 << depth;
            const double codes = all[i].codes * (1 << (depth - 8));
            for (int bin = 0; bin < bins; bin++) {
                hist[bin] = bin > bins / 4 && bin < bins / 2;
                curve[bin] = hist[bin] ? (uint32_t)((bin + codes) * 65536) : 0;
            }
            const LumeqFrameStats stats = {.size = sizeof(stats),
                                           .hist_in = hist,
                                           .curve = curve,
                                           .bins = bins,
                                           .lift = 1,
                                           .strength = 0.8};
            const Decision d = decision_find(&stats, &params, options_of(&params), depth, 0);
            decision_text(&d, NULL, text, sizeof(text));
            CHECK(strcmp(text, all[i].text) == 0, "%d bits: \"%s\", not \"%s\"", depth, text,
                  all[i].text);
        }
}

static void add(Decisions *all, int count, const Decision *d)
{
    for (int i = 0; i < count; i++)
        decisions_add(all, d);
}

static void check_text(const Decisions *all, const char *text)
{
    char got[512];
    decisions_text(all, got, sizeof(got));
    CHECK(strcmp(got, text) == 0, "\"%s\", not \"%s\"", got, text);
}

/* The text describes each kind of frame, the most frequent first. It omits rare kinds. */
TEST(videos)
{
    const Decision dark[] = {
        {.kind = DECISION_LIFTED, .dark = 1, .lift = 2, .denoised = 1, .change = 20},
        {.kind = DECISION_LIFTED, .dark = 1, .lift = 3, .change = 20}};
    const Decision fine = {.kind = DECISION_FINE, .lift = 1};
    const Decision black = {.kind = DECISION_BLACK, .dark = 1, .lift = 1};
    Decisions all = {0};
    check_text(&all, "");

    add(&all, 101, &dark[0]);
    add(&all, 100, &dark[1]);
    check_text(&all, "dark: lifted 2.5x, noise reduced");

    add(&all, 600, &fine);
    add(&all, 199, &black);
    add(&all, 20, &(Decision){.kind = DECISION_DULL, .strength = 0.5, .lift = 1, .change = 9});
    check_text(&all, "well exposed (59 % of the frames): hardly changed; "
                     "dark (20 % of the frames): lifted 2.5x, noise reduced; "
                     "black (20 % of the frames): left alone");

    all = (Decisions){0};
    add(&all, 990, &fine);
    add(&all, 10, &black);
    check_text(&all, "well exposed: hardly changed (--strength 1 or --profile fog does more)");
}

int main(int argc, char **argv)
{
    return check_file(argc, argv);
}
