/* Which of the modes of a camera is the one to take. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/common.h>

#include "media/camera/camera_parts.h"

/* What looks fluent; the size is the largest that gives it, NTSC's 29.97 included. */
#define USUAL_RATE 30
#define RATE_TOLERANCE 0.005

/* Of a range of sizes no driver says up to where the rate holds: what every camera manages. */
#define RANGE_WIDTH 1920
#define RANGE_HEIGHT 1080

/*
 * Of formats with the same rate, the first: one that is not compressed has no artefacts and no
 * encoder's delay, and of these, one with luma in a plane of its own needs no conversion. H.264
 * comes after MJPEG, as a frame that is dropped spoils those after it, and gray after all: it is
 * the infrared picture of a camera that has colours.
 */
static const char *const preferred[] = {"nv12",  "yuv420p", "yuv422p", "yuyv422", "uyvy422",
                                        "rgb24", "bgr24",   "bgr0",    "mjpeg",   "h264"};
#define PREFERRED_COUNT (int)(sizeof(preferred) / sizeof(preferred[0]))

static int format_rank(const char *format)
{
    int rank = 0;
    while (rank < PREFERRED_COUNT && strcmp(preferred[rank], format) != 0)
        rank++;
    return rank;
}

/* ---- what fits ---- */

static int is_format(const CameraMode *mode, const char *wanted)
{
    char code[5];
    camera_fourcc_text(mode->fourcc, code);
    return mode->format &&
           (av_strcasecmp(wanted, mode->format) == 0 || av_strcasecmp(wanted, code) == 0);
}

static int has_size(const CameraMode *mode, int width, int height)
{
    if (!mode->width)
        return 1;
    if (!mode->max_width)
        return mode->width == width && mode->height == height;
    return width >= mode->width && width <= mode->max_width && height >= mode->height &&
           height <= mode->max_height && (width - mode->width) % mode->step_width == 0 &&
           (height - mode->height) % mode->step_height == 0;
}

static int same_rate(double a, double b)
{
    return fabs(a - b) <= b * RATE_TOLERANCE;
}

/* The rate as the driver has it; {0}: it is not offered. */
static AVRational offered_rate(const CameraMode *mode, AVRational wanted)
{
    const double rate = av_q2d(wanted);
    if (!mode->rate_count ||
        (mode->rate_range && rate <= av_q2d(mode->rates[0]) && rate >= av_q2d(mode->rates[1])))
        return wanted;
    for (int i = 0; i < mode->rate_count; i++)
        if (same_rate(av_q2d(mode->rates[i]), rate))
            return mode->rates[i];
    return (AVRational){0, 1};
}

/* What the mode makes of what is wanted; 0: nothing. */
static int fit(CameraChoice *choice, const CameraMode *mode, const CameraOptions *wanted)
{
    *choice = (CameraChoice){.mode = mode, .rate = {0, 1}};
    if (!mode->format || (wanted->format && !is_format(mode, wanted->format)))
        return 0;
    if (wanted->width && !has_size(mode, wanted->width, wanted->height))
        return 0;
    choice->width = wanted->width ? wanted->width : mode->width;
    choice->height = wanted->width ? wanted->height : mode->height;
    if (!wanted->width && mode->max_width) {
        const int width = FFMIN(mode->max_width, RANGE_WIDTH) - mode->width;
        const int height = FFMIN(mode->max_height, RANGE_HEIGHT) - mode->height;
        choice->width += FFMAX(width - width % mode->step_width, 0);
        choice->height += FFMAX(height - height % mode->step_height, 0);
    }
    if (wanted->rate.num > 0)
        choice->rate = offered_rate(mode, wanted->rate);
    else if (mode->rate_count)
        choice->rate = mode->rates[0];
    return wanted->rate.num <= 0 || choice->rate.num > 0;
}

/* ---- which fits best ---- */

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

/* Above 0: `a` is better. In this order: colours; the usual rate; without it, the highest rate; the
 * size; the highest rate; the format. */
static int compare_choices(const CameraChoice *a, const CameraChoice *b, int rate_wanted)
{
    const double usual = rate_wanted ? 0 : USUAL_RATE * (1 - RATE_TOLERANCE);
    const double rate_a = av_q2d(a->rate), rate_b = av_q2d(b->rate);
    const int rank_a = format_rank(a->mode->format), rank_b = format_rank(b->mode->format);
    int order = (rank_a < PREFERRED_COUNT) - (rank_b < PREFERRED_COUNT);
    if (!order)
        order = compare(FFMIN(rate_a, usual), FFMIN(rate_b, usual));
    if (!order)
        order = compare((double)a->width * a->height, (double)b->width * b->height);
    if (!order && !same_rate(rate_a, rate_b))
        order = compare(rate_a, rate_b);
    return order ? order : rank_b - rank_a;
}

