/* options_parse(): the command line, over the settings file, over the defaults. */
#include <stdlib.h>
#include <string.h>

#include "app/lookahead_choice.h"
#include "app/options/config.h"
#include "app/options/option_habits.h"
#include "app/options/option_inputs.h"
#include "app/options/option_jobs.h"
#include "app/options/option_names.h"
#include "app/options/option_profile.h"
#include "app/options/option_sample.h"
#include "app/options/option_value.h"
#include "app/stats.h"
#include "media/error.h"
#include "report/report_file.h"

typedef struct Parser {
    Options *options;
    Refusal refusal;
    OptionNames names;
    unsigned char given[OPTION_MAX]; /* on the command line */
    int is_plan;                     /* of `lumeq plan` */
} Parser;

/* Two options that cannot both be meant. */
typedef struct Rivals {
    const char *a, *b; /* names in the table */
    int (*both)(const Options *options);
    const char *text;
} Rivals;

static int output_and_null(const Options *o)
{
    return o->output && o->null_output;
}

static int reference_and_off(const Options *o)
{
    return o->reference && o->mode == LUMEQ_MODE_OFF;
}

static int reference_and_stretch(const Options *o)
{
    return o->reference && o->mode == LUMEQ_MODE_STRETCH;
}

static int reference_and_haze(const Options *o)
{
    return o->reference && o->mode == LUMEQ_MODE_HAZE;
}

static int crf_and_bitrate(const Options *o)
{
    return o->crf >= 0 && o->bitrate >= 0;
}

static int no_subs_and_track(const Options *o)
{
    return o->no_subs && o->sub_track >= 0;
}

static int no_audio_and_track(const Options *o)
{
    return o->audio_track >= 0 && o->acodec && strcmp(o->acodec, "none") == 0;
}

static int reference_and_meter(const Options *o)
{
    return o->reference && o->meter.width;
}

static int reference_and_brightness(const Options *o)
{
    return o->reference && o->brightness != 0;
}

static int reference_and_gamma(const Options *o)
{
    return o->reference && o->gamma != 1;
}

static int reference_and_limit(const Options *o)
{
    return o->reference && o->limit != LUMEQ_LIMIT_NONE;
}

static int reference_and_deflicker(const Options *o)
{
    return o->reference && o->deflicker > 0;
}

static int reference_and_denoise(const Options *o)
{
    return o->reference && o->denoise > 0;
}

static int deflicker_without_lookahead(const Options *o)
{
    return o->deflicker > 0 && o->lookahead == 0;
}

static int quiet_and_verbose(const Options *o)
{
    return o->quiet && o->verbose;
}

static int config_and_no_config(const Options *o)
{
    return o->config && o->no_config;
}

static const Rivals rivals[] = {
    {"output", "null", output_and_null, "-o and --null"},
    {"reference", "mode", reference_and_off, "--reference and --mode off"},
    {"reference", "mode", reference_and_stretch, "--reference and --mode stretch"},
    {"reference", "mode", reference_and_haze, "--reference and --mode haze"},
    {"reference", "meter", reference_and_meter, "--reference and --meter"},
    {"reference", "brightness", reference_and_brightness, "--reference and --brightness"},
    {"reference", "gamma", reference_and_gamma, "--reference and --gamma"},
    {"reference", "limit", reference_and_limit, "--reference and --limit"},
    {"reference", "deflicker", reference_and_deflicker, "--reference and --deflicker"},
    {"reference", "denoise", reference_and_denoise, "--reference and --denoise"},
    {"deflicker", "lookahead", deflicker_without_lookahead, "--deflicker and --lookahead off"},
    {"crf", "bitrate", crf_and_bitrate, "--crf and --bitrate"},
    {"no-subs", "sub-track", no_subs_and_track, "--no-subs and --sub-track"},
    {"acodec", "audio-track", no_audio_and_track, "--acodec none and --audio-track"},
    {"quiet", "verbose", quiet_and_verbose, "-q and -v"},
    {"config", "no-config", config_and_no_config, "--config and --no-config"},
};

#define RIVALS ((int)(sizeof(rivals) / sizeof(rivals[0])))

static void reset(Options *options, const char *name)
{
    const Options usual = options_default();
    const Option *option = option_find(name, strlen(name));
    option_copy(option, options, &usual);
}

/* What the file says gives way to what the command line says against it. */
static void let_command_line_win(const Parser *p)
{
    for (int i = 0; i < RIVALS; i++) {
        const Rivals *r = &rivals[i];
        const int a = option_is_given(p->given, r->a), b = option_is_given(p->given, r->b);
        if (a != b && r->both(p->options))
            reset(p->options, a ? r->b : r->a);
    }
}

/* `file`: the settings file that it is about, or NULL. */
static int refuse_rivals(const Parser *p, const char *file)
{
    for (int i = 0; i < RIVALS; i++)
        if (rivals[i].both(p->options))
            return refuse(&p->refusal, "%s%s%s contradict each other",
                          file ? media_quote(file) : "", file ? ": " : "", rivals[i].text);
    return 0;
}

