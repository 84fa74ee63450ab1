#include "app/record_raw.h"

#include "app/engine.h"
#include "app/headless.h"
#include "app/recorder.h"
#include "app/say.h"

/* Hands on the packets that are asked for. Answers how many will be written. */
static int64_t pass_packets(Source *source, Recorder *recorder, const Options *options,
                            MediaError *error)
{
    int64_t count = 0;
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        media_fail(error, MEDIA_INPUT, "out of memory");
    while (packet && (options->frames < 0 || count < options->frames) &&
           !recorder_state(recorder).done && source_read(source, packet) >= 0) {
        if (packet->stream_index == source->video->index)
            count += recorder_packet_wait(recorder, packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return count;
}

static int finish(Source *source, Recorder **recorder, int64_t count, const Options *options,
                  const atomic_int *stop, MediaError *error)
{
    char line[1200], gone[256];
    const int interrupted = atomic_load(stop) == RUN_INTERRUPTED;
    recorder_end(*recorder, interrupted);
    if (recorder_close(recorder, line, sizeof(line), error) < 0)
        return -error->fault;
    say(interrupted ? SAY_ERRORS : SAY_NORMAL, "%s%s", interrupted ? "interrupted: " : "",
        *line ? line : "nothing was recorded");
    if (interrupted)
        return EXIT_INTERRUPTED;
    if (!headless_camera_gone(source, count, options, gone, sizeof(gone)))
        return EXIT_DONE;
    say(SAY_ERRORS, "%s", gone);
    return EXIT_DAMAGED;
}

int record_raw_run(const Options *options, atomic_int *stop)
{
    MediaError error = {0};
    Recorder *recorder = NULL;
    Source *source = NULL;
    int64_t count = 0;
    int code = EXIT_DONE;
    int ret = recorder_create(&recorder, options, NULL, stop, &error);
    if (ret >= 0)
        ret = engine_open_source(&source, options, NULL, stop, &error);
    if (ret >= 0)
        ret = recorder_start(recorder, source, &error);
    if (ret >= 0)
        count = pass_packets(source, recorder, options, &error);
    if (ret >= 0)
        code = finish(source, &recorder, count, options, stop, &error);
    if (error.fault)
        code = atomic_load(stop) == RUN_INTERRUPTED ? EXIT_INTERRUPTED : -error.fault;
    if (error.fault)
        say(SAY_ERRORS, "%s", error.text);
    recorder_close(&recorder, NULL, 0, &(MediaError){0});
    source_close(&source);
    return code;
}
