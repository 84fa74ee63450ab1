#include "app/job_film.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/drawing.h"
#include "app/options/option_arguments.h"
#include "app/options/option_table.h"
#include "app/sandbox.h"
#include "app/setup.h"
#include "app/terminal.h"
#include "media/log.h"

void job_program(char *text, size_t size)
{
    char libraries[256];
    const int version = lumeq_version();
    media_versions(libraries, sizeof(libraries));
    snprintf(text, size, "lumeq %d.%d.%d; %s", version / 1000000, version / 1000 % 1000,
             version % 1000, libraries);
}

/* Accepts only options that do not change the film. */
static int check_arguments(int argc, char **argv, MediaError *error)
{
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i], *name = arg;
        if (strcmp(name, "-q") == 0 || strcmp(name, "-v") == 0 || strcmp(name, "-y") == 0)
            continue;
        if (name[0] != '-' || !name[1])
            return media_fail(error, MEDIA_USAGE,
                              "unexpected argument %s: only the part's number and options may "
                              "follow the plan",
                              media_quote(name));
        name += strspn(name, "-");
        const size_t n = strcspn(name, "=");
        const Option *option = option_find(name, n);
        i += option && !name[n] && !option_may_stand_alone(option); /* skip its value */
        if (!option_arguments_may_differ(name, n))
            return media_fail(
                error, MEDIA_USAGE,
                "%s: the options of the film are in the plan; with a step, use only --backend, "
                "--device, --threads, --open-timeout, --sandbox, --progress, --color, -q, -v and "
                "-y",
                media_quote(arg));
    }
    return 0;
}

/* Parses the options of the plan and those of the step as one command line. */
static int parse(JobFilm *f, int argc, char **argv)
{
    const JobPlan *plan = &f->plan;
    TextList *all = &f->argv;
    char text[1400];
    int ret = text_list_add(all, "lumeq") | text_list_add(all, "--no-config");
    for (int i = 0; i < plan->arguments.count; i++) {
        const char *argument = plan->arguments.all[i];
        if (!option_arguments_is_planned(argument))
            return media_fail(&f->error, MEDIA_INPUT,
                              "the plan has the argument %s, which is not allowed in a plan",
                              media_quote(argument));
        ret |= text_list_add(all, argument);
    }
    for (int i = 0; i < argc; i++)
        ret |= text_list_add(all, argv[i]);
    if (plan->rows)
        ret |= text_list_print(all, "--stats=%s", plan->rows);
    ret |= text_list_print(all, "--output=%s", plan->output);
    ret |= text_list_add(all, "--") | text_list_add(all, plan->input);
    if (ret < 0)
        return media_no_memory(&f->error, MEDIA_USAGE);
    return options_parse(&f->options, all->count, all->all, text, sizeof(text)) < 0
               ? media_fail(&f->error, MEDIA_USAGE, "%s", text)
               : 0;
}

int job_film_read(JobFilm *f, const char *path, int argc, char **argv)
{
    char program[400];
    f->options = options_default();
    job_program(program, sizeof(program));
    int ret = check_arguments(argc, argv, &f->error);
    if (ret >= 0)
        ret = job_plan_read(&f->plan, path, program, &f->error);
    if (ret >= 0)
        ret = parse(f, argc, argv);
    return ret < 0 ? ret : job_input_check(&f->plan, &f->error);
}

void job_film_deepen(JobFilm *f)
{
    f->input.fine |= f->plan.depth > 0;
    f->params = options_params(&f->options, f->input);
}

/* Planning measures the code range of gray video over 8 bits; other steps take it from the plan. */
static int find_codes(JobFilm *f)
{
    CodeRange *codes = &f->video.decoder.codes;
    *codes = setup_codes(&f->options, f->source);
    if (!f->plan.part_count) {
        const int ret = setup_survey_codes(codes, &f->options, f->source, f->stop, &f->error);
        if (ret < 0)
            return ret;
        f->plan.codes[0] = codes->window.low;
        f->plan.codes[1] = codes->window.high;
        if (codes->window.high) {
            char text[64];
            code_window_text(codes->window, codes->all, text, sizeof(text));
            say(SAY_NORMAL, "%s %s", f->source->name, text);
        }
    }
    codes->is_measured = true;
    codes->window = (LumeqCodes){f->plan.codes[0], f->plan.codes[1]};
    return 0;
}

