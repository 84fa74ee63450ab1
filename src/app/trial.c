#include "app/trial.h"

#include "media/compat.h"
#include "run/run.h"

static double now(void)
{
    return run_now_us() * 1e-6;
}

void trial_begin(Trial *t)
{
    t->began = now();
}

void trial_end(Trial *t)
{
    t->ended = now();
    t->written = writer_bytes(t->writer);
    t->key_interval = writer_key_interval(t->writer);
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

static int look(void *self, SinkFrame *f)
{
    Trial *t = self;
    const AVFrame *after = f->item->message.output;
    const double time = (double)after->pts * av_q2d(after->time_base);
    if (f->is_first)
        t->begin = time;
    t->end = time + (double)FRAME_DURATION(after) * av_q2d(after->time_base);
    if (t->frame)
        t->frame(t->opaque, f->item->message.frame, after, time);
    return 0;
}

Sink trial_sink(Trial *t)
{
    return (Sink){.self = t, .frame = look};
}

static int copy_packet(void *self, AVPacket *packet, MediaError *error)
{
    return writer_packet(((Trial *)self)->writer, packet, error);
}

/* The file has its header before the first frame is encoded. */
static int encode(void *self, SinkFrame *f)
{
    Trial *t = self;
    const AVFrame *frame = f->item->message.output;
    int ret = 0;
    if (f->is_first) {
        writer_begin(t->writer, f->zero_us);
        ret = writer_open_encoder(t->writer, frame, f->error);
        t->header = writer_bytes(t->writer);
    }
    if (ret >= 0)
        ret = writer_frame(t->writer, frame, f->error);
    count(&t->encoded);
    if (t->step)
        t->step(t->opaque);
    return ret;
}

Sink trial_writer_sink(Trial *t)
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
    t->keys += (packet->flags & AV_PKT_FLAG_KEY) != 0;
    return 0;
}

void trial_options(Trial *t, WriterOptions *options)
{
    options->count_only = 1;
    options->overwrite = 1; /* it is not touched */
    options->take_encoded = count_packet;
    options->take_opaque = t;
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
