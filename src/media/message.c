#include "media/message.h"

void message_clear(Message *message)
{
    for (int i = 0; i < message->packet_count; i++)
        av_packet_free(&message->packets[i]);
    message->packet_count = 0;
    av_frame_free(&message->frame);
    av_frame_free(&message->output);
}
