/*
 * The clip in parts: each is decoded from the key frame before it and measured by itself, in any
 * order; the history is planned once over all measures; each part is equalized by itself. Every
 * frame has the bits that the program writes in one run.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <libavutil/imgutils.h>
#include <libavutil/md5.h>

#include "../check.h"

#include "app/engine.h"
#include "media/input/reader.h"
#include "run/equalizer_frame.h"

#define MAX_FRAMES 400
#define THREADS 2
#define MD5_TEXT 33

static atomic_int never;

/* What every part is made with, and what comes of it. */
typedef struct Film {
    Options options;
    Engine engine;
    LumeqParams params;
    int frames;
    int64_t begins[MAX_FRAMES + 1]; /* of each frame, from the start of the input, microseconds */
    char expected[MAX_FRAMES][MD5_TEXT]; /* of what the program writes */

    LumeqMeasure *measures[MAX_FRAMES];
    LumeqMoment moments[MAX_FRAMES];
    LumeqCurve *curves[MAX_FRAMES];
} Film;

static Film film;

static void must(int ret, const char *text)
{
    if (ret >= 0)
        return;
    fprintf(stderr, "cannot go on: %s\n", text);
    exit(1);
}

/* As the muxer framemd5 has it, of a frame without padding. */
static void md5_text(char text[MD5_TEXT], const AVFrame *frame)
{
    const int size = av_image_get_buffer_size(frame->format, frame->width, frame->height, 1);
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1), sum[16];
    must(bytes ? size : -1, "no memory");
    must(av_image_copy_to_buffer(bytes, size, (const uint8_t *const *)frame->data, frame->linesize,
                                 frame->format, frame->width, frame->height, 1),
         "a frame that cannot be copied");
    av_md5_sum(sum, bytes, (size_t)size);
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", sum[i]);
    free(bytes);
}

/* Frames before one that a curve may want. */
#define BEFORE 3

/* What is done with a frame, and those before it in the file, the nearest first (NULL: there are no
 * more). */
typedef void Take(int index, const AVFrame *frame, AVFrame *const before[BEFORE], int64_t at);

/* Calls `take` with each frame of a file from one time to another, microseconds, -1 = its start,
 * its end, less the `lead` first ones; `at` is where it begins. Answers how many there were. */
static int read_frames(const char *path, int64_t from, int64_t to, int lead, Take *take)
{
    const ReaderOptions part = {
        .from_us = from, .to_us = to, .frames = -1, .decoder = {.threads = 1}};
    MediaError error = {0};
    Source *source = NULL;
    Reader *reader = NULL;
    Decoded decoded = {0};
    AVFrame *before[BEFORE] = {NULL};
    int ret, count = -lead;
    must(engine_open_source(&source, &film.options, path, &never, &error), error.text);
    must(reader_open(&reader, source, &part, &error), error.text);
    while ((ret = reader_next(reader, &decoded, &error)) >= 0) {
        if (decoded.frame) {
            const AVFrame *f = decoded.frame;
            const int64_t zero = reader_zero(reader) - source_start(source);
            if (count >= 0)
                take(count, f, before, av_rescale_q(f->pts, f->time_base, AV_TIME_BASE_Q) + zero);
            count++;
            av_frame_free(&before[BEFORE - 1]);
            memmove(&before[1], &before[0], (BEFORE - 1) * sizeof(before[0]));
            before[0] = av_frame_clone(f);
        }
        decoded_clear(&decoded);
    }
    must(ret == AVERROR_EOF ? 0 : ret, error.text);
    for (int i = 0; i < BEFORE; i++)
        av_frame_free(&before[i]);
    reader_close(&reader);
    source_close(&source);
    return count;
}

/* ---- the frames of a part ---- */

static int frame_at(int64_t at)
{
    int n = 0;
    while (n < film.frames && film.begins[n] != at)
        n++;
    return n;
}

