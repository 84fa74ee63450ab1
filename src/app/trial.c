#include "app/trial.h"

#include <time.h>

#include "media/compat.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void trial_begin(Trial *t)
{
    t->began = now();
}

void trial_end(Trial *t, int64_t written)
{
    t->ended = now();
    t->written = written;
}

static void count(TrialPass *pass)
{
    pass->last = now();
    if (!pass->frames++)
        pass->first = pass->last;
}

void trial_measured(Trial *t)
{
    count(&t->measured);
    if (t->step)
        t->step(t->opaque);
}

void trial_frame(Trial *t, const AVFrame *before, const AVFrame *after)
{
    const double time = (double)after->pts * av_q2d(after->time_base);
    if (!t->encoded.frames)
        t->begin = time;
    t->end = time + (double)FRAME_DURATION(after) * av_q2d(after->time_base);
    if (t->frame)
        t->frame(t->opaque, before, after, time);
}

void trial_encoded(Trial *t)
{
    count(&t->encoded);
    if (t->step)
        t->step(t->opaque);
}

void trial_packet(Trial *t, TrialPacket packet)
{
    const int first = t->payload == 0;
    t->payload += packet.size;
    if (packet.time >= t->begin + t->length)
        return;
    t->seconds += packet.duration;
    if (first) {
        t->first = packet.size;
        return;
    }
    t->rest += packet.size;
    t->packets++;
    t->keys += packet.is_key != 0;
}

double trial_measure_pace(const Trial *t)
{
    const TrialPass *pass = &t->measured;
    return pass->frames > 1 ? (pass->last - pass->first) / (double)(pass->frames - 1) : 0;
}

/* Up to when the encoder had given out all that it held back. Frames that are decoded ahead, and
 * those that it holds, are work of the piece, too. */
double trial_encode_pace(const Trial *t)
{
    const TrialPass *pass = &t->encoded;
    return pass->frames > 1 ? (t->ended - pass->first) / (double)(pass->frames - 1) : 0;
}
