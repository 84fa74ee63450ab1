#include "app/headless_raw.h"

#include "app/background_writer.h"
#include "app/engine.h"
#include "app/headless.h"
#include "app/losses.h"
#include "app/progress.h"
#include "app/terminal.h"

static Progress begin_progress(const Options *options)
{
    Progress progress = {
        .style = headless_progress(options),
        .frames = options->frames >= 0 ? options->frames : 0,
    };
    progress_start(&progress);
    return progress;
}

static void follow(Progress *progress, const BackgroundWriterState *state)
{
    progress->frame = state->frames;
    progress->time = (double)state->length_us * 1e-6;
    progress->bytes = state->bytes;
}

/* Hands on the packets that are asked for. Answers how many will be written. */
static int64_t pass_packets(Source *source, BackgroundWriter *writer, const Options *options,
                            Progress *progress, MediaError *error)
{
    int64_t count = 0;
    BackgroundWriterState state = {0};
    Missed missed = {0};
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        media_fail(error, MEDIA_INPUT, "out of memory");
    while (packet && (options->frames < 0 || count < options->frames) && !state.done &&
           source_read(source, packet) >= 0) {
        if (packet->stream_index == source->video->index) {
            count += background_writer_packet_wait(writer, packet);
            losses_count_missed(
                &missed, source,
                av_rescale_q(packet->pts, source->video->time_base, AV_TIME_BASE_Q));
        }
        av_packet_unref(packet);
        state = background_writer_state(writer);
        follow(progress, &state);
        progress_update(progress);
    }
    av_packet_free(&packet);
    losses_say_missed(&missed, "written, and are dropped");
    losses_say_lost(source);
    return count;
}

static int finish(Source *source, BackgroundWriter **writer, int64_t count, const Options *options,
                  const atomic_int *stop, Progress *progress, MediaError *error)
{
    char line[1200], gone[256];
    const int interrupted = atomic_load(stop) == RUN_INTERRUPTED;
    background_writer_end(*writer, interrupted);
    const BackgroundWriterState state = background_writer_wait(*writer);
    follow(progress, &state);
    const int ret = background_writer_close(writer, line, sizeof(line), error);
    progress_end(progress, interrupted ? "interrupted" : ret < 0 ? "failed" : "done");
    if (ret < 0)
        return -error->fault;
    say(interrupted ? SAY_ERRORS : SAY_NORMAL, "%s%s", interrupted ? "interrupted: " : "",
        *line ? line : "nothing was recorded");
    if (interrupted)
        return EXIT_INTERRUPTED;
    if (!losses_camera_gone(source, count, options, gone, sizeof(gone)))
        return EXIT_DONE;
    say(SAY_ERRORS, "%s", gone);
    return EXIT_DAMAGED;
}

static int record(Source *source, BackgroundWriter **writer, const Options *options,
                  const atomic_int *stop, MediaError *error)
{
    Progress progress = begin_progress(options);
    const int64_t count = pass_packets(source, *writer, options, &progress, error);
    return finish(source, writer, count, options, stop, &progress, error);
}

int headless_raw_run(const Options *options, atomic_int *stop)
{
    MediaError error = {0};
    BackgroundWriter *writer = NULL;
    Source *source = NULL;
    int code = EXIT_DONE;
    int ret = background_writer_create(&writer, options, stop, &error);
    if (ret >= 0)
        ret = engine_open_source(&source, options, NULL, stop, &error);
    if (ret >= 0)
        ret = background_writer_start(writer, source, &error);
    if (ret >= 0)
        code = record(source, &writer, options, stop, &error);
    if (error.fault)
        code = atomic_load(stop) == RUN_INTERRUPTED ? EXIT_INTERRUPTED : -error.fault;
    if (error.fault)
        say(SAY_ERRORS, "%s", error.text);
    background_writer_close(&writer, NULL, 0, &(MediaError){0});
    source_close(&source);
    return code;
}