static void measure(int index, const AVFrame *frame, AVFrame *const before[BEFORE], int64_t at)
{
    const int n = frame_at(at);
    (void)index;
    if (!CHECK(n < film.frames && !film.measures[n], "the frame at %lld us", (long long)at))
        return;
    const LumeqFrame seen = equalizer_frame(frame, NULL);
    const LumeqImage previous = equalizer_before(before[0], frame);
    must(lumeq_measure(film.engine.context, &film.measures[n], &film.params, &seen.in,
                       previous.plane[0] ? &previous : NULL, NULL),
         lumeq_last_error(NULL));
    film.moments[n] = (LumeqMoment){
        .size = sizeof(LumeqMoment),
        .number = n,
        .time = at * 1000,
        .duration = seen.duration,
    };
}

static void apply(int index, const AVFrame *frame, AVFrame *const before[BEFORE], int64_t at)
{
    const int n = frame_at(at);
    (void)index;
    AVFrame *out = frame_memory_output(film.engine.memory, frame, 1);
    if (!CHECK(n < film.frames && out, "the frame at %lld us", (long long)at))
        return;
    const LumeqFrame work = equalizer_frame(frame, out);
    LumeqImage previous[BEFORE];
    int count = 0;
    for (; count < BEFORE && before[count]; count++)
        previous[count] = equalizer_before(before[count], frame);
    must(lumeq_apply(film.engine.context, film.curves[n], &work.in, previous, count, &work.out,
                     NULL),
         lumeq_last_error(NULL));
    char text[MD5_TEXT];
    md5_text(text, out);
    CHECK(!strcmp(text, film.expected[n]), "frame %d differs", n);
    av_frame_free(&out);
}

/* ---- parts ---- */

typedef struct Parts {
    int count, order[MAX_FRAMES];
    int begin[MAX_FRAMES + 1]; /* frame numbers */
    atomic_int next, frames;
    Take *take;
} Parts;

static void *work_on_parts(void *arg)
{
    Parts *p = arg;
    int i;
    while ((i = atomic_fetch_add(&p->next, 1)) < p->count) {
        const int first = p->begin[p->order[i]], end = p->begin[p->order[i] + 1];
        const int lead = first < BEFORE ? first : BEFORE;
        atomic_fetch_add(&p->frames,
                         read_frames(LUMEQ_CLIP, lead ? film.begins[first - lead] : -1,
                                     end < film.frames ? film.begins[end] : -1, lead, p->take));
    }
    return NULL;
}

static void each_part(Parts *p, Take *take)
{
    pthread_t threads[THREADS];
    int started = 0;
    atomic_store(&p->next, 0);
    atomic_store(&p->frames, 0);
    p->take = take;
    while (started < THREADS && pthread_create(&threads[started], NULL, work_on_parts, p) == 0)
        started++;
    must(started - 1, "no thread");
    while (started)
        pthread_join(threads[--started], NULL);
    CHECK(atomic_load(&p->frames) == film.frames, "%d parts have %d frames of %d", p->count,
          atomic_load(&p->frames), film.frames);
}

static void plan(void)
{
    LumeqHistory *history = NULL;
    int got = 0, ret = 0;
    must(lumeq_history_create(&history, &film.params, LUMEQ_MAX_LOOKAHEAD), lumeq_last_error(NULL));
    for (int n = 0; n <= film.frames; n++) {
        const int end = n == film.frames;
        must(lumeq_history_put(history, end ? NULL : film.measures[n],
                               end ? NULL : &film.moments[n]),
             lumeq_last_error(NULL));
        while (got < film.frames && (ret = lumeq_history_get(history, &film.curves[got])) == 0)
            got++;
    }
    CHECK(got == film.frames, "%d curves", got);
    lumeq_history_destroy(&history);
}

