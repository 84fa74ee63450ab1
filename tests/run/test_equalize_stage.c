/* Frames equalized ahead of time: whatever changes while they wait, the result has the bits of an
 * equalizer that takes frames in order. */
#include <limits.h>
#include <pthread.h>

#include <libavutil/time.h>

#include "fake_gpu.h"
#include "run/equalize_stage.h"

#define FRAME_US 40000
#define LAST_FRAME 274 /* of the clip */
#define MOST_FRAMES 24
#define LIVENESS_S GATE_LIVENESS_S

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int events; /* number of calls of EqualizeStageOptions.wake() */

static int wait_for_event(int known)
{
    struct timespec end;
    int ret = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += LIVENESS_S;
    pthread_mutex_lock(&lock);
    while (events == known && ret == 0)
        ret = pthread_cond_timedwait(&changed, &lock, &end);
    pthread_mutex_unlock(&lock);
    return CHECK(ret == 0, "nothing happens");
}

/* After this many frames, the decoder (--wrap) reports a return after an interruption. */
static atomic_int until_return = -1;

int __wrap_decoder_take_return(Decoder *decoder);

int __wrap_decoder_take_return(Decoder *decoder)
{
    (void)decoder;
    return atomic_fetch_sub(&until_return, 1) == 0;
}

/* ---- a clip, decoded and equalized as the window does it ---- */

/* The decoded frames since the start or the last seek, with the latest settings of each. */
typedef struct Seen {
    AVFrame *in[MOST_FRAMES];
    LumeqParams params[MOST_FRAMES];
    int count;
    int modelled; /* number of frames that the model has equalized */
} Seen;

typedef struct Rig {
    Source *source;
    Input *input;
    FrameMemory *memory;
    LumeqContext *context;
    LumeqEqualizer *model;
    EqualizeStage *stage;
    MediaError error;
    LumeqParams params;
    Frame *shown;
    Seen seen;
    int known;                         /* events seen so far */
    atomic_int decoded;                /* frames decoded so far */
    atomic_int taken;                  /* frames that the stage has passed to the recording */
    atomic_llong last;                 /* time stamp of the last taken frame */
    atomic_int seeks;                  /* seeks so far; after one, older frames may be taken */
    atomic_llong taken_at, decoded_at; /* clock times of the last take and decode */
    int unwanted;                      /* 1: nothing is recorded */
} Rig;

static atomic_int notes; /* warnings of the library */

static int wants(void *opaque)
{
    return !((Rig *)opaque)->unwanted;
}

static void take(void *opaque, const AVFrame *out, const LumeqFrameStats *stats)
{
    Rig *r = opaque;
    CHECK(out->pts > atomic_exchange(&r->last, out->pts) || atomic_load(&r->seeks),
          "a frame is recorded twice");
    CHECK(stats->bins == 256, "a frame has no statistics");
    atomic_store(&r->taken_at, av_gettime_relative());
    atomic_fetch_add(&r->taken, 1);
}

static void note(void *user, LumeqLogLevel level, const char *line)
{
    (void)user;
    if (level != LUMEQ_LOG_WARNING)
        return;
    CHECK(strstr(line, "goes on without the GPU"), "%s", line);
    atomic_fetch_add(&notes, 1);
}

