#include "report/report_figures.h"

#include <math.h>
#include <stdlib.h>

const ReportFigureText report_figure_texts[REPORT_FIGURES] = {
    [REPORT_MEAN] = {"mean", "Brightness", "", 20, "Mean luma in 8-bit codes (0 to 255)."},
    [REPORT_CONTRAST] = {"contrast", "Contrast", "", 10,
                         "Standard deviation of luma in 8-bit codes: how far apart the tones of "
                         "the whole picture are."},
    [REPORT_ENTROPY] = {"entropy", "Entropy", "bits", 1,
                        "Information per pixel: &minus;&Sigma; <i>p</i> log<sub>2</sub> <i>p</i> "
                        "over the histogram. More means that more tones are used."},
    [REPORT_LOCAL] = {"local_contrast", "Local contrast", "", 2,
                      "Mean standard deviation of luma in blocks of 8 by 8 pixels, in 8-bit codes: "
                      "detail and edges, but also noise."},
    [REPORT_BLACK] = {"clipped_black", "At black", "%", 2,
                      "Share of the picture at black or below: shadows without detail."},
    [REPORT_WHITE] = {"clipped_white", "At white", "%", 2,
                      "Share of the picture at white or above: highlights without detail."},
    [REPORT_NOISE] = {"noise", "Noise", "", 1,
                      "Standard deviation of noise in still, dark parts, in 8-bit codes, from "
                      "their difference to the previous frame. Includes dither. The same places "
                      "are measured before and after."},
    [REPORT_MABD] = {"mabd", "Change of brightness", "", 0.5,
                     "Mean absolute brightness difference between neighbouring frames (MABD), in "
                     "8-bit codes per frame, without cuts."},
    [REPORT_FLICKER] = {"excess_flicker", "Excess flicker", "", 0.5,
                        "How far changes of brightness between frames differ from the source's, "
                        "in 8-bit codes per frame, without cuts. High values mean pumping."},
};

void report_sum_take(ReportSum *s, const ReportSum *more)
{
    if (!more->count)
        return;
    s->least = s->count && s->least < more->least ? s->least : more->least;
    s->most = s->count && s->most > more->most ? s->most : more->most;
    s->sum += more->sum;
    s->count += more->count;
}

void report_sum_add(ReportSums *sums, const ReportValues *values)
{
    for (int i = 0; i < REPORT_FIGURES; i++)
        for (int side = 0; side < REPORT_SIDES; side++) {
            const int64_t value = values->of[i][side];
            if (value != REPORT_UNKNOWN)
                report_sum_take(&sums->of[i][side], &(ReportSum){value, value, value, 1});
        }
}

void report_sum_merge(ReportSums *sums, const ReportSums *more)
{
    for (int i = 0; i < REPORT_FIGURES; i++)
        for (int side = 0; side < REPORT_SIDES; side++)
            report_sum_take(&sums->of[i][side], &more->of[i][side]);
}

double report_sum_mean(const ReportSum *s)
{
    return s->count ? (double)s->sum / (double)s->count / REPORT_ONE : (double)NAN;
}

double report_value(int64_t value)
{
    return (double)value / REPORT_ONE;
}

int64_t report_fixed(double value)
{
    return llrint(value * REPORT_ONE);
}

static double total(const uint32_t *hist, int bins)
{
    double count = 0;
    for (int i = 0; i < bins; i++)
        count += hist[i];
    return count;
}

double histogram_deviation(const uint32_t *hist, int bins)
{
    double sum = 0, squares = 0;
    const double count = total(hist, bins);
    for (int i = 0; i < bins; i++) {
        sum += (double)hist[i] * i;
        squares += (double)hist[i] * i * i;
    }
    const double mean = sum / count, variance = squares / count - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

double histogram_entropy(const uint32_t *hist, int bins)
{
    const double count = total(hist, bins);
    double entropy = 0;
    for (int i = 0; i < bins; i++)
        if (hist[i])
            entropy -= hist[i] / count * log2(hist[i] / count);
    return entropy;
}

double histogram_share(const uint32_t *hist, int bins, int from, int to)
{
    const double count = total(hist, bins);
    double sum = 0;
    for (int i = from; i <= to; i++)
        sum += hist[i];
    return count > 0 ? sum / count : 0;
}

void report_picture_free(ReportPicture *picture)
{
    if (!picture)
        return;
    free(picture->jpeg[0]);
    free(picture->jpeg[1]);
    free(picture->words);
    free(picture);
}