static const Option *find_letter(char letter)
{
    for (int i = 0; i < option_count; i++)
        if (option_table[i].letter == letter)
            return &option_table[i];
    return NULL;
}

static int unknown_option(const Parser *p, const char *arg)
{
    const char *name = arg + strspn(arg, "-");
    const size_t n = strcspn(name, "=");
    const char *habit = option_habit(name, n);
    const Option *near = NULL;
    if (habit)
        return refuse(&p->refusal, "%.*s%s", (int)(name + n - arg), arg, habit);
    if (n > 1) /* -crf and the like are long options elsewhere */
        near = option_find(name, n) ? option_find(name, n) : option_nearest(name, n);
    if (near)
        return refuse(&p->refusal,
                      "unknown option %s; did you mean --%s? lumeq --help=full lists them",
                      media_quote(arg), near->name);
    return refuse(&p->refusal, "unknown option %s; lumeq --help=full lists them", media_quote(arg));
}

/* Of digits alone: behind an option that may have a number, that is what it is. */
static int is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word);
}

/* One option and its value at argv[i]; answers how many arguments it took, or -1. */
static int take_option(Parser *p, int argc, char **argv, int i)
{
    const char *arg = argv[i], *value = NULL;
    const Option *option;
    int taken = 1;
    if (arg[1] == '-') {
        const size_t n = strcspn(arg + 2, "=");
        option = option_find(arg + 2, n);
        value = arg[2 + n] ? arg + 2 + n + 1 : NULL;
    } else {
        option = arg[2] ? NULL : find_letter(arg[1]);
    }
    if (!option)
        return unknown_option(p, arg);
    if (!value && !option_may_stand_alone(option)) {
        if (i + 1 >= argc)
            return refuse(&p->refusal, "--%s needs a value: %s", option->name, option->choices);
        value = argv[i + taken++];
    }
    if (!value && option->type == OPTION_MAY_INTEGER && i + 1 < argc && is_number(argv[i + 1]))
        value = argv[i + taken++];
    p->given[option - option_table] = 1;
    return option_set(option, p->options, value, &p->refusal) < 0 ? -1 : taken;
}

static int take_arguments(Parser *p, int argc, char **argv)
{
    int only_names = 0;
    for (int i = 1; i < argc;) {
        int taken = 1;
        if (!only_names && strcmp(argv[i], "--") == 0)
            only_names = 1;
        else if (!only_names && argv[i][0] == '-' && argv[i][1])
            taken = take_option(p, argc, argv, i);
        else if (option_names_take(&p->names, p->options, argv[i], &p->refusal) < 0)
            taken = -1;
        if (taken < 0)
            return -1;
        i += taken;
    }
    return 0;
}

/* What the command line gave, `from`, goes over what is there. Lists are added to. */
static int put_over(const Parser *p, const Options *from)
{
    Options *o = p->options;
    o->input = from->input;
    for (int i = 0; i < option_count; i++) {
        const Option *option = &option_table[i];
        const char *const *list = (const void *)((const char *)from + option->offset);
        if (!p->given[i])
            continue;
        if (option->type != OPTION_LIST)
            option_copy(option, o, from);
        else
            for (; *list; list++)
                if (option_set(option, o, *list, &p->refusal) < 0)
                    return -1;
    }
    return 0;
}

/* The settings file first, over it the profile that the command line names, then the rest of that.
 */
static int put_over_file(Parser *p)
{
    Options *o = p->options;
    const Options given = *o;
    *o = options_default();
    o->color = given.color;
    o->profile = given.profile;
    if (!given.no_config && (config_read(o, given.config, p->refusal.text, p->refusal.size) < 0 ||
                             refuse_rivals(p, o->config_path) < 0))
        return -1;
    if (given.profile) {
        o->profile = given.profile;
        option_set_profile(o);
    }
    if (put_over(p, &given) < 0)
        return -1;
    if (given.profile && (reference_and_stretch(o) || reference_and_haze(o))) {
        if (option_is_given(p->given, "reference"))
            return refuse(&p->refusal,
                          "--reference and --profile %s contradict each other: that is "
                          "mode %s, which has no reference",
                          profile_name(given.profile), reference_and_haze(o) ? "haze" : "stretch");
        reset(o, "reference");
    }
    let_command_line_win(p);
    memcpy(o->given, p->given, sizeof(o->given));
    return 0;
}

