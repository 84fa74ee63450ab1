/* options_parse(): the command line overrides the settings file, which overrides the defaults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/options/config.h"
#include "app/options/option_profile.h"
#include "app/options/option_rules.h"
#include "app/options/option_value.h"
#include "media/error.h"
#include "media/text_list.h"

typedef struct Parser {
    Options *options;
    Refusal refusal;
    OptionNames names;
    unsigned char given[OPTION_MAX]; /* on the command line */
    int is_plan;                     /* for `lumeq plan` */
    char *output_folder;             /* see Options */
} Parser;

typedef struct Habit {
    const char *names; /* separated by commas; a track number may follow, as in c:v:0 */
    const char *answer;
} Habit;

/* Options of ffmpeg and mpv, and what to use here. Similar names (-pix_fmt) need no row. */
static const Habit habits[] = {
    {"i,in,input", " is not needed: give INPUT alone, as in lumeq in.mp4 -o out.mp4"},
    {"o", ": use -o OUTPUT"},
    {"t,duration,length", ": use --to TIME, a position in the input, or --frames N"},
    {"start", ": use --ss TIME"},
    {"end", ": use --to TIME"},
    {"frames:v,vframes", ": use --frames N"},
    {"f,of", ": use --format NAME for OUTPUT; the format of INPUT is detected"},
    {"c", ": use --vcodec NAME for the picture and --acodec copy|NAME|none for the sound"},
    {"c:v,codec:v,ovc,encoder,e", ": use --vcodec NAME; --vcodec help lists the encoders"},
    {"c:a,codec:a,oac", ": use --acodec copy|NAME|none; --acodec help lists the encoders"},
    {"c:s,codec:s,scodec", ": subtitles are kept; --no-subs drops them"},
    {"an", ": use --acodec none"},
    {"sn", ": use --no-subs"},
    {"b,b:v,vb", ": use --bitrate N, such as 2000k"},
    {"b:a,ab", ": sound is copied, or has the default rate of the encoder in --acodec"},
    {"q:v,qscale,qp,cq,quality", ": use --crf X, or --vopt KEY=VALUE for an option of the encoder"},
    {"tune,profile:v,level,g,bf,maxrate,minrate,bufsize,rc,x264opts,x264-params,x265-params,"
     "svtav1-params,ovcopts",
     ": use --vopt KEY=VALUE, which takes any option of the video encoder"},
    {"vf,filter,filter_complex,lavfi", ": there are no filters; use --mode, --strength and --clip"},
    {"af,filter:a", ": sound is not filtered"},
    {"r,fps,fps_mode,vsync", " is not needed: frames keep their times"},
    {"s,size", " is not needed: pictures keep their size"},
    {"map", ": all tracks are kept; use --video-track N, --audio-track N, --sub-track N|none"},
    {"map_metadata,metadata", ": tags are kept; --no-metadata drops them"},
    {"map_chapters", ": chapters are kept; --no-chapters drops them"},
    {"vid", ": use --video-track N"},
    {"aid", ": use --audio-track N"},
    {"sid", ": use --sub-track N|none"},
    {"force", ": use -y to replace an OUTPUT that exists"},
    {"n", " is not needed: lumeq replaces an existing OUTPUT only with -y"},
    {"hwaccel,gpu,cuda,cpu", ": use --backend auto|cpu|cuda"},
    {"fs", ": use --fullscreen"},
    {"loop-file,loop-playlist,stream_loop", ": use --loop"},
    {"encoders,codecs,list-encoders", ": use --vcodec help or --acodec help"},
    {"formats,muxers", ": use --format help"},
    {"loglevel,msg-level", ": use -q for errors only, -v for details"},
    {"really-quiet,silent", ": use -q"},
    {"hide_banner,nostdin,nostats,vo,ao,movflags,shortest,re,rtsp_transport",
     " is not needed here"},
    {"V", ": use --version"},
    {"?,usage,list-options", ": use --help=full"},
    {"profiles,list-profiles", ": use --profile help"},
    {"list-cameras,list-sources", ": use --list-devices"},
};

/* True if the list has the name; a track number at its end is ignored. */
static int is_in_list(const char *names, const char *name, size_t n)
{
    size_t bare = n;
    while (bare > 0 && name[bare - 1] >= '0' && name[bare - 1] <= '9')
        bare--;
    if (bare < n && bare > 1 && name[bare - 1] == ':')
        n = bare - 1;
    for (size_t length; *names; names += length + (names[length] == ',')) {
        length = strcspn(names, ",");
        if (length == n && strncmp(names, name, n) == 0)
            return 1;
    }
    return 0;
}

/* Returns a replacement for another program's option, as the rest of a sentence, or NULL. */
static const char *find_habit(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
        if (is_in_list(habits[i].names, name, n))
            return habits[i].answer;
    return NULL;
}

/* Finds the option with this choice, as in --night for --profile night, or returns NULL. */
static const char *find_choice(const char *name, size_t n)
{
    static const char *const options[] = {"profile", "mode", "compare"};
    char value[32];
    Options unused = {0};
    const Refusal refusal = {value, sizeof(value), ""};
    for (size_t i = 0; n < sizeof(value) && i < sizeof(options) / sizeof(options[0]); i++) {
        snprintf(value, sizeof(value), "%.*s", (int)n, name);
        if (option_set(option_find(options[i], strlen(options[i])), &unused, value, &refusal) >= 0)
            return options[i];
    }
    return NULL;
}

