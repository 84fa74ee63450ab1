#include "app/headless.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "app/pipeline.h"
#include "app/progress.h"
#include "app/say.h"
#include "app/stats.h"
#include "app/timeline.h"
#include "media/writer.h"

typedef struct Run {
    const Options *options;
    atomic_int *stop;
    LumeqEqualizer *equalizer;
    WriterOptions writer_options;
    Writer *writer;
    FrameMemory *memory;
    Source *source;
    Reader *reader;
    StatsFile *stats;
    Progress progress;
    Timeline timeline;
    MediaError error;
} Run;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int open_equalizer(Run *run)
{
    static const LumeqBackendId backends[] = {LUMEQ_BACKEND_AUTO, LUMEQ_BACKEND_CPU,
                                              LUMEQ_BACKEND_CUDA};
    const LumeqConfig config = {
        .backend = backends[run->options->backend],
        .device = (int)run->options->device,
        .threads = (int)run->options->threads,
    };
    const LumeqParams params = options_params(run->options);
    char why[256];
    int ret = lumeq_create(&run->equalizer, &config, why, sizeof(why));
    if (ret < 0)
        return media_fail(&run->error, MEDIA_USAGE, "no equalizer: %s", why);
    say(SAY_DETAILS, "equalizing on: %s", why);
    ret = lumeq_set_params(run->equalizer, &params);
    if (ret < 0)
        return media_fail(&run->error, MEDIA_USAGE, "%s", lumeq_last_error(run->equalizer));
    return 0;
}

static void *alloc_host(void *equalizer, size_t size)
{
    return lumeq_alloc_host(equalizer, size);
}

static void free_host(void *equalizer, void *memory)
{
    lumeq_free_host(equalizer, memory);
}

/* Frames are decoded into memory that a GPU can copy from; the CPU takes any. */
static int open_memory(Run *run)
{
    const FrameAllocator allocator = {alloc_host, free_host, run->equalizer};
    const int gpu = strcmp(lumeq_backend_name(run->equalizer), "cpu") != 0;
    run->memory = frame_memory_create(gpu ? &allocator : NULL);
    return run->memory ? 0 : media_fail(&run->error, MEDIA_INPUT, "out of memory");
}

/* Everything about the output that can be refused is, before the input is opened. */
static int check_output(Run *run)
{
    const Options *o = run->options;
    struct stat input;
    if (!o->output)
        return 0;
    run->writer_options = (WriterOptions){
        .path = o->output,
        .format = o->format,
        .overwrite = o->overwrite,
        .copy_audio = o->acodec == 0,
        .video = {.codec = o->vcodec,
                  .crf = o->crf,
                  .preset = o->preset,
                  .bitrate = o->bitrate,
                  .pixel_format = o->pixel_format,
                  .options = o->encoder_options,
                  .threads = (int)o->threads},
        .note = say_line,
    };
    const int known = strcmp(o->input, "-") != 0 && stat(o->input, &input) == 0;
    return writer_create(&run->writer, &run->writer_options, known ? &input : NULL, &run->error);
}

/* The statistics file must not be the input or the output. */
static int check_stats(Run *run)
{
    const Options *o = run->options;
    struct stat stats, other;
    if (!o->stats)
        return 0;
    if ((o->output && strcmp(o->stats, o->output) == 0) ||
        (stat(o->stats, &stats) == 0 && stat(o->input, &other) == 0 &&
         stats.st_dev == other.st_dev && stats.st_ino == other.st_ino))
        return media_fail(&run->error, MEDIA_USAGE, "--stats %s is the input or the output",
                          media_quote(o->stats));
    return 0;
}

static int open_stats(Run *run)
{
    if (!run->options->stats)
        return 0;
    run->stats = stats_open(run->options->stats);
    if (!run->stats)
        return media_fail(&run->error, MEDIA_OUTPUT, "cannot write --stats %s: %s",
                          media_quote(run->options->stats), strerror(errno));
    return 0;
}

static int open_input(Run *run)
{
    const Options *o = run->options;
    const SourceOptions source = {
        .path = o->input,
        .max_pixels = o->max_pixels,
        .stop = run->stop,
    };
    const ReaderOptions reader = {
        .from_us = o->from_us,
        .to_us = o->to_us,
        .frames = o->frames,
        .range = (ReaderRange)o->range,
        .threads = (int)o->threads,
        .copy = run->writer != NULL,
        .memory = run->memory,
    };
    int ret = source_open(&run->source, &source, &run->error);
    if (ret >= 0 && run->writer)
        ret = writer_map(run->writer, run->source, &run->error);
    if (ret >= 0)
        ret = reader_open(&run->reader, run->source, &reader, &run->error);
    return ret;
}

static int sink_packets(Run *run, Message *message)
{
    int ret = 0;
    for (int i = 0; i < message->packet_count && ret >= 0; i++)
        ret = writer_packet(run->writer, message->packets[i], &run->error);
    return ret;
}

static int sink_frame(Run *run, Item *item, double begin)
{
    const AVFrame *frame = item->message.output;
    const int ret = run->writer ? writer_frame(run->writer, frame, &run->error) : 0;
    if (ret < 0)
        return ret;
    const StatsRow row = {
        .frame = run->progress.frame,
        .pts = frame->pts,
        .time = frame->pts * av_q2d(frame->time_base),
        .stats = &item->stats,
        .decode_us = item->message.decode_us,
        .sink_us = now_us() - begin,
    };
    if (run->stats)
        stats_write(run->stats, &row);
    timeline_add(&run->timeline, run->progress.frame, &item->stats);
    run->progress.frame++;
    run->progress.time = reader_time(run->reader, frame);
    run->progress.bytes = run->writer ? writer_bytes(run->writer) : -1;
    progress_update(&run->progress);
    return 0;
}