/* Each input has a name that its output can have, too. */
static int check_many(const Parser *p)
{
    Options one = *p->options;
    const int headless = options_headless(&one);
    if (!options_many(&one) && (headless || one.camera) && option_is_given(p->given, "recursive"))
        return refuse(&p->refusal, "--recursive is for the folders within an INPUT that is one: "
                                   "what is written of them needs a folder, as in -o DIR/");
    for (int i = 0; !headless && p->names.count > 1 && i < p->names.count; i++) {
        one.input = p->names.all[i];
        if (strcmp(one.input, "-") == 0 || option_inputs_is_url(&one))
            return refuse(&p->refusal, "%s is no file, and of several INPUTs each is one",
                          media_quote_input(one.input));
        if (option_inputs_check(&one, p->given, &p->refusal) < 0)
            return -1;
    }
    for (int i = 0; options_many(&one) && i < p->names.count; i++) {
        one.input = p->names.all[i];
        if (strcmp(one.input, "-") == 0 || option_inputs_is_url(&one))
            return refuse(&p->refusal, "%s has no name that a file in the folder %s could have",
                          media_quote_input(one.input), media_quote(one.output));
        if (option_inputs_check(&one, p->given, &p->refusal) < 0)
            return -1;
    }
    if (options_many(&one) && one.stats)
        return refuse(&p->refusal, "--stats is of one video, and a folder of outputs is for many");
    if (options_many(&one) && one.report)
        return refuse(&p->refusal, "--report is of one video, and a folder of outputs is for many");
    if (options_many(&one) && one.virtual_camera)
        return refuse(&p->refusal,
                      "--virtual-camera is of one input, and a folder of outputs is for many");
    return 0;
}

static int check_segments(const Options *o, const Refusal *refusal)
{
    if (o->segment_time <= 0)
        return 0;
    if (!o->output || o->null_output)
        return refuse(refusal, "--segment-time is of what is written: -o names it");
    if (options_many(o))
        return refuse(refusal,
                      "--segment-time is of one video, and a folder of outputs is for many");
    if (o->jobs != 0 || o->resume)
        return refuse(refusal,
                      "--segment-time and --%s contradict each other: a job makes one film of its "
                      "parts",
                      o->jobs != 0 ? "jobs" : "resume");
    return 0;
}

static int check_report(const Options *o, const Refusal *refusal)
{
    if (!o->report)
        return 0;
    if (!report_known_name(o->report))
        return refuse(refusal, "--report %s: its name ends in .html or .json",
                      media_quote(o->report));
    if (!options_headless(o))
        return refuse(refusal,
                      "--report is of a run without a window: -o FILE or --null%s is missing",
                      o->camera ? ", and with -o --frames N," : "");
    return 0;
}

static int check(const Parser *p)
{
    Options *o = p->options;
    if (option_inputs_check(o, p->given, &p->refusal) < 0 || check_many(p) < 0)
        return -1;
    if (!o->input && !o->camera)
        return refuse(&p->refusal, "no INPUT given; lumeq --help shows how it is called");
    if (lookahead_check(o, p->given, &p->refusal) < 0 || check_segments(o, &p->refusal) < 0 ||
        option_sample_check(o, p->given, p->is_plan, &p->refusal) < 0 ||
        option_jobs_check(o, p->given, p->is_plan, &p->refusal) < 0)
        return -1;
    if (o->from_us >= 0 && o->to_us >= 0 && o->to_us <= o->from_us)
        return refuse(&p->refusal, "--to must be after --ss: both are positions in the input");
    if (o->to_us == 0)
        return refuse(&p->refusal, "--to 0 leaves nothing; it must be after the start");
    if (o->stats && !stats_known_name(o->stats))
        return refuse(&p->refusal, "--stats %s: its name ends in .csv or .jsonl",
                      media_quote(o->stats));
    return check_report(o, &p->refusal);
}

/* Two ways of saying it become one. */
static void simplify(Options *o)
{
    if (o->sub_track == TRACK_NONE) {
        o->sub_track = -1;
        o->no_subs = 1;
    }
}

static int parse(Parser *p, int argc, char **argv)
{
    Options *options = p->options;
    if (take_arguments(p, argc, argv) < 0)
        return -1;
    if (options_ask(options))
        return options->help ? 0 : option_inputs_check_lists(options, &p->refusal);
    if (option_names_check(&p->names, options, &p->refusal) < 0 || refuse_rivals(p, NULL) < 0)
        return -1;
    if (put_over_file(p) < 0)
        return -1;
    simplify(options);
    /* What is settled for the window is not to be found in files later. */
    if (options_headless(options) && !option_is_given(p->given, "compare"))
        options->compare = 0;
    return check(p);
}

static int parse_line(Options *options, int is_plan, int argc, char **argv, char *text,
                      size_t text_size)
{
    Parser p = {.options = options, .refusal = {text, text_size, "--"}, .is_plan = is_plan};
    *options = options_default();
    p.names.all = calloc((size_t)argc + 1, sizeof(*p.names.all));
    const int ret = p.names.all ? parse(&p, argc, argv) : refuse(&p.refusal, "out of memory");
    options->inputs = p.names.all;
    options->input_count = p.names.count;
    return ret;
}

int options_parse(Options *options, int argc, char **argv, char *text, size_t text_size)
{
    return parse_line(options, 0, argc, argv, text, text_size);
}

int options_parse_plan(Options *options, int argc, char **argv, char *text, size_t text_size)
{
    return parse_line(options, 1, argc, argv, text, text_size);
}