static void wake(void *opaque)
{
    (void)opaque;
    pthread_mutex_lock(&lock);
    events++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wake_stage(void *opaque)
{
    Rig *r = opaque;
    atomic_fetch_add(&r->decoded, 1);
    atomic_store(&r->decoded_at, av_gettime_relative());
    if (r->stage)
        equalize_stage_wake(r->stage);
}

static void forget_seen(Rig *r)
{
    for (int i = 0; i < r->seen.count; i++)
        av_frame_free(&r->seen.in[i]);
    r->seen.count = r->seen.modelled = 0;
}

static int start(Rig *r, int64_t position)
{
    const InputStart start = {.position = position};
    atomic_store(&r->last, INT64_MIN);
    if (!CHECK(input_start(r->input, &start, &r->error) == 0, "%s", r->error.text))
        return 0;
    equalize_stage_attach(r->stage, r->input, r->source->live);
    return 1;
}

static void stop(Rig *r)
{
    equalize_stage_detach(r->stage);
    input_stop(r->input);
}

/* Filtering lifted frames takes minutes with a sanitizer, so only one test does it there. */
static int lifts = CHECK_SLOWER == 1;

/* Opens a rig. `bytes`: as in EqualizeStageOptions. */
static int open_bounded(Rig *r, int live, int64_t bytes)
{
    static const atomic_int never;
    const SourceOptions from = {.path = LUMEQ_CLIP, .stop = &never, .max_pixels = INT64_C(1) << 30};
    const InputOptions input = {.to_us = -1,
                                .shown = 1,
                                .frames = -1,
                                .range = AVCOL_RANGE_UNSPECIFIED,
                                .decoder = {.threads = 2},
                                .wake = wake_stage,
                                .opaque = r};
    memset(r, 0, sizeof(*r));
    gate_set(0);
    fake_gpu_lose_after(INT_MAX);
    atomic_store(&notes, 0);
    r->params.size = sizeof(r->params);
    lumeq_params_default(&r->params);
    r->params.lift = lifts;
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CUDA, .threads = 1, .log = note};
    const LumeqConfig plain = {.size = sizeof(plain), .backend = LUMEQ_BACKEND_CPU, .threads = 1};
    if (!CHECK(lumeq_context_create(&r->context, &config, NULL, 0) == 0 &&
                   lumeq_create(&r->model, &plain, NULL, 0) == 0,
               "%s", lumeq_last_error(NULL)))
        abort();
    r->memory = frame_memory_create(NULL);
    const EqualizeStageOptions options = {.context = r->context,
                                          .params = r->params,
                                          .memory = r->memory,
                                          .bytes = bytes,
                                          .wants = wants,
                                          .take = take,
                                          .opaque = r,
                                          .wake = wake};
    return CHECK(source_open(&r->source, &from, &r->error) == 0 && (r->source->live = live, 1) &&
                     equalize_stage_open(&r->stage, &options, &r->error) == 0 &&
                     input_open(&r->input, r->source, &input, &r->error) == 0,
                 "%s", r->error.text);
}

static int open_rig(Rig *r)
{
    return open_bounded(r, 0, 0);
}

static void close_rig(Rig *r)
{
    gate_set(0);
    CHECK(!gate_gave_up(), "the test waited for the equalizer");
    if (r->stage)
        equalize_stage_stop(r->stage);
    if (r->input)
        stop(r);
    frame_free(&r->shown);
    forget_seen(r);
    equalize_stage_close(&r->stage);
    input_close(&r->input);
    source_close(&r->source);
    frame_memory_close(&r->memory);
    lumeq_context_destroy(&r->context);
    lumeq_destroy(&r->model);
}

/* ---- expected frames ---- */

static AVFrame *model_frame(Rig *r, int i)
{
    const AVFrame *in = r->seen.in[i];
    AVFrame *out = frame_memory_output(r->memory, in, equalizer_writes_chroma(&r->seen.params[i]));
    LumeqFrame frame = equalizer_frame(in, out);
    const LumeqImage previous = equalizer_previous(i ? r->seen.in[i - 1] : NULL, in);
    frame.previous = previous.plane[0] ? &previous : NULL;
    const int ret = lumeq_set_params(r->model, &r->seen.params[i]);
    if (!CHECK(ret == 0 && lumeq_process(r->model, &frame, NULL) == 0, "no model"))
        abort();
    return out;
}

/* Equalizes the seen frames in order and returns the last one. Since the last call, only the
 * settings of the last frame may have changed. */
static AVFrame *expected(Rig *r)
{
    Seen *s = &r->seen;
    AVFrame *out = NULL;
    if (s->modelled == s->count)
        s->modelled = 0; /* equalize all frames again */
    if (!s->modelled)
        lumeq_reset(r->model);
    for (; s->modelled < s->count; s->modelled++) {
        av_frame_free(&out);
        out = model_frame(r, s->modelled);
    }
    return out;
}

