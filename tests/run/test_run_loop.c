/* The loop of a run: the order of sinks, and how it ends. */
#include "check.h"
#include "run/run.h"

#define FRAMES 3

typedef struct Log {
    char text[64]; /* calls, as in "p1 A0 b0 e1": packet, sinks a and b (A: first frame), end */
    int fails_at;  /* the second sink fails at this frame with `code`; -1: never */
    int code;
    int stops_at; /* the second sink stops the run at this frame; -1: never */
    atomic_int stop;
    int given; /* frames so far */
} Log;

static void note(Log *log, char what, int64_t number)
{
    const size_t n = strlen(log->text);
    snprintf(log->text + n, sizeof(log->text) - n, "%c%d ", what, (int)number);
}

/* Each frame has two packets before its picture. The last frame has no picture. */
static int next_frame(void *opaque, Frame **frame, MediaError *error)
{
    Log *log = opaque;
    (void)error;
    if (log->given == FRAMES)
        return AVERROR_EOF;
    Frame *f = *frame = frame_alloc();
    f->decoded.packets[f->decoded.packet_count++] = av_packet_alloc();
    f->decoded.packets[f->decoded.packet_count++] = av_packet_alloc();
    if (++log->given < FRAMES)
        f->out = av_frame_alloc();
    if (f->out)
        f->out->time_base = (AVRational){1, 25};
    return 0;
}

static int take_packet(void *log, AVPacket *packet, MediaError *error)
{
    (void)packet;
    (void)error;
    note(log, 'p', ((Log *)log)->given);
    return 0;
}

static int first_sink(void *log, Frame *f)
{
    note(log, f->is_first ? 'A' : 'a', f->number);
    return 0;
}

static int second_sink(void *opaque, Frame *f)
{
    Log *log = opaque;
    note(log, 'b', f->number);
    if (f->number == log->stops_at)
        atomic_store(&log->stop, RUN_INTERRUPTED);
    if (f->number != log->fails_at)
        return 0;
    return log->code == AVERROR_EOF ? log->code : media_fail(f->error, log->code, "full");
}

static int third_sink(void *log, Frame *f)
{
    note(log, 'c', f->number);
    return 0;
}

static void end(void *log, int complete, MediaError *error)
{
    media_fail(error, MEDIA_INPUT, "a later error");
    note(log, 'e', complete);
}

static int run(Log *log, int64_t number, MediaError *error)
{
    RunLoop loop = {.stop = &log->stop, .number = number};
    sinks_add(&loop.sinks, (Sink){.self = log, .packet = take_packet, .frame = first_sink});
    sinks_add(&loop.sinks, (Sink){.self = NULL, .frame = first_sink});
    sinks_add(&loop.sinks, (Sink){.self = log, .frame = second_sink, .end = end});
    sinks_add(&loop.sinks, (Sink){.self = log, .frame = third_sink});
    return run_frames(&loop, next_frame, log, error);
}

static void expect(Log log, int64_t number, int wanted, const char *calls, const char *text)
{
    MediaError error = {0};
    const int ret = run(&log, number, &error);
    CHECK(ret == wanted, "returns %d, not %d", ret, wanted);
    CHECK(strcmp(log.text, calls) == 0, "%s, not %s", log.text, calls);
    CHECK(strcmp(error.text, text) == 0, "%s, not %s", error.text, text);
}

TEST(frames_pass_all_sinks_in_order)
{
    expect((Log){.fails_at = -1, .stops_at = -1}, 7, AVERROR_EOF,
           "p1 p1 A7 b7 c7 p2 p2 a8 b8 c8 p3 p3 e1 ", "a later error");
}

TEST(a_failure_ends_it)
{
    expect((Log){.fails_at = 1, .code = MEDIA_OUTPUT, .stops_at = -1}, 0, MEDIA_OUTPUT,
           "p1 p1 A0 b0 c0 p2 p2 a1 b1 e0 ", "full");
}

TEST(a_complete_output_ends_it)
{
    expect((Log){.fails_at = 0, .code = AVERROR_EOF, .stops_at = -1}, 0, AVERROR_EOF,
           "p1 p1 A0 b0 e1 ", "a later error");
}

TEST(a_stop_ends_it_after_the_frame)
{
    expect((Log){.fails_at = -1, .stops_at = 0}, 0, 0, "p1 p1 A0 b0 c0 e0 ", "a later error");
}

TEST_MAIN
