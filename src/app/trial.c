#include "app/trial.h"

#include <time.h>

#include "media/compat.h"

/* What is a steady pace has to be seen for at least this part of the frames. */
#define STEADY_PART 4

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

void trial_packet(Trial *t, const AVPacket *packet, AVRational base)
{
    const int first = t->payload == 0;
    t->payload += packet->size;
    if (first) {
        t->held_back = t->encoded.frames;
        t->first_packet = now();
    }
    if ((double)packet->pts * av_q2d(base) >= t->begin + t->length)
        return;
    t->seconds += (double)packet->duration * av_q2d(base);
    if (first) {
        t->first = packet->size;
        return;
    }
    t->rest += packet->size;
    t->packets++;
    t->keys += (packet->flags & AV_PKT_FLAG_KEY) != 0;
}

double trial_measure_pace(const Trial *t)
{
    const TrialPass *pass = &t->measured;
    return pass->frames > 1 ? (pass->last - pass->first) / (double)(pass->frames - 1) : 0;
}

double trial_encode_pace(const Trial *t)
{
    const TrialPass *pass = &t->encoded;
    /* Without the frame in whose time the first packet came. */
    const int64_t steady = pass->frames - t->held_back - 1;
    if (t->first_packet > 0 && steady * STEADY_PART >= pass->frames)
        return (pass->last - t->first_packet) / (double)steady;
    return pass->frames ? (t->ended - pass->first) / (double)pass->frames : 0;
}