static int64_t differing(const AVFrame *a, const AVFrame *b)
{
    int64_t count = 0;
    for (int y = 0; y < a->height; y++)
        count += memcmp(a->data[0] + (ptrdiff_t)y * a->linesize[0],
                        b->data[0] + (ptrdiff_t)y * b->linesize[0], (size_t)a->width) != 0;
    return count;
}

static void check_shown(Rig *r, const char *when)
{
    AVFrame *right = expected(r);
    const int64_t lines = differing(r->shown->out, right);
    CHECK(lines == 0, "%s: %lld lines of the frame at %lld are wrong", when, (long long)lines,
          (long long)r->shown->decoded.position);
    av_frame_free(&right);
}

static int wait_for_news(Rig *r)
{
    const int ret = wait_for_event(r->known);
    pthread_mutex_lock(&lock);
    r->known = events;
    pthread_mutex_unlock(&lock);
    return ret;
}

/* Waits until this many frames were equalized for the first time. */
static void wait_until_taken(Rig *r, int count)
{
    while (r->taken < count && wait_for_news(r))
        ;
}

/* Like equalize_stage_receive(), but waits. */
static int receive(Rig *r, Frame **frame)
{
    int ret;
    while ((ret = equalize_stage_receive(r->stage, frame, &r->error)) == AVERROR(EAGAIN))
        if (!wait_for_news(r))
            abort();
    return ret;
}

static void see(Rig *r, Frame *frame, int again)
{
    Seen *s = &r->seen;
    frame_free(&r->shown);
    r->shown = frame;
    if (!again && s->count < MOST_FRAMES)
        s->in[s->count++] = av_frame_clone(frame->decoded.frame);
    if (s->count)
        s->params[s->count - 1] = r->params;
}

/* Shows the next frame. If the current frame comes again first, also shows that. */
static void show_next(Rig *r, const char *when)
{
    Frame *frame;
    int ret;
    while ((ret = receive(r, &frame)) == 1) {
        see(r, frame, 1);
        if (r->seen.count) /* else the frame is from before a seek */
            check_shown(r, when);
    }
    if (!CHECK(ret == 0, "%s: %d, %s", when, ret, r->error.text))
        abort();
    equalize_stage_taken(r->stage, frame);
    equalize_stage_shown(r->stage, frame);
    see(r, frame, 0);
    check_shown(r, when);
}

static void see_redone(Rig *r, const char *when)
{
    Frame *frame;
    while (equalize_stage_is_behind(r->stage)) {
        if (!CHECK(receive(r, &frame) == 1, "%s: another frame comes first", when))
            abort();
        see(r, frame, 1);
    }
    check_shown(r, when);
}

static void set(Rig *r, double strength, LumeqMode mode)
{
    r->params.strength = strength;
    r->params.adaptive = 0;
    r->params.mode = mode;
    equalize_stage_set(r->stage, &r->params);
}

static int go_to(Rig *r, int64_t position)
{
    atomic_fetch_add(&r->seeks, 1);
    stop(r);
    forget_seen(r);
    return start(r, position);
}

/* ---- tests ---- */

/* A test of a stage that starts at a position of the clip. */
#define STAGE_TEST(name, position)                                                                 \
    static void name##_in(Rig *r);                                                                 \
    TEST(name)                                                                                     \
    {                                                                                              \
        FREED_BY(close_rig) Rig r;                                                                 \
        if (open_rig(&r) && start(&r, position))                                                   \
            name##_in(&r);                                                                         \
    }                                                                                              \
    static void name##_in(Rig *r)

TEST(frames_in_order)
{
    Rig r;
    lifts = 1;
    if (open_rig(&r) && start(&r, AV_NOPTS_VALUE))
        for (int i = 0; i < 12; i++) {
            show_next(&r, "in order");
            CHECK(r.shown->decoded.position == i * FRAME_US, "at %lld",
                  (long long)r.shown->decoded.position);
        }
    close_rig(&r);
    lifts = CHECK_SLOWER == 1;
}

