#include "run/sink.h"

void sinks_add(Sinks *sinks, Sink sink)
{
    if (sink.self && sinks->count < SINKS_MOST)
        sinks->all[sinks->count++] = sink;
}

static int copy_packet(void *writer, AVPacket *packet, MediaError *error)
{
    return writer_packet(writer, packet, error);
}

static int encode_frame(void *writer, Frame *f)
{
    if (f->is_first)
        writer_set_start(writer, f->zero_us);
    return writer_frame(writer, f->out, f->error);
}

Sink writer_sink(Writer *writer)
{
    return (Sink){.self = writer, .packet = copy_packet, .frame = encode_frame};
}