static int sink(Run *run, Item *item)
{
    const double begin = now_us();
    int ret = sink_packets(run, &item->message);
    if (ret >= 0 && item->message.frame)
        ret = sink_frame(run, item, begin);
    return ret;
}

/* Runs the stages to the end of the input, the first error or a signal. */
static int process(Run *run)
{
    Pipeline *pipeline;
    const int off = options_params(run->options).mode == LUMEQ_MODE_OFF;
    int ret = pipeline_start(&pipeline, run->reader, run->equalizer, off ? NULL : run->memory,
                             &run->error);
    while (ret >= 0 && atomic_load(run->stop) == RUN_ON) {
        Item *item = NULL;
        ret = pipeline_receive(pipeline, &item);
        if (ret >= 0)
            ret = sink(run, item);
        item_free(&item);
    }
    int on = RUN_ON;
    atomic_compare_exchange_strong(run->stop, &on, RUN_OVER);
    pipeline_join(&pipeline, &run->error);
    return run->error.fault;
}

static int close_stats(Run *run)
{
    if (stats_close(&run->stats) < 0)
        return media_fail(&run->error, MEDIA_OUTPUT, "cannot write --stats %s: %s",
                          media_quote(run->options->stats), strerror(errno ? errno : EIO));
    return 0;
}

/* What follows the last frame. Answers the exit code where no error was noted. */
static int finish(Run *run)
{
    char damage[512], memory[128];
    const int interrupted = atomic_load(run->stop) == RUN_INTERRUPTED;
    const int damaged = reader_damage(run->reader, damage, sizeof(damage));
    const char *conversion = reader_conversion(run->reader);
    timeline_print(&run->timeline, say_detail);
    if (conversion)
        say(SAY_DETAILS, "frames were converted: %s", conversion);
    if (frame_memory_report(run->memory, memory, sizeof(memory)))
        say(SAY_DETAILS, "%s", memory);
    if (run->progress.frame == 0 && !interrupted) {
        const int part = run->options->from_us > 0 || run->options->to_us >= 0;
        media_fail(&run->error, MEDIA_INPUT, "no frame of %s could be decoded%s%s",
                   media_quote(run->options->input),
                   damaged ? ": "
                   : part  ? ": --ss and --to leave none"
                           : "",
                   damaged ? damage : "");
        return EXIT_INPUT;
    }
    if (run->writer && writer_finish(run->writer, interrupted, &run->error) < 0)
        return EXIT_OUTPUT;
    if (close_stats(run) < 0)
        return EXIT_OUTPUT;
    if (interrupted)
        return EXIT_INTERRUPTED;
    if (damaged)
        say(SAY_ERRORS, "%s", damage);
    return damaged ? EXIT_DAMAGED : EXIT_DONE;
}

static void say_summary(const Run *run, int code)
{
    const double seconds = progress_elapsed(&run->progress);
    const char *output = run->options->output;
    if (code == EXIT_INTERRUPTED) {
        say(SAY_ERRORS, "interrupted after %lld frames%s", (long long)run->progress.frame,
            output && run->progress.frame ? "; what is done is in a file named .partial" : "");
        return;
    }
    say(SAY_NORMAL, "%s%s%lld frames, %.2f s of video in %.2f s (%.0f fps, %.2fx) on the %s",
        output ? media_quote(output) : "", output ? ": " : "", (long long)run->progress.frame,
        run->progress.time, seconds, (double)run->progress.frame / seconds,
        run->progress.time / seconds,
        strcmp(lumeq_backend_name(run->equalizer), "cuda") == 0 ? "GPU" : "CPU");
}

static int run_all(Run *run)
{
    int ret = check_output(run);
    if (ret >= 0)
        ret = check_stats(run);
    if (ret >= 0)
        ret = open_equalizer(run);
    if (ret >= 0)
        ret = open_memory(run);
    if (ret >= 0)
        ret = open_input(run);
    if (ret >= 0)
        ret = open_stats(run);
    if (ret < 0)
        return -ret;
    run->progress.style = (ProgressStyle)run->options->progress;
    run->progress.duration = reader_duration(run->reader);
    run->progress.frames = reader_frames(run->reader);
    progress_start(&run->progress);
    ret = process(run);
    const int code = ret < 0 ? -ret : finish(run);
    progress_end(&run->progress, run->error.fault           ? "failed"
                                 : code == EXIT_INTERRUPTED ? "interrupted"
                                                            : "done");
    if (!run->error.fault)
        say_summary(run, code);
    return code;
}

int headless_run(const Options *options, atomic_int *stop)
{
    Run run = {.options = options, .stop = stop};
    int code = run_all(&run);
    if (run.error.fault) {
        say(SAY_ERRORS, "%s", run.error.text);
        code = -run.error.fault;
    }
    /* Frames first: their memory is the equalizer's. */
    writer_close(&run.writer);
    (void)stats_close(&run.stats);
    reader_close(&run.reader);
    source_close(&run.source);
    frame_memory_close(&run.memory);
    lumeq_destroy(&run.equalizer);
    return code;
}
