/* What is said about a picture: made-up statistics, a table. */
#include "../check.h"

#include "app/decision.h"

static LumeqParams usual(void)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    return params;
}

/* A picture in which all codes from one to another are alike, and a share of it is one code. */
typedef struct Case {
    int from, to; /* of 8 bits */
    double peak;
    int at;
    double dark, lift, strength, noise;
    const char *text;
} Case;

static const Case cases[] = {
    {16, 52, 0, 0, 1, 2.5, 0, 0.2, "dark, clean: lifted x2.5"},
    {16, 52, 0, 0, 1, 2.5, 0.4, 0.2, "dark, clean: lifted x2.5, equalized by 40 %"},
    {16, 52, 0, 0, 1, 2.5, 0, -1, "dark: lifted x2.5"},
    {16, 52, 0, 0, 1, 2.5, 0, 2.8, "dark, noisy: lifted x2.5"},
    {16, 52, 0, 0, 1, 5.0, 0, 2.8, "dark, noisy: lifted x5.0, as far as its noise allows"},
    {16, 52, 0, 0, 1, 2.2, 0, 7, "dark, very noisy: lifted x2.2, as far as its noise allows"},
    {16, 90, 0, 0, 0.3, 1.2, 0, 0.2, "dim, clean: lifted x1.2"},
    {16, 52, 0.05, 220, 1, 1, 1, 0.2, "dark, with bright parts: equalized by 100 %"},
    {16, 17, 0, 0, 1, 1, 0, 0.2, "black: left alone"},
    {16, 17, 0, 0, 1, 1, 0, -1, "black: left alone"},
    {30, 40, 0, 0, 1, 1, 0, 5, "dark, and nothing in it: left alone"},
    {16, 60, 0.8, 32, 1, 1, 0, 0, "a page or a screen: left alone"},
    {120, 235, 0.8, 234, 0, 1, 0, 0, "a page or a screen: left alone"},
    {16, 235, 0, 0, 0, 1, 0.1, 0.5, "well exposed: left alone, 2 for more"},
    {16, 235, 0, 0, 0, 1, 0.2, 0.5, "too little contrast: equalized by 20 %"},
    {90, 150, 0, 0, 0, 1, 0.4, 0.5, "too little contrast: equalized by 40 %"},
    {100, 235, 0, 0, 0, 1, 0.35, 0.5, "hazy: black point pulled"},
    {60, 235, 0, 0, 0, 1, 0.1, 0.5, "well exposed: left alone, 2 for more"},
    {150, 220, 0, 0, 0, 1, 0.5, 0.5, "too little contrast: equalized by 50 %"},
};

static Decision find(const Case *c, const LumeqParams *params, int depth, int full_range)
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
                                   .strength = c->strength,
                                   .noise = c->noise};
    return decision_find(&stats, params, depth, full_range);
}

static void pictures(void)
{
    static const int depths[] = {8, 10, 12, 16};
    const LumeqParams params = usual();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int k = 0; k < 4; k++)
            for (int full = 0; full < 2; full++) {
                char text[128];
                const Decision d = find(&cases[i], &params, depths[k], full);
                decision_text(&d, "2", text, sizeof(text));
                CHECK(strcmp(text, cases[i].text) == 0, "%d bits, %s: \"%s\" for \"%s\"", depths[k],
                      full ? "full" : "limited", text, cases[i].text);
            }
}

static void orders(void)
{
    const Case c = {16, 52, 0, 0, 0, 1, 0.8, 0.2, ""};
    const struct {
        LumeqMode mode;
        int lift, reference;
        double brightness, gamma;
        const char *text;
    } all[] = {
        {LUMEQ_MODE_OFF, 1, 0, 0, 1, "off"},
        {LUMEQ_MODE_OFF, 1, 0, 0, 0, "off"},
        {LUMEQ_MODE_OFF, 1, 0, 0, 1.3, "not equalized: brightness and gamma alone"},
        {LUMEQ_MODE_OFF, 1, 0, 0.3, 1, "not equalized: brightness and gamma alone"},
        {LUMEQ_MODE_GLOBAL, 0, 0, 0, 1.3, "equalized by 80 %"},
        {LUMEQ_MODE_CLAHE, 1, 0, 0, 1, "equalized in tiles by 80 %"},
        {LUMEQ_MODE_STRETCH, 1, 0, 0, 1, "stretched by 80 %"},
        {LUMEQ_MODE_GLOBAL, 1, 1, 0, 1, "equalized as OpenCV does it"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[128];
        LumeqParams params = usual();
        params.mode = all[i].mode;
        params.lift = all[i].lift;
        params.reference = all[i].reference;
        params.brightness = all[i].brightness;
        params.gamma = all[i].gamma;
        const Decision d = find(&c, &params, 8, 0);
        decision_text(&d, "2", text, sizeof(text));
        CHECK(strcmp(text, all[i].text) == 0, "\"%s\" for \"%s\"", text, all[i].text);
    }
}

static char lines[8][256];
static int line_count;

static void keep_line(const char *line)
{
    if (line_count < 8)
        snprintf(lines[line_count], sizeof(lines[0]), "%s", line);
    line_count++;
}

static void add(Decisions *all, int count, const Decision *d)
{
    for (int i = 0; i < count; i++)
        decisions_add(all, d);
}

/* Means of each kind, the most frequent first, what is rare left out. */
static void videos(void)
{
    const Decision dark[] = {{.kind = DECISION_LIFTED, .dark = 1, .lift = 2, .noise = 0.2},
                             {.kind = DECISION_LIFTED, .dark = 1, .lift = 3, .noise = -1}};
    const Decision fine = {.kind = DECISION_FINE, .lift = 1, .noise = 0.2};
    const Decision black = {.kind = DECISION_BLACK, .dark = 1, .lift = 1, .noise = -1};
    Decisions all = {0};
    line_count = 0;
    decisions_print(&all, keep_line);
    CHECK(line_count == 0, "%d lines without a frame", line_count);

    add(&all, 100, &dark[0]);
    add(&all, 100, &dark[1]);
    decisions_print(&all, keep_line);
    CHECK(line_count == 1 && strcmp(lines[0], "dark, clean: lifted x2.5") == 0, "%d: %s",
          line_count, lines[0]);

    line_count = 0;
    add(&all, 600, &fine);
    add(&all, 200, &black); /* as many as are dark */
    add(&all, 1, &(Decision){.kind = DECISION_DULL, .strength = 0.5, .lift = 1});
    decisions_print(&all, keep_line);
    CHECK(line_count == 3, "%d lines", line_count);
    CHECK(strcmp(lines[0], "well exposed: left alone (60 % of the frames)") == 0, "%s", lines[0]);
    CHECK(strcmp(lines[1], "dark, clean: lifted x2.5 (20 % of the frames)") == 0, "%s", lines[1]);
    CHECK(strcmp(lines[2], "black: left alone (20 % of the frames)") == 0, "%s", lines[2]);
}

static const CheckTest tests[] = {
    {"pictures", pictures},
    {"orders", orders},
    {"videos", videos},
};

int main(int argc, char **argv)
{
    return check_main(tests, (int)(sizeof(tests) / sizeof(tests[0])), argc, argv);
}
