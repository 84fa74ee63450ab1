#include "bench/pipeline/pipeline_planes.h"

#include <string.h>

typedef struct Plane {
    const uint8_t *data;
    ptrdiff_t stride;
    size_t row;
    int height;
} Plane;

static Plane plane_of(const AVFrame *frame, int number)
{
    const SampleLayout layout = convert_layout(frame->format);
    const size_t sample = layout.depth > 8 ? 2 : 1;
    const int over_x = number ? (1 << layout.chroma_x) - 1 : 0;
    const int over_y = number ? (1 << layout.chroma_y) - 1 : 0;
    const size_t width = (size_t)(frame->width + over_x) >> (number ? layout.chroma_x : 0);
    return (Plane){
        .data = frame->data[number],
        .stride = frame->linesize[number],
        .row = width * sample * (number && layout.planes == 2 ? 2 : 1),
        .height = (frame->height + over_y) >> (number ? layout.chroma_y : 0),
    };
}

int64_t pipeline_planes_size(const AVFrame *frame, int chroma)
{
    const int planes = chroma ? convert_layout(frame->format).planes : 1;
    int64_t size = 0;
    for (int i = 0; i < planes; i++) {
        const Plane plane = plane_of(frame, i);
        size += (int64_t)plane.row * plane.height;
    }
    return size;
}

/* FNV-1a, by Fowler, Noll and Vo, over eight bytes at a time. */
static uint64_t sum_row(const uint8_t *row, size_t size, uint64_t sum)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, row + i, size - i < 8 ? size - i : 8);
        sum = (sum ^ word) * 0x100000001b3u;
        sum ^= sum >> 32;
    }
    return sum;
}

uint64_t pipeline_planes_sum(const AVFrame *frame, uint64_t sum)
{
    const int planes = convert_layout(frame->format).planes;
    for (int i = 0; i < planes; i++) {
        const Plane plane = plane_of(frame, i);
        for (int y = 0; y < plane.height; y++)
            sum = sum_row(plane.data + y * plane.stride, plane.row, sum);
    }
    return sum;
}