static int find_best(CameraChoice *best, const CameraOptions *wanted, const CameraMode *modes,
                     int count)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        CameraChoice choice;
        if (!fit(&choice, &modes[i], wanted))
            continue;
        if (!found || compare_choices(&choice, best, wanted->rate.num > 0) > 0)
            *best = choice;
        found = 1;
    }
    return found;
}

/* ---- what is offered, where nothing fits ---- */

/* Adds an item to a list in words, unless it is there. */
static void add_item(char *list, size_t size, const char *item)
{
    const size_t length = strlen(item);
    for (const char *at = list; *at; at += strcspn(at, ",") ? strcspn(at, ",") : 1) {
        at += strspn(at, ", ");
        if (strncmp(at, item, length) == 0 && (at[length] == ',' || !at[length]))
            return;
    }
    av_strlcatf(list, size, "%s%s", list[0] ? ", " : "", item);
}

static void list_formats(char *list, size_t size, const CameraMode *modes, int count)
{
    for (int i = 0; i < count; i++)
        if (modes[i].format)
            add_item(list, size, modes[i].format);
}

static void list_sizes(char *list, size_t size, const CameraMode *modes, int count,
                       const char *format)
{
    CameraMode only;
    char item[64];
    for (int i = 0; i < count; i++) {
        if (!modes[i].format || (format && !is_format(&modes[i], format)))
            continue;
        only = modes[i];
        snprintf(item, sizeof(item), "%dx%d", only.width, only.height);
        if (only.max_width)
            av_strlcatf(item, sizeof(item), " to %dx%d", only.max_width, only.max_height);
        add_item(list, size, item);
    }
}

static int fits_at_any_rate(const CameraMode *mode, const CameraOptions *wanted)
{
    CameraOptions any_rate = *wanted;
    CameraChoice choice;
    any_rate.rate = (AVRational){0, 1};
    return fit(&choice, mode, &any_rate);
}

/* The highest below `limit` that a mode which fits has; 0: none. */
static double next_rate(const CameraMode *modes, int count, const CameraOptions *wanted,
                        double limit)
{
    double highest = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < modes[i].rate_count && !modes[i].rate_range; j++) {
            const double rate = av_q2d(modes[i].rates[j]);
            if (rate < limit && rate > highest && fits_at_any_rate(&modes[i], wanted))
                highest = rate;
        }
    return highest;
}

/* Single ones, the highest first, and then ranges. */
static void list_rates(char *list, size_t size, const CameraMode *modes, int count,
                       const CameraOptions *wanted)
{
    char item[64];
    double rate = INFINITY;
    while ((rate = next_rate(modes, count, wanted, rate)) > 0) {
        snprintf(item, sizeof(item), "%.4g", rate);
        add_item(list, size, item);
    }
    for (int i = 0; i < count; i++) {
        if (!modes[i].rate_range || !fits_at_any_rate(&modes[i], wanted))
            continue;
        snprintf(item, sizeof(item), "%.4g to %.4g", av_q2d(modes[i].rates[1]),
                 av_q2d(modes[i].rates[0]));
        add_item(list, size, item);
    }
}

static int fits_any(const CameraOptions *wanted, const CameraMode *modes, int count)
{
    CameraChoice choice;
    return find_best(&choice, wanted, modes, count);
}

/* Names the first of format, size and rate that is not to be had together with those before. */
static int refuse(const CameraOptions *wanted, const CameraMode *modes, int count,
                  const char *camera, MediaError *error)
{
    char list[600] = "", in[96] = "";
    CameraOptions part = {.format = wanted->format};
    if (!fits_any(&part, modes, count)) {
        list_formats(list, sizeof(list), modes, count);
        if (!wanted->format || !list[0])
            return media_fail(error, MEDIA_INPUT, "%s has no picture format that can be read",
                              camera);
        return media_fail(error, MEDIA_USAGE, "--input-format %s: %s offers %s",
                          media_quote(wanted->format), camera, list);
    }
    if (wanted->format)
        snprintf(in, sizeof(in), " in %.40s", wanted->format);
    part.width = wanted->width;
    part.height = wanted->height;
    if (!fits_any(&part, modes, count)) {
        list_sizes(list, sizeof(list), modes, count, wanted->format);
        return media_fail(error, MEDIA_USAGE, "--video-size %dx%d: %s offers %s%s", wanted->width,
                          wanted->height, camera, list, in);
    }
    if (wanted->width)
        av_strlcatf(in, sizeof(in), "%s%dx%d", wanted->format ? " " : " in ", wanted->width,
                    wanted->height);
    list_rates(list, sizeof(list), modes, count, &part);
    return media_fail(error, MEDIA_USAGE, "--framerate %.4g: %s offers %s frames a second%s",
                      av_q2d(wanted->rate), camera, list, in);
}

int camera_choose(CameraChoice *choice, const CameraOptions *wanted, const CameraMode *modes,
                  int count, const char *camera, MediaError *error)
{
    if (find_best(choice, wanted, modes, count))
        return 0;
    return refuse(wanted, modes, count, camera, error);
}