/* Random cuts, random order. */
static void in_parts(int count, uint64_t number)
{
    CheckRandom random = check_random(number);
    Parts p = {.count = count};
    for (int i = 0; i < count; i++) {
        const int at = check_below(&random, i + 1);
        p.order[i] = p.order[at];
        p.order[at] = i;
    }
    for (int i = 1; i < count; i++) { /* one somewhere in each stretch of the same length */
        const int stretch = film.frames / count;
        p.begin[i] = i * stretch + check_below(&random, stretch - 1);
    }
    p.begin[count] = film.frames;
    each_part(&p, measure);
    plan();
    each_part(&p, apply);
    for (int n = 0; n < film.frames; n++) {
        lumeq_measure_free(&film.measures[n]);
        lumeq_curve_unref(&film.curves[n]);
    }
}

static void a_few_parts(void)
{
    CheckRandom random = check_random(1);
    in_parts(2 + check_below(&random, 4), 2);
}

static void twenty_parts(void)
{
    in_parts(20, 3);
}

/* ---- the program's run ---- */

static void note_begin(int index, const AVFrame *frame, AVFrame *const before[BEFORE], int64_t at)
{
    (void)before;
    (void)frame;
    must(index < MAX_FRAMES ? 0 : -1, "the clip has too many frames");
    film.begins[index] = at;
}

/* Lines "0, dts, pts, duration, size, md5" are of the video. */
static int read_expected(const char *path)
{
    char line[256];
    int count = 0;
    FILE *file = fopen(path, "r");
    must(file ? 0 : -1, path);
    while (fgets(line, sizeof(line), file))
        if (count < MAX_FRAMES &&
            sscanf(line, "0, %*d, %*d, %*d, %*d, %32s", film.expected[count]) == 1)
            count++;
    fclose(file);
    return count;
}

static void prepare(const char *program)
{
    char folder[] = "/tmp/lumeq-parts-XXXXXX", output[64], command[1024], text[512];
    char *argv[] = {(char *)"lumeq",
                    (char *)"--no-config",
                    (char *)"-q",
                    (char *)"-o",
                    output,
                    (char *)"--two-pass",
                    (char *)"on",
                    (char *)"--vcodec",
                    (char *)"rawvideo",
                    (char *)"--format",
                    (char *)"framemd5",
                    (char *)"--backend",
                    (char *)"cpu",
                    (char *)LUMEQ_CLIP};
    const int count = (int)(sizeof(argv) / sizeof(argv[0]));
    MediaError error = {0};
    Source *source = NULL;
    must(mkdtemp(folder) ? 0 : -1, "no folder");
    snprintf(output, sizeof(output), "%s/out.md5", folder);
    must(options_parse(&film.options, count, argv, text, sizeof(text)), text);
    must(engine_open(&film.engine, &film.options, 1, &error), error.text);
    must(engine_open_context(&film.engine, &film.options, &error), error.text);
    must(engine_open_source(&source, &film.options, LUMEQ_CLIP, &never, &error), error.text);
    must(engine_params(&film.params, &film.options, (OptionsInput){.fine = 1}, source, &error),
         error.text);
    source_close(&source);

    int used = snprintf(command, sizeof(command), "'%s'", program);
    for (int i = 1; i < count; i++)
        used += snprintf(command + used, sizeof(command) - (size_t)used, " '%s'", argv[i]);
    must(system(command) == 0 ? 0 : -1, command); /* NOLINT: paths of this build */
    film.frames = read_frames(LUMEQ_CLIP, -1, -1, 0, note_begin);
    const int written = read_expected(output);
    (void)remove(output);
    (void)remove(folder);
    must(written == film.frames && written > 200 ? 0 : -1, "the program wrote other frames");
}

static const CheckTest tests[] = {
    {"a_few_parts", a_few_parts},
    {"twenty_parts", twenty_parts},
};

int main(int argc, char **argv)
{
    const char *program = getenv("LUMEQ");
    must(program ? 0 : -1, "LUMEQ has to name the program");
    prepare(program);
    const int ret = check_main(tests, (int)(sizeof(tests) / sizeof(tests[0])), argc, argv);
    engine_close(&film.engine);
    return ret;
}