/* After a change of the settings, the shown frame and all waiting ones are equalized again. */
STAGE_TEST(settings_reach_waiting_frames, AV_NOPTS_VALUE)
{
    for (int i = 0; i < 8; i++) {
        show_next(r, "before");
        const int frames = r->taken;
        set(r, 0.1 * i, i % 3 ? LUMEQ_MODE_GLOBAL : LUMEQ_MODE_CLAHE);
        if (i % 4 == 3) /* and again, before it is seen */
            set(r, 1 - 0.1 * i, LUMEQ_MODE_GLOBAL);
        if (i % 2)
            see_redone(r, "paused");
        show_next(r, "playing");
        CHECK(r->shown->decoded.position == (2 * i + 1) * FRAME_US, "at %lld",
              (long long)r->shown->decoded.position);
        CHECK(r->taken >= frames, "fewer frames are recorded than before");
    }
    CHECK(r->taken <= 16 + 3, "%d frames are recorded", r->taken);
}

/* The settings change many times while a frame is being equalized. */
STAGE_TEST(last_settings_apply, AV_NOPTS_VALUE)
{
    for (int i = 0; i < 3; i++)
        show_next(r, "before");
    for (int round = 0; round < 4; round++) {
        gate_set(1);
        set(r, 0.9, LUMEQ_MODE_GLOBAL);
        CHECK(gate_wait(), "no frame comes");
        for (int i = 0; i < 10; i++)
            set(r, 0.05 * i, LUMEQ_MODE_GLOBAL);
        CHECK(equalize_stage_is_behind(r->stage), "the stage is not behind");
        gate_set(0);
        see_redone(r, "the last of many");
        show_next(r, "after many");
    }
}

STAGE_TEST(no_old_frames_after_a_seek, AV_NOPTS_VALUE)
{
    for (int i = 0; i < 12; i++) {
        const int64_t to = (int64_t)(i * 5 % 7 + 1) * 10 * FRAME_US;
        for (int k = 0; k < i % 3; k++)
            show_next(r, "before a seek");
        gate_set(i % 2);
        if (i % 2)
            set(r, 0.08 * i, LUMEQ_MODE_GLOBAL);
        if (i % 2 && i % 3)
            CHECK(gate_wait(), "no frame comes");
        if (!go_to(r, to))
            break;
        if (i % 4 == 2)
            set(r, 0.08 * i, LUMEQ_MODE_GLOBAL);
        gate_set(0);
        frame_free(&r->shown);
        equalize_stage_shown(r->stage, NULL);
        show_next(r, "after a seek");
        CHECK(r->shown->decoded.position == to, "at %lld instead of %lld",
              (long long)r->shown->decoded.position, (long long)to);
        show_next(r, "the second after a seek");
        CHECK(r->shown->decoded.position == to + FRAME_US, "a frame is missing");
    }
}

/* Frames after a seek start a new history, even while the frame from before it is shown. */
STAGE_TEST(settings_after_a_seek, AV_NOPTS_VALUE)
{
    for (int i = 0; i < 6; i++) {
        const int64_t to = (int64_t)(i * 5 % 7 + 1) * 10 * FRAME_US;
        show_next(r, "before a seek");
        show_next(r, "before a seek");
        const int taken = r->taken; /* read now, as frames may be taken right after the seek */
        if (!go_to(r, to))
            break;
        wait_until_taken(r, taken + 2);
        set(r, 0.1 * i, i % 2 ? LUMEQ_MODE_GLOBAL : LUMEQ_MODE_CLAHE);
        show_next(r, "other settings after a seek");
        CHECK(r->shown->decoded.position == to, "at %lld instead of %lld",
              (long long)r->shown->decoded.position, (long long)to);
    }
}

STAGE_TEST(calls_do_not_wait, AV_NOPTS_VALUE)
{
    Frame *frame;
    show_next(r, "before");
    wait_until_taken(r, 3); /* receiving a frame makes room for a fourth */
    gate_set(1);
    while (equalize_stage_receive(r->stage, &frame, &r->error) == 0) {
        equalize_stage_taken(r->stage, frame);
        frame_free(&frame);
    }
    CHECK(gate_wait(), "no frame comes");
    set(r, 0.3, LUMEQ_MODE_GLOBAL);
    equalize_stage_redo(r->stage);
    equalize_stage_hold(r->stage, 1);
    equalize_stage_hold(r->stage, 0);
    CHECK(equalize_stage_receive(r->stage, &frame, &r->error) == AVERROR(EAGAIN), "a frame comes");
    CHECK(equalize_stage_is_behind(r->stage), "the stage is not behind");
    if (go_to(r, 50 * FRAME_US))
        CHECK(equalize_stage_receive(r->stage, &frame, &r->error) == AVERROR(EAGAIN),
              "an old frame comes");
}

