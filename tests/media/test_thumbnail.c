/* Thumbnails of a video at given positions. */
#include <math.h>
#include <stdlib.h>

#include <libavutil/display.h>

#include "check.h"
#include "media/input/thumbnail.h"
#include "media/side_data.h"

static const char *clip;

static Source *open_source(MediaError *error)
{
    Source *source;
    static atomic_int never;
    const SourceOptions options = {.path = clip, .stop = &never, .max_pixels = INT64_C(1) << 28};
    if (source_open(&source, &options, error) < 0) {
        fprintf(stderr, "%s\n", error->text);
        exit(1);
    }
    return source;
}

static int open_clip(Thumbnails **thumbnails, MediaError *error)
{
    Source *source = open_source(error);
    return CHECK(thumbnails_open(thumbnails, source, error) >= 0, "%s", error->text) ? 0 : -1;
}

/* The mean of a component. */
static double mean(const Thumbnail *t, int component)
{
    double sum = 0;
    for (int i = 0; i < t->width * t->height; i++)
        sum += t->pixels[4 * i + component];
    return sum / (t->width * t->height);
}

/* Key frames are 2 s apart, and each is shown until the next. Means of red and blue are those that
 * FFmpeg's scale filter has of them (160x90, area, accurately rounded). */
TEST(key_frames)
{
    static const struct {
        int64_t position;
        double red, blue;
    } cases[] = {{0, 143.4, 144.7},       {1900000, 143.4, 144.7}, {2500000, 144.5, 146.2},
                 {5000000, 144.9, 146.9}, {100000, 143.4, 144.7},  {8000000, 20.2, 21.0},
                 {60000000, 56.4, 58.0}};
    Thumbnails *thumbnails;
    MediaError error = {0};
    if (open_clip(&thumbnails, &error) < 0)
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        Thumbnail t;
        if (!CHECK(thumbnails_make(thumbnails, cases[i].position, 160, 160, &t, &error) >= 0,
                   "%d: %s", (int)i, error.text))
            continue;
        const double red = mean(&t, 0), blue = mean(&t, 2);
        CHECK(t.width == 160 && t.height == 90, "%d: %dx%d", (int)i, t.width, t.height);
        CHECK(fabs(red - cases[i].red) < 1.5 && fabs(blue - cases[i].blue) < 1.5,
              "%d: red %.1f, not %.1f, blue %.1f, not %.1f", (int)i, red, cases[i].red, blue,
              cases[i].blue);
        free(t.pixels);
    }
    thumbnails_close(&thumbnails);
    thumbnails_close(&thumbnails);
}

/* Thumbnails of a rotated video are upright. */
TEST(turned)
{
    for (int left = 0; left < 2; left++) {
        int32_t matrix[9];
        Thumbnails *thumbnails;
        Thumbnail t, upright;
        MediaError error = {0};
        if (open_clip(&thumbnails, &error) < 0)
            return;
        CHECK(thumbnails_make(thumbnails, 0, 160, 160, &upright, &error) >= 0, "%s", error.text);
        thumbnails_close(&thumbnails);
        Source *source = open_source(&error);
        av_display_rotation_set(matrix, left ? -90 : 90);
        CHECK(side_data_set_display_matrix(source->video, matrix) >= 0, "no memory");
        if (thumbnails_open(&thumbnails, source, &error) < 0 ||
            thumbnails_make(thumbnails, 0, 160, 160, &t, &error) < 0) {
            CHECK(0, "%s", error.text);
        } else {
            int wrong = 0;
            for (int y = 0; y < 90; y++)
                for (int x = 0; x < 160; x++) {
                    const int column = left ? y : 89 - y, row = left ? 159 - x : x;
                    wrong += memcmp(upright.pixels + 4 * (y * 160 + x),
                                    t.pixels + 4 * (row * 90 + column), 4) != 0;
                }
            CHECK(t.width == 90 && t.height == 160 && !wrong, "%dx%d, %d pixels are elsewhere",
                  t.width, t.height, wrong);
            free(t.pixels);
        }
        free(upright.pixels);
        thumbnails_close(&thumbnails);
    }
}

int main(int argc, char **argv)
{
    clip = argc > 1 ? argv[1] : "";
    return check_file(1, argv);
}
