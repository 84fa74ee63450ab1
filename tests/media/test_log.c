/* FFmpeg's log messages reach the thread that caused them. A codec's messages are kept with the
 * codec, whichever thread logs them. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>

#include "check.h"
#include "media/log.h"

#define ROUNDS 2000
#define STAGES 4

/* ---- demuxers ---- */

TEST(demuxers_report_damage)
{
    static const struct {
        const char *demuxer, *line;
        int level, damage, cut_off;
    } said[] = {
        {"matroska", "Element at 0x1 ending at 0x9 exceeds containing master element", AV_LOG_ERROR,
         1, 0},
        {"matroska", "0x00 at pos 5 (0x5) invalid as first byte of an EBML number", AV_LOG_ERROR, 1,
         0},
        {"matroska", "File ended prematurely at pos. 7 (0x7)", AV_LOG_ERROR, 0, 1},
        {"matroska", "an error of a later version", AV_LOG_ERROR, 0, 0},
        {"ogg", "CRC mismatch!", AV_LOG_WARNING, 0, 0},
        {"ogg", "CRC mismatch!", AV_LOG_ERROR, 1, 0},
        {"asf", "ff asf skip 7 (unknown stream)", AV_LOG_ERROR, 0, 0},
    };
    media_log_install(0, NULL, NULL);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        AVFormatContext *format = avformat_alloc_context();
        format->iformat = av_find_input_format(said[i].demuxer);
        media_log_clear();
        av_log(format, said[i].level, "%s\n", said[i].line);
        CHECK(media_log_note()->damage == said[i].damage, "%s: %s", said[i].demuxer, said[i].line);
        CHECK(media_log_note()->cut_off == said[i].cut_off, "%s: %s", said[i].demuxer,
              said[i].line);
        avformat_free_context(format);
    }
}

/* ---- secrets ---- */

static char printed[2048];

static void print(const char *line)
{
    snprintf(printed, sizeof(printed), "%s", line);
}

TEST(secrets_of_urls_are_hidden)
{
    static const char *const lines[][2] = {
        {"Redirecting to rtsp://user:pass@host/film?token=secret",
         "Redirecting to rtsp://...@host/film?..."},
        {"Opening 'http://u:p@host/a' for reading", "Opening 'http://...@host/a' for reading"},
        {"http://h/a?b and https://u@h:1/c#d, too", "http://h/a?... and https://...@h:1/c#... too"},
        {"a=x://u:p@h/,b=y://v:q@i/", "a=x://...@h/,b=y://...@i/"},
        {"tcp://host:80 :// ?x user@host", "tcp://host:80 :// ?x user@host"},
    };
    char line[1200];
    media_log_install(1, print, NULL);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        av_log(NULL, AV_LOG_INFO, "%s\n", lines[i][0]);
        CHECK(strcmp(printed, lines[i][1]) == 0, "'%s' instead of '%s'", printed, lines[i][1]);
    }
    for (int n = 980; n < 1030; n++) { /* about as long as a line may be */
        snprintf(line, sizeof(line), "%0*d http://u@h http://u@h", n, 0);
        av_log(NULL, AV_LOG_INFO, "%s\n", line);
        CHECK(!strstr(printed, "u@"), "at %d: '%s'", n, printed + n);
    }
    media_log_install(0, NULL, NULL);
}

TEST(failed_assertions_are_always_printed)
{
    media_log_install(0, NULL, print);
    av_log(NULL, AV_LOG_PANIC, "Assertion a failed\n");
    CHECK(strcmp(printed, "Assertion a failed") == 0, "'%s'", printed);
    av_log(NULL, AV_LOG_FATAL, "something else\n");
    CHECK(strcmp(printed, "Assertion a failed") == 0, "'%s'", printed);
    media_log_install(0, NULL, NULL);
}

/* ---- several threads ---- */

typedef struct Stage {
    int number;
    pthread_barrier_t *start;
    int wrong;
    char first[256]; /* wrong message */
} Stage;

/* Logs a message in two pieces, as FFmpeg does. */
static void *run_stage(void *arg)
{
    Stage *s = arg;
    char own[64];
    pthread_barrier_wait(s->start);
    for (int i = 0; i < ROUNDS; i++) {
        media_log_clear();
        snprintf(own, sizeof(own), "stage %d has failed for the time %d", s->number, i);
        av_log(NULL, AV_LOG_ERROR, "stage %d has ", s->number);
        av_log(NULL, AV_LOG_ERROR, "failed for the time %d\n", i);
        av_log(NULL, AV_LOG_ERROR, "and once more\n");
        if (strcmp(media_log_error(), own) != 0 && !s->wrong++)
            snprintf(s->first, sizeof(s->first), "%s", media_log_error());
    }
    return NULL;
}

TEST(stages_keep_their_own_messages)
{
    pthread_t threads[STAGES];
    Stage stages[STAGES];
    pthread_barrier_t start;
    media_log_install(0, NULL, NULL);
    pthread_barrier_init(&start, NULL, STAGES);
    for (int i = 0; i < STAGES; i++) {
        stages[i] = (Stage){.number = i, .start = &start};
        pthread_create(&threads[i], NULL, run_stage, &stages[i]);
    }
    for (int i = 0; i < STAGES; i++) {
        pthread_join(threads[i], NULL);
        CHECK(stages[i].wrong == 0, "stage %d: %d of %d messages are wrong, first '%s'", i,
              stages[i].wrong, ROUNDS, stages[i].first);
    }
    pthread_barrier_destroy(&start);
}

/* ---- codecs ---- */

/* Logs as a codec's own thread does: with a copy of the codec's context. */
static void *log_for(void *codec)
{
    AVCodecContext *copy = avcodec_alloc_context3(NULL);
    copy->opaque = ((const AVCodecContext *)codec)->opaque;
    av_log(copy, AV_LOG_ERROR, "frame %d is broken\n", 7);
    av_log(copy, AV_LOG_ERROR, "error while decoding MB %d %d\n", 2, 3);
    (void)av_image_check_size2(70000, 60000, 1, AV_PIX_FMT_NONE, 0, copy);
    avcodec_free_context(&copy);
    return NULL;
}

TEST(codecs_keep_messages_of_their_threads)
{
    AVCodecContext *codecs[2] = {avcodec_alloc_context3(NULL), avcodec_alloc_context3(NULL)};
    CodecLog logs[2];
    pthread_t thread;
    media_log_install(0, NULL, NULL);
    for (int i = 0; i < 2; i++)
        codec_log_open(&logs[i], codecs[i]);
    pthread_create(&thread, NULL, log_for, codecs[1]);
    pthread_join(thread, NULL);
    media_log_clear();
    LogNote note = codec_log_take(&logs[0]);
    CHECK(!note.error[0] && !note.refused_width, "the other codec's message: '%s'", note.error);
    CHECK(!codec_log_has_damage(&logs[0]), "damage of the other codec is noted");
    CHECK(codec_log_has_damage(&logs[1]), "damage is not noted");
    note = codec_log_take(&logs[1]);
    CHECK(strstr(note.error, "frame 7 is broken"), "'%s'", note.error);
    CHECK(note.refused_width == 70000 && note.refused_height == 60000, "%ux%u", note.refused_width,
          note.refused_height);
    note = codec_log_take(&logs[1]);
    CHECK(!note.error[0], "the message is still there: '%s'", note.error);
    CHECK(!codec_log_has_damage(&logs[1]), "the damage is still there");
    for (int i = 0; i < 2; i++) {
        avcodec_free_context(&codecs[i]);
        codec_log_close(&logs[i]);
    }
}

TEST_MAIN
