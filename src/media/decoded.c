#include "media/decoded.h"

#include "media/gpu_frame.h"

void decoded_clear(Decoded *decoded)
{
    for (int i = 0; i < decoded->packet_count; i++)
        av_packet_free(&decoded->packets[i]);
    gpu_frame_free(&decoded->frame);
    *decoded = (Decoded){0};
}

static int has_buffer(const AVFrame *frame, const AVBufferRef *buffer)
{
    for (int i = 0; frame && i < AV_NUM_DATA_POINTERS; i++)
        if (frame->buf[i] && frame->buf[i]->data == buffer->data)
            return 1;
    return 0;
}

int64_t decoded_frame_bytes(const AVFrame *frame, const AVFrame *without)
{
    int64_t bytes = 0;
    for (int i = 0; i < AV_NUM_DATA_POINTERS; i++)
        if (frame->buf[i] && !has_buffer(without, frame->buf[i]))
            bytes += (int64_t)frame->buf[i]->size;
    return bytes;
}
