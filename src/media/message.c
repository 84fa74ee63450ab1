#include "media/message.h"

#include "media/gpu_frame.h"
#include "media/packet_bytes.h"

void message_clear(Message *message)
{
    for (int i = 0; i < message->packet_count; i++)
        av_packet_free(&message->packets[i]);
    message->packet_count = 0;
    gpu_frame_free(&message->frame);
    gpu_frame_free(&message->output);
}

static int has_buffer(const AVFrame *frame, const AVBufferRef *buffer)
{
    for (int i = 0; frame && i < AV_NUM_DATA_POINTERS; i++)
        if (frame->buf[i] && frame->buf[i]->data == buffer->data)
            return 1;
    return 0;
}

int64_t message_frame_bytes(const AVFrame *frame, const AVFrame *but)
{
    int64_t bytes = 0;
    for (int i = 0; i < AV_NUM_DATA_POINTERS; i++)
        if (frame->buf[i] && !has_buffer(but, frame->buf[i]))
            bytes += (int64_t)frame->buf[i]->size;
    return bytes;
}

int64_t message_bytes(const Message *message)
{
    int64_t bytes = 0;
    for (int i = 0; i < message->packet_count; i++)
        bytes += (int64_t)packet_bytes(message->packets[i]);
    if (message->frame)
        bytes += message_frame_bytes(message->frame, NULL);
    if (message->output)
        bytes += message_frame_bytes(message->output, message->frame);
    return bytes;
}
