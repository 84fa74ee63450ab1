#include "app/trial.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "media/compat.h"
#include "run/run.h"

static double now(void)
{
    return run_now_us() * 1e-6;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void trial_opened(Trial *t)
{
    if (!t)
        return;
    t->opened = now();
    t->cpu = -cpu_seconds();
}

void trial_end(Trial *t)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    t->ended = now();
    t->cpu = (t->cpu + cpu_seconds()) / (double)(cores > 0 ? cores : 1);
    t->written = writer_bytes(t->writer);
    t->key_interval = writer_key_interval(t->writer);
}

static int copy_packet(void *self, AVPacket *packet, MediaError *error)
{
    return writer_packet(((Trial *)self)->writer, packet, error);
}

/* Opens the encoder with the first frame, to measure the header. */
static int encode(void *self, Frame *f)
{
    Trial *t = self;
    const AVFrame *frame = f->out;
    const double base = av_q2d(frame->time_base), time = (double)frame->pts * base;
    int ret = 0;
    if (f->is_first) {
        t->begin = time;
        writer_set_start(t->writer, f->zero_us);
        ret = writer_open_encoder(t->writer, frame, f->error);
        t->header = writer_bytes(t->writer);
    }
    t->end = time + (double)FRAME_DURATION(frame) * base;
    if (ret >= 0)
        ret = writer_frame(t->writer, frame, f->error);
    if (!t->frames++)
        t->encoded = now();
    t->frame(t->opaque, f->decoded.frame, frame, time);
    return ret;
}

Sink trial_sink(Trial *t)
{
    return (Sink){.self = t, .packet = copy_packet, .frame = encode};
}

static int count_packet(void *self, const AVPacket *packet, MediaError *error)
{
    Trial *t = self;
    const double base = av_q2d(writer_encoded_base(t->writer));
    const int first = t->payload == 0;
    (void)error;
    t->payload += packet->size;
    if ((double)packet->pts * base >= t->begin + t->length)
        return 0;
    t->seconds += (double)packet->duration * base;
    if (first) {
        t->first = packet->size;
        return 0;
    }
    t->rest += packet->size;
    t->packets++;
    return 0;
}

void trial_options(Trial *t, WriterOptions *options)
{
    options->count_only = 1;
    options->overwrite = 1; /* nothing is written */
    options->take_encoded = count_packet;
    options->take_opaque = t;
}

double trial_pace(const Trial *t)
{
    const double frames = (double)t->frames;
    const double ahead = frames > 0 ? (t->encoded - t->opened) / frames : 0;
    const double encode = frames > 1 ? (t->ended - t->encoded) / (frames - 1) : 0;
    return fmax(fmax(ahead, encode), frames > 0 ? t->cpu / frames : 0);
}