int job_film_open(JobFilm *f, int (*take)(void *opaque, const AVPacket *, MediaError *error),
                  void *opaque)
{
    const Options *o = &f->options;
    f->options.hwdec = OPTIONS_HWDEC_NO; /* the plan notes damage, which a GPU does not report */
    const WriterOptions before = f->writer_options;
    f->writer_options = setup_writer(o, f->stop);
    f->writer_options.whole = before.whole;
    f->writer_options.whole_opaque = before.whole_opaque;
    f->writer_options.take_encoded = take;
    f->writer_options.take_opaque = opaque;
    /* With `take`, no output is written. Only planning (no parts yet) refuses an existing one. */
    f->writer_options.overwrite |= take && f->plan.part_count;
    f->writer_options.video.closed = 1;
    f->writer_options.video.hint = sandbox_hint(o);
    if (f->plan.encoder_threads)
        f->writer_options.video.threads = f->plan.encoder_threads;
    if (setup_create_writer(&f->writer, &f->writer_options, o, &f->error) < 0)
        return f->error.fault;
    if (writer_is_direct(f->writer) || writer_is_picture(f->writer))
        return media_fail(
            &f->error, MEDIA_USAGE,
            "a film in parts needs a regular file with video as its output: %s is not one",
            media_quote(o->output));
    if (engine_open(&f->engine, o, 0, &f->error) < 0)
        return f->error.fault;
    f->video = setup_video(o, f->writer);
    f->video.decoder.memory = f->engine.memory;
    f->video.decoder.threads = f->plan.decoder_threads;
    if (setup_source(&f->source, o, o->input, NULL, f->stop, &f->error) < 0)
        return f->error.fault;
    if (source_is_one_picture(f->source))
        return media_fail(&f->error, MEDIA_USAGE,
                          "%s is a picture and cannot be divided into parts",
                          media_quote(o->input));
    if (writer_map(f->writer, f->source, &f->error) < 0 || find_codes(f) < 0)
        return f->error.fault;
    f->input.ahead = 1;
    const int ret =
        setup_params(&f->params, &f->input, &f->options, f->source, f->writer, &f->error);
    job_film_deepen(f);
    return ret;
}

int job_film_source(void *film, Source **source, MediaError *error)
{
    const JobFilm *f = film;
    return setup_source_again(source, &f->options, NULL, f->source, f->stop, error);
}

int job_film_first(JobFilm *f, AVFrame **first, int64_t *zero)
{
    Source *source = NULL;
    Input *video = NULL;
    *first = NULL;
    int ret = job_film_source(f, &source, &f->error);
    if (ret >= 0)
        ret = input_open(&video, source, &f->video, &f->error);
    if (ret >= 0 && f->plan.depth)
        decoder_deepen(input_decoder(video), f->plan.depth);
    ret = ret < 0 ? ret : input_start(video, NULL, &f->error);
    while (ret >= 0 && !*first) {
        Frame *frame = NULL;
        ret = input_take(video, &frame, QUEUE_WAIT, &f->error);
        if (frame)
            FFSWAP(AVFrame *, *first, frame->decoded.frame);
        frame_free(&frame);
    }
    if (video)
        input_stop(video);
    if (*first) {
        *zero = input_zero(video);
        f->video.decoder.shape = decoder_shape(input_decoder(video));
    } else if (!f->error.fault && video && input_explain(video, &f->error) >= 0)
        (void)media_fail(&f->error, MEDIA_INPUT, "no frame of %s could be decoded", source->name);
    input_close(&video);
    source_close(&source);
    return *first ? 0 : f->error.fault;
}

int job_film_open_encoder(JobFilm *f, const AVFrame *first)
{
    Options options = f->options;
    Drawing *drawing = NULL;
    AVFrame *frame = av_frame_clone(first);
    options.overlay = 0; /* the overlay does not change the size */
    int ret = frame ? drawing_open(&drawing, &options, &f->error)
                    : media_no_memory(&f->error, MEDIA_OUTPUT);
    if (ret >= 0)
        ret = drawing_compare(drawing, first, frame, &f->error);
    if (ret >= 0)
        ret = writer_open_encoder(f->writer, frame, &f->error);
    drawing_close(&drawing);
    av_frame_free(&frame);
    return ret;
}

void job_film_say_part(const JobFilm *f, int part, int64_t frames, const char *what)
{
    const double seconds = progress_elapsed(&f->progress);
    say(SAY_NORMAL, "part %d of %d: %" PRId64 " frame%s %sin %.2f s (%.0f fps)", part,
        f->plan.part_count, frames, frames == 1 ? "" : "s", what, seconds,
        (double)frames / seconds);
}

void job_film_close(JobFilm *f)
{
    writer_close(&f->writer);
    source_close(&f->source);
    engine_close(&f->engine);
    job_plan_free(&f->plan);
    options_free(&f->options);
    text_list_free(&f->argv);
}
