#include <cub/device/device_histogram.cuh>

#include "bench/cub.h"

extern "C" cudaError_t histogram_cub(void *temporary, size_t *size, const void *samples,
                                     uint32_t count, int bins, uint32_t *counts,
                                     cudaStream_t stream)
{
    if (bins > 256)
        return cub::DeviceHistogram::HistogramEven(temporary, *size, (const uint16_t *)samples,
                                                   counts, bins + 1, 0, bins, (int)count, stream);
    return cub::DeviceHistogram::HistogramEven(temporary, *size, (const uint8_t *)samples, counts,
                                               bins + 1, 0, bins, (int)count, stream);
}
