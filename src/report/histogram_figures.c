#include "report/histogram_figures.h"

#include <math.h>

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
