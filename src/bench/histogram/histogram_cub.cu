/* CUB's histogram, from NVIDIA's own library. */
#include <cub/device/device_histogram.cuh>

#include "bench/histogram/histogram_kernels.h"

template <typename Sample>
static cudaError_t count(void *temporary, size_t *size, const HistogramPlane *plane,
                         uint32_t *counts, int bins, cudaStream_t stream)
{
    const Sample *const first = (const Sample *)plane->data;
    if (plane->height == 1)
        return cub::DeviceHistogram::HistogramEven(temporary, *size, first, counts, bins + 1, 0,
                                                   bins, (int)plane->width, stream);
    return cub::DeviceHistogram::HistogramEven(temporary, *size, first, counts, bins + 1, 0, bins,
                                               (int)plane->width, (int)plane->height, plane->pitch,
                                               stream);
}

extern "C" cudaError_t histogram_cub(void *temporary, size_t *size, const HistogramPlane *plane,
                                     int sample_size, uint32_t *counts, int bins,
                                     cudaStream_t stream)
{
    return sample_size == 1   ? count<uint8_t>(temporary, size, plane, counts, bins, stream)
           : sample_size == 2 ? count<uint16_t>(temporary, size, plane, counts, bins, stream)
                              : count<uint32_t>(temporary, size, plane, counts, bins, stream);
}