static int unknown_option(const Parser *p, const char *arg)
{
    const char *name = arg + strspn(arg, "-");
    const size_t n = strcspn(name, "=");
    const char *habit = find_habit(name, n), *with = find_choice(name, n);
    const Option *near = NULL;
    if (habit)
        return refuse(&p->refusal, "%.*s%s", (int)(name + n - arg), arg, habit);
    if (with)
        return refuse(&p->refusal, "unknown option %s; did you mean --%s %.*s?", media_quote(arg),
                      with, (int)n, name);
    if (n > 1) /* other programs write -crf */
        near = option_find(name, n) ? option_find(name, n) : option_nearest(name, n);
    if (near)
        return refuse(&p->refusal,
                      "unknown option %s; did you mean --%s? lumeq --help=full lists them",
                      media_quote(arg), near->name);
    return refuse(&p->refusal, "unknown option %s; lumeq --help=full lists them", media_quote(arg));
}

/* True for a word that sets a flag and is no file. */
static int is_switch(const char *word)
{
    return (strcmp(word, "on") == 0 || strcmp(word, "off") == 0) && access(word, F_OK) < 0;
}

/* Takes the option at argv[i] and its value. Returns the number of arguments used, or -1. */
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
        option = arg[2] ? NULL : option_find_letter(arg[1]);
    }
    if (!option)
        return unknown_option(p, arg);
    if (!value && !option_may_stand_alone(option)) {
        if (i + 1 >= argc)
            return refuse(&p->refusal, "--%s needs a value: %s", option->name, option->choices);
        value = argv[i + taken++];
    }
    if (!value && option->type == OPTION_MAY_INTEGER && i + 1 < argc && *argv[i + 1] &&
        strspn(argv[i + 1], "0123456789") == strlen(argv[i + 1]))
        value = argv[i + taken++];
    if (!value && option->type == OPTION_FLAG && i + 1 < argc && is_switch(argv[i + 1]))
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
        else if (option_rules_take_name(&p->names, p->options, argv[i], &p->refusal) < 0)
            taken = -1;
        if (taken < 0)
            return -1;
        i += taken;
    }
    return 0;
}

/* Copies the options of the command line, `from`, over those that are set; lists are appended. */
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

/* Applies the settings file, then the profile of the command line, then its other options. */
static int put_over_file(Parser *p)
{
    static const char reference[] = "reference";
    Options *o = p->options;
    const Options given = *o, defaults = options_default();
    *o = defaults;
    o->color = given.color;
    o->profile = given.profile;
    if (!given.no_config && (config_read(o, given.config, p->refusal.text, p->refusal.size) < 0 ||
                             option_rules_refuse_rivals(o, o->config_path, &p->refusal) < 0))
        return -1;
    if (given.profile) {
        o->profile = given.profile;
        option_set_profile(o);
    }
    if (put_over(p, &given) < 0)
        return -1;
    const int is_haze = o->mode == LUMEQ_MODE_HAZE;
    if (given.profile && o->reference && (is_haze || o->mode == LUMEQ_MODE_STRETCH)) {
        if (option_is_given(p->given, reference))
            return refuse(&p->refusal,
                          "--reference and --profile %s contradict each other: it uses mode %s, "
                          "which has no reference",
                          profiles[given.profile - 1].name, is_haze ? "haze" : "stretch");
        option_copy(option_find(reference, strlen(reference)), o, &defaults);
    }
    option_rules_let_command_line_win(o, p->given);
    memcpy(o->given, p->given, sizeof(o->given));
    return 0;
}

/* An OUTPUT that is an existing folder needs no slash, as with cp. */
static int find_folder(Parser *p)
{
    Options *o = p->options;
    struct stat there;
    if (!o->input || !o->output || options_many(o) || stat(o->output, &there) < 0 ||
        !S_ISDIR(there.st_mode))
        return 0;
    o->output = p->output_folder = text_print("%s/", o->output);
    return o->output ? 0 : refuse(&p->refusal, "out of memory");
}

static int parse(Parser *p, int argc, char **argv)
{
    Options *options = p->options;
    if (take_arguments(p, argc, argv) < 0 || find_folder(p) < 0)
        return -1;
    if (options_ask(options))
        return options->help ? 0 : option_rules_check_question(options, &p->refusal);
    if (option_rules_check_names(&p->names, options, &p->refusal) < 0 ||
        option_rules_refuse_rivals(options, NULL, &p->refusal) < 0 || put_over_file(p) < 0)
        return -1;
    if (options->sub_track == TRACK_NONE) {
        options->sub_track = -1;
        options->no_subs = 1;
    }
    /* A comparison that the settings file asks for is for the window only. */
    if (options_headless(options) && !option_is_given(p->given, "compare"))
        options->compare = 0;
    options->inputs = p->names.all;
    options->input_count = p->names.count;
    return option_rules_check(options, p->given, &p->names, p->is_plan, &p->refusal);
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
    options->output_folder = p.output_folder;
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