/* The end comes after the last frame, even if that frame is equalized again. */
STAGE_TEST(the_end_is_the_last, (LAST_FRAME - 4) * FRAME_US)
{
    Frame *frame;
    int count = 0, ret;
    while ((ret = receive(r, &frame)) >= 0) {
        if (ret == 0) {
            equalize_stage_taken(r->stage, frame);
            equalize_stage_shown(r->stage, frame);
            count++;
        }
        see(r, frame, ret == 1);
        check_shown(r, "to the end");
        if (ret == 0)
            set(r, count % 2 ? 0.2 : 0.9, LUMEQ_MODE_GLOBAL);
    }
    CHECK(ret == AVERROR_EOF && count == 5, "%d frames, then %d", count, ret);
    set(r, 0.5, LUMEQ_MODE_GLOBAL);
    CHECK(receive(r, &frame) == 1, "the last frame does not come again");
    see(r, frame, 1);
    check_shown(r, "after the end");
    CHECK(receive(r, &frame) == AVERROR_EOF, "the end does not come again");
}

static void wait_until_decoded(const Rig *r, int frames)
{
    const int64_t end = av_gettime_relative() + LIVENESS_S * INT64_C(1000000);
    while (r->decoded < frames && av_gettime_relative() < end)
        av_usleep(1000);
    CHECK(r->decoded >= frames, "%d frames are decoded", r->decoded);
}

/* Late frames are dropped before they are equalized. `skipped` of the next frame counts them. */
STAGE_TEST(late_frames_are_dropped, AV_NOPTS_VALUE)
{
    Frame *frame;
    int64_t skipped = 0, shown = 9, returned = 0;
    show_next(r, "before");
    equalize_stage_set_late(r->stage, 60 * FRAME_US, 70 * FRAME_US);
    for (int i = 0; i < 8; i++) { /* long before the range of late frames */
        show_next(r, "before a jump");
        skipped += r->shown->decoded.skipped;
    }
    CHECK(!skipped, "%lld frames before the range are dropped", (long long)skipped);
    wait_until_decoded(r, 9 + 2 + 2); /* shown, equalized ahead, and in the input's queue */
    atomic_store(&until_return, 20);
    equalize_stage_set_late(r->stage, INT64_MIN, 60 * FRAME_US);
    do {
        if (receive(r, &frame) != 0)
            abort();
        equalize_stage_taken(r->stage, frame);
        equalize_stage_shown(r->stage, frame);
        skipped += frame->decoded.skipped;
        returned += frame->decoded.returned;
        shown++;
        frame_free(&r->shown);
        r->shown = frame;
    } while (frame->decoded.position < 60 * FRAME_US);
    CHECK(skipped > 0 && shown + skipped == frame->decoded.position / FRAME_US + 1,
          "%lld frames dropped, %lld shown, at %lld", (long long)skipped, (long long)shown,
          (long long)frame->decoded.position);
    CHECK(returned == 1, "%lld frames count as the first after a return", (long long)returned);
}

/* Frames in the memory of a lost GPU are equalized again, whenever the GPU is lost. */
TEST(a_lost_gpu_loses_no_frames)
{
    for (int i = 0; i < 8; i++) {
        Rig r;
        if (open_rig(&r)) {
            r.unwanted = 1;
            equalize_stage_allow_device(r.stage, 1);
            fake_gpu_lose_after(1 + i);
            if (start(&r, AV_NOPTS_VALUE))
                for (int k = 0; k < 4; k++) {
                    show_next(&r, "on a GPU");
                    CHECK(k || r.shown->on_device, "the first frame is not on the GPU");
                    set(&r, 0.2 * k, k % 2 ? LUMEQ_MODE_GLOBAL : LUMEQ_MODE_CLAHE);
                    see_redone(&r, "on a GPU, again");
                }
            CHECK(fake_gpu_is_lost() && equalize_stage_is_lost(r.stage), "the GPU is not lost");
            CHECK(!r.shown->on_device && notes == 1, "%d warnings", notes);
        }
        close_rig(&r);
        fake_gpu_free();
    }
}

/* Like wait_until_taken(), but polls, as a stage that holds a frame back does not call wake(). */
static void poll_until_taken(const Rig *r, int count)
{
    const int64_t end = av_gettime_relative() + LIVENESS_S * INT64_C(1000000);
    while (r->taken < count && av_gettime_relative() < end)
        av_usleep(1000);
    CHECK(r->taken >= count, "%d taken, not %d", r->taken, count);
}

/* Watches until `enough` frames wait; INT_MAX: for a short time. Returns the maximum. */
static int watch_waiting(Rig *r, int enough)
{
    const int64_t patience = enough == INT_MAX ? 50000 : LIVENESS_S * INT64_C(1000000);
    const int64_t end = av_gettime_relative() + patience;
    int most = 0;
    while (most < enough && av_gettime_relative() < end) {
        const int count = equalize_stage_waiting(r->stage);
        most = count > most ? count : most;
        av_usleep(1000);
    }
    return most;
}

/* With room for one frame, only one waits, whatever the window asks for. With more room, several
 * wait. */
TEST(waiting_frames_are_bounded)
{
    for (int roomy = 0; roomy < 2; roomy++) {
        Rig r;
        const int64_t at_most = roomy ? 0 : 400 * 224 * 3; /* a frame, decoded and equalized */
        if (open_bounded(&r, 0, at_most) && start(&r, AV_NOPTS_VALUE))
            for (int i = 0; i < 4; i++) {
                show_next(&r, "before");
                poll_until_taken(&r, i + 3);
                set(&r, 0.2 * i, LUMEQ_MODE_GLOBAL);
                equalize_stage_redo(r.stage);
                const int most = watch_waiting(&r, roomy ? 2 : INT_MAX);
                CHECK(roomy ? most >= 2 : most == 1, "%d frames wait", most);
                see_redone(&r, "again");
            }
        close_rig(&r);
    }
}

#define SETTLE_US (CHECK_SLOWER * INT64_C(1000000))

/* Waits until all frames are decoded, then at most SETTLE_US for the stage to take the last one. */
static void wait_for_input(Rig *r)
{
    const int64_t end = av_gettime_relative() + LIVENESS_S * INT64_C(1000000);
    while (input_look(r->input, &r->error) != AVERROR_EOF && av_gettime_relative() < end)
        av_usleep(1000);
    const int64_t settled = av_gettime_relative() + SETTLE_US;
    while (r->taken_at < r->decoded_at && av_gettime_relative() < settled)
        av_usleep(1000);
}

static void show_newest(Rig *r)
{
    Frame *frame;
    int64_t taken_at = INT64_MAX;
    wait_for_input(r);
    while (receive(r, &frame) == 0) {
        see(r, frame, 0);
        check_shown(r, "the newest");
        CHECK(frame->decoded.decoded_at <= taken_at, "an older frame was not replaced");
        taken_at = r->taken_at;
        equalize_stage_taken(r->stage, frame);
    }
    CHECK(r->shown && r->shown->decoded.position == LAST_FRAME * FRAME_US,
          "the last frame is missing");
}

/* A newer live frame replaces the frame that waits for the window, and the history forgets the old
 * frame. Newer frames never replace a frame that is being equalized, because then a slow machine
 * might never show a frame. */
TEST(the_newest_is_shown)
{
    for (int before = 0; before < 2; before++) {
        Rig r;
        if (open_bounded(&r, 1, 0) && start(&r, AV_NOPTS_VALUE)) {
            if (before)
                show_next(&r, "live");
            show_newest(&r);
            stop(&r);
            forget_seen(&r);
            if (!before && start(&r, 0)) {
                Frame *frame;
                show_newest(&r);
                set(&r, 0.3, LUMEQ_MODE_GLOBAL); /* no frame comes again */
                CHECK(receive(&r, &frame) == AVERROR_EOF, "%s", r.error.text);
            }
        }
        close_rig(&r);
    }
}

TEST_MAIN
