/* options_parse(): reads the command line and the settings file, and refuses options that
 * contradict each other or do not suit the run. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "app/options/config.h"
#include "app/options/option_table.h"
#include "app/options/option_value.h"
#include "app/stats.h"
#include "media/error.h"
#include "media/input/network.h"
#include "media/input/url.h"
#include "media/picture_pattern.h"
#include "media/text_list.h"
#include "report/report_file.h"

/* Words of the command line that are not options; {0} is empty. */
typedef struct OptionNames {
    const char **all; /* becomes Options.inputs; has room for argc names and a NULL */
    int count;
} OptionNames;

/*
 * In this file, given[i] is 1 if option_table[i] is on the command line. Options without effect on
 * the run are refused only on the command line, because a settings file may be for other runs.
 * Unless noted, functions that return int return 0, or -1 with one sentence in `refusal`.
 */

#define V4L2_MAJOR 81       /* device number of Video4Linux */
#define MAX_DEVICE_DIGITS 4 /* of a GPU's number */

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

/* ---- names ---- */

static bool exists(const char *name)
{
    return strcmp(name, "-") != 0 && access(name, F_OK) == 0;
}

/* Refuses several names if the run takes only one INPUT. Call it after all options are parsed. */
static int check_names(const OptionNames *names, const Options *o, const Refusal *refusal)
{
    if (names->count < 2)
        return 0;
    const char *last = names->all[names->count - 1];
    for (int i = 0; i < names->count; i++) {
        const char *name = names->all[i];
        if (name[0] != '-' || !name[1] || exists(name))
            continue;
        if (name[1] == '-' ? option_find(name + 2, strcspn(name + 2, "=")) != NULL
                           : !name[2] && option_find_letter(name[1]))
            return refuse(refusal, "%s after -- is a file name: give options first",
                          media_quote(name));
    }
    /* A window plays several files, but a last one that does not exist may be meant as OUTPUT. */
    const int is_input = exists(last) || options_opens_url(o, last);
    if (options_many(o) || (!o->output && !o->null_output && !o->camera && is_input))
        return 0;
    const char *hint = o->null_output ? "" : "; name the OUTPUT with -o";
    return refuse(refusal, "%d names, %s to %s, but lumeq takes one INPUT at a time%s",
                  names->count, media_quote(o->input), media_quote(last),
                  o->output ? "; write many into a folder with -o DIR/" : hint);
}

/* ---- values that contradict each other ---- */

typedef struct Rivals {
    const char *a, *b; /* names in the table */
    int both;          /* both are set, and contradict each other */
} Rivals;

#define MAX_RIVALS 14

static int list_rivals(const Options *o, Rivals *list)
{
    const int reference = o->reference, mode = o->mode;
    const int is_textbook = mode == LUMEQ_MODE_GLOBAL || mode == LUMEQ_MODE_CLAHE;
    const Rivals all[] = {
        {"output", "null", o->output && o->null_output},
        {"reference", "mode", reference && !is_textbook},
        {"reference", "meter", reference && o->meter.width},
        {"reference", "brightness", reference && o->brightness != 0},
        {"reference", "gamma", reference && o->gamma != 1},
        {"reference", "limit", reference && o->limit != LUMEQ_LIMIT_NONE},
        {"reference", "deflicker", reference && o->deflicker > 0},
        {"reference", "denoise", reference && o->denoise > 0},
        {"deflicker", "lookahead", o->deflicker > 0 && o->lookahead == 0},
        {"crf", "bitrate", o->crf >= 0 && o->bitrate >= 0},
        {"no-subs", "sub-track", o->no_subs && o->sub_track >= 0},
        {"acodec", "audio-track",
         o->audio_track >= 0 && o->acodec && strcmp(o->acodec, "none") == 0},
        {"quiet", "verbose", o->quiet && o->verbose},
        {"config", "no-config", o->config && o->no_config},
    };
    _Static_assert(sizeof(all) / sizeof(all[0]) <= MAX_RIVALS, "MAX_RIVALS");
    memcpy(list, all, sizeof(all));
    return COUNT(all);
}

/* Refuses pairs of values that contradict each other. `file`: the settings file with the values,
 * or NULL for the command line. */
static int refuse_rivals(const Options *options, const char *file, const Refusal *refusal)
{
    Rivals rivals[MAX_RIVALS];
    const int count = list_rivals(options, rivals);
    for (int i = 0; i < count; i++)
        if (rivals[i].both)
            return refuse(refusal, "%s%s--%s and --%s contradict each other",
                          file ? media_quote(file) : "", file ? ": " : "", rivals[i].a,
                          rivals[i].b);
    return 0;
}

/* ---- options that do not suit the run ---- */

#define IN_PARTS "has no effect on a film in parts (--jobs, --resume, lumeq plan)"

/* Advances *list to the first name that is on the command line. Returns its length, or 0. Blanks
 * separate the names. */
static int find_given(const char **list, const unsigned char *given)
{
    char name[32];
    for (int n; **list; *list += n + ((*list)[n] == ' ')) {
        n = (int)strcspn(*list, " ");
        snprintf(name, sizeof(name), "%.*s", n, *list);
        if (option_is_given(given, name))
            return n;
    }
    return 0;
}

/* Refuses options on the command line that need another option, or have no effect. */
static int check_given(const Options *o, const unsigned char *given, int is_plan,
                       const Refusal *refusal)
{
    const int camera = o->camera != NULL, raw = camera && o->record_raw;
    const int headless = options_headless(o), many = options_many(o), sample = o->sample != 0;
    const int is_run = !is_plan && (o->jobs != 0 || o->resume),
              parts = (is_plan || is_run) && !many;
    const int writes = o->output && !o->null_output;
    const int limited = headless && !camera && !o->virtual_camera;
    const int hears = camera && o->microphone && strcmp(o->microphone, "off") != 0;
    int no_url = o->network && !o->no_network && !options_is_url(o);
    for (int i = 0; i < o->input_count; i++)
        no_url &= !options_opens_url(o, o->inputs[i]);
    const struct {
        int refused;
        const char *options, *text; /* the text follows an option's name */
    } rules[] = {
        {1, "json", "needs --doctor"},
        {o->network && o->no_network, "network", "and --no-network contradict each other"},
        {o->reconnect > 0 && o->no_reconnect, "reconnect",
         "and --no-reconnect contradict each other"},
        {o->parts, "part-seconds", "and --parts contradict each other"},
        {no_url, "network-timeout password-file", "needs a URL: INPUT is not one"},
        {no_url && !camera, "reconnect no-reconnect", "needs a URL: INPUT is not one"},
        {headless && !o->virtual_camera, "mirror",
         "is for the window and the virtual camera: written video is never mirrored"},
        {headless, "idle", "is for the window, which -o and --null do not open"},
        {headless, "sub-file", "is for the window: OUTPUT gets the subtitle tracks of INPUT alone"},
        {!camera, "video-size framerate input-format record-raw microphone", "needs --camera"},
        {sample, "camera sequence low-latency stats report segment-time virtual-camera jobs resume",
         "has no effect with --sample"},
        {camera,
         "ss to loop loop-all shuffle keep-open speed sequence video-track audio-track sub-track "
         "allow-playlists",
         "has no effect with --camera"},
        {hears && o->output && o->low_latency, "microphone",
         "and --low-latency contradict each other: the timing of sound is only known a second "
         "later"},
        {raw && headless, "stats report virtual-camera compare",
         "has no effect with --record-raw and without a window"},
        {raw, "null vcodec crf preset bitrate pix-fmt vopt overlay",
         "has no effect with --record-raw"},
        {many,
         "sequence stats report virtual-camera segment-time sample parts part-seconds no-measure",
         "is for one video, not for a folder of outputs"},
        {!options_is_pictures(o, o->input), "sequence-rate",
         "needs an INPUT of pictures: a folder or, with --sequence, a name like frame%04d.png"},
        {!many && (headless || camera), "recursive",
         "includes subfolders: writing them needs a folder, as in -o DIR/"},
        {o->segment_time <= 0, "keep", "needs --segment-time"},
        {!writes, "segment-time", "needs -o FILE"},
        {is_plan, "sample", "has no effect with lumeq plan"},
        {!o->output, "sample", "needs -o FILE"},
        {parts, "camera reconnect virtual-camera low-latency segment-time report", IN_PARTS},
        {parts && !writes, "jobs resume", "needs -o FILE"},
        {parts && o->lookahead == 0, "lookahead", "off " IN_PARTS},
        {is_plan, "jobs", "has no effect here: each `lumeq segment PLAN K` writes one part"},
        {is_plan, "devices", "is for --jobs: give --device to each `lumeq segment PLAN K`"},
        {is_plan, "resume", "is not needed: each step keeps finished parts"},
        {is_run, "no-measure", "is for `lumeq plan`: --jobs and --resume measure by themselves"},
        {!is_plan && !is_run, "parts part-seconds no-measure devices",
         "needs --jobs or `lumeq plan`"},
        {!headless, "report",
         "needs a run without a window: -o FILE or --null, with --camera also --frames N"},
        {o->from_us >= 0 && o->to_us <= o->from_us, "to",
         "must be after --ss: both are positions in the input"},
        {o->to_us == 0, "to", "must be after the start"},
        {o->sandbox == OPTIONS_ON && !limited, "sandbox",
         "on is for files and URLs without a window, with -o FILE or --null: windows and cameras "
         "need more rights"},
    };
    for (int i = 0; i < COUNT(rules); i++) {
        const char *name = rules[i].options;
        const int n = rules[i].refused ? find_given(&name, given) : 0;
        if (n)
            return refuse(refusal, "--%.*s %s", n, name, rules[i].text);
    }
    for (int i = 0; parts && i < option_count; i++)
        if (given[i] && (option_table[i].flags & OPTION_WINDOW))
            return refuse(refusal, "--%s " IN_PARTS, option_table[i].name);
    return 0;
}

/* ---- INPUT ---- */

/* Refuses cameras given as files, and --low-latency for a file unless the output is a pipe. */
static int check_file(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    struct stat file;
    if (options_stat(o->input, STDIN_FILENO, &file) < 0)
        return 0;
    if (S_ISCHR(file.st_mode) && major(file.st_rdev) == V4L2_MAJOR)
        return refuse(refusal, "%s is a camera, not a file: open it with --camera=%s",
                      media_quote_input(o->input), o->input);
    if (option_is_given(given, "low-latency") && S_ISREG(file.st_mode) &&
        !options_is_piped(o->output))
        return refuse(refusal,
                      "--low-latency needs live input, a pipe or a camera, or output into a pipe: "
                      "%s is a file",
                      media_quote_input(o->input));
    return 0;
}

static int check_url(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    char known[256];
    struct stat file;
    if (options_is_url(o) || !url_scheme_length(o->input) || stat(o->input, &file) == 0)
        return 0;
    if (network_scheme(o->input)) {
        const char *by = option_is_given(given, "network") ? "--network=no"
                                                           : "network = off in the settings file";
        return refuse(refusal, "%s is a URL, and %s forbids it", media_quote(o->input),
                      o->no_network ? "--no-network" : by);
    }
    network_list_schemes(known, sizeof(known));
    return refuse(refusal, "%s is neither a file nor a URL that lumeq opens, such as %s",
                  media_quote(o->input), known);
}

static int check_input(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    if (o->camera && o->input)
        return refuse(refusal,
                      "--camera and %s%s contradict each other; name a device with =, as in "
                      "--camera=/dev/video0, and an OUTPUT with -o",
                      strcmp(o->input, "-") == 0 ? "" : "the input ", media_quote_input(o->input));
    if (o->input && (check_url(o, given, refusal) < 0 || check_file(o, given, refusal) < 0))
        return -1;
    const int writes = o->output && picture_pattern_is(o->output);
    if (!o->camera && o->sequence && !options_is_pictures(o, o->input) && !writes)
        return refuse(refusal, "--sequence needs a name with a place for a number, such as "
                               "frame%%04d.png: neither INPUT nor OUTPUT has one");
    return 0;
}

/* Checks each INPUT as if it were alone. If OUTPUT is a folder, each needs a file name. */
static int check_inputs(const Options *options, const unsigned char *given,
                        const OptionNames *names, const Refusal *refusal)
{
    Options one = *options;
    const int many = options_many(&one);
    if (check_input(&one, given, refusal) < 0)
        return -1;
    for (int i = 0; (many || (!options_headless(&one) && names->count > 1)) && i < names->count;
         i++) {
        one.input = names->all[i];
        const int is_pipe = strcmp(one.input, "-") == 0;
        if (many && (is_pipe || options_is_url(&one)))
            return refuse(refusal, "%s has no file name to use in the folder %s",
                          media_quote_input(one.input), media_quote(one.output));
        if (is_pipe)
            return refuse(refusal, "%s is not a file; several INPUTs must be files or URLs",
                          media_quote_input(one.input));
        if (check_input(&one, given, refusal) < 0)
            return -1;
    }
    return 0;
}

/* ---- a film in parts; --sample; --lookahead; --stats and --report ---- */

/* Refuses inputs that cannot be opened several times and read from any place. Refuses devices only
 * for --sample, because the steps of a job refuse devices themselves. */
static int check_film(const Options *o, const char *option, const Refusal *refusal)
{
    struct stat file;
    const int is_device = o->sample && stat(o->input, &file) == 0 && !S_ISREG(file.st_mode);
    if (strcmp(o->input, "-") != 0 && !options_is_url(o) && !o->sequence &&
        !options_is_pictures(o, o->input) && !is_device)
        return 0;
    return refuse(refusal,
                  "%s needs a film in one file, not pictures, a pipe or a URL: %s is not a file",
                  option, media_quote_input(o->input));
}

static int check_parts(const Options *o, int is_plan, const Refusal *refusal)
{
    const char *option = is_plan ? "lumeq plan" : "--resume";
    if (options_many(o) && is_plan)
        return refuse(refusal, "lumeq plan is for one film: -o %s is a folder of outputs",
                      media_quote(o->output));
    if (options_many(o) || !(is_plan || o->jobs != 0 || o->resume))
        return 0;
    if (o->hwdec == OPTIONS_HWDEC_NVDEC)
        return refuse(refusal, "--hwdec nvdec " IN_PARTS ", whose parts are decoded in software");
    return check_film(o, !is_plan && o->jobs != 0 ? "--jobs" : option, refusal);
}

static int check_sample(const Options *o, const Refusal *refusal)
{
    if (options_is_piped(o->output))
        return refuse(refusal, "--sample needs a file to write, not %s",
                      strcmp(o->output, "-") == 0 ? "standard output" : media_quote(o->output));
    return check_film(o, "--sample", refusal);
}

static int check_lookahead(Options *o, const unsigned char *given, const Refusal *refusal)
{
    o->lookahead_for = NULL;
    if (option_is_given(given, "lookahead") && o->lookahead > 0)
        o->lookahead_for = "--lookahead";
    if (option_is_given(given, "deflicker") && o->deflicker > 0)
        o->lookahead_for = "--deflicker";
    if (!o->lookahead_for || options_headless(o))
        return 0;
    return refuse(refusal,
                  "%s is for written video: the window shows each frame at once; add -o FILE",
                  o->lookahead_for);
}

/* Checks a complete set of options. `is_plan`: for `lumeq plan`. Sets options->lookahead_for. */
static int check_options(Options *o, const unsigned char *given, const OptionNames *names,
                         int is_plan, const Refusal *refusal)
{
    const char *devices = o->devices && strcmp(o->devices, "all") != 0 ? o->devices : NULL;
    size_t n = 0;
    while (devices && (n = strspn(devices, "0123456789")) >= 1 && n <= MAX_DEVICE_DIGITS &&
           devices[n] == ',')
        devices += n + 1; /* numbers separated by single commas */
    if (devices && (n < 1 || n > MAX_DEVICE_DIGITS || devices[n]))
        return refuse(refusal, "--devices %s: must be all, or numbers of GPUs such as 0,1",
                      media_quote(o->devices));
    if (check_given(o, given, is_plan, refusal) < 0 || check_inputs(o, given, names, refusal) < 0)
        return -1;
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    const int has_desktop = (x11 && *x11) || (wayland && *wayland);
    const int waits =
        !is_plan && !options_headless(o) && !o->output && !o->sample && (o->idle || has_desktop);
    if (!o->input && !o->camera && !waits)
        return refuse(refusal, "no INPUT given; see lumeq --help");
    if (check_lookahead(o, given, refusal) < 0 || (o->sample && check_sample(o, refusal) < 0) ||
        check_parts(o, is_plan, refusal) < 0)
        return -1;
    if (o->stats && !stats_known_name(o->stats))
        return refuse(refusal, "--stats %s: its name must end in .csv or .jsonl",
                      media_quote(o->stats));
    if (o->report && !report_known_name(o->report))
        return refuse(refusal, "--report %s: its name must end in .html or .json",
                      media_quote(o->report));
    return 0;
}

/* Checks options that print information instead of starting a run, such as --doctor. */
static int check_query(const Options *o, const Refusal *refusal)
{
    if (o->json && !o->doctor)
        return refuse(refusal, "--json needs --doctor");
    if (o->doctor && o->input)
        return refuse(refusal,
                      "--doctor examines this machine, not %s; use -v to see details of a video",
                      media_quote_input(o->input));
    if (o->camera && (o->list_devices || o->list_formats))
        return refuse(refusal,
                      "--camera and --list-%s contradict each other; name a camera with =, as in "
                      "--list-formats=/dev/video0",
                      o->list_devices ? "devices" : "formats");
    return 0;
}

typedef struct Parser {
    Options *options;
    Refusal refusal;
    OptionNames names;
    unsigned char given[OPTION_MAX]; /* on the command line */
    int is_plan;                     /* for `lumeq plan` */
    char *output_folder;             /* see Options */
} Parser;

/* Frequent options of ffmpeg and mpv, separated by commas, and what to use in lumeq. Names like
 * -pix_fmt need no row, since they are similar to the option of lumeq. */
static const char *const habits[][2] = {
    {",i,in,input,", " is not needed: give INPUT alone, as in lumeq in.mp4 -o out.mp4"},
    {",t,duration,length,", ": use --to TIME, a position in the input, or --frames N"},
    {",f,of,", ": use --format NAME for OUTPUT; the format of INPUT is detected"},
    {",c,c:v,codec:v,c:a,codec:a,ovc,oac,an,",
     ": use --vcodec NAME for the picture and --acodec copy|NAME|none for the sound"},
    {",sn,", ": use --no-subs"},
    {",b,b:v,", ": use --bitrate N, such as 2000k"},
    {",q:v,qp,cq,tune,profile:v,g,bf,maxrate,bufsize,x264-params,x265-params,ovcopts,",
     ": use --crf X, or --vopt KEY=VALUE for any option of the video encoder"},
    {",vf,filter_complex,lavfi,", ": there are no filters; use --mode, --strength and --clip"},
    {",r,fps,s,n,hide_banner,nostdin,vo,ao,movflags,re,", " is not needed here"},
    {",map,", ": all tracks are kept; use --video-track N, --audio-track N, --sub-track N|none"},
    {",force,", ": use -y to replace an OUTPUT that exists"},
    {",hwaccel,gpu,cuda,cpu,", ": use --backend auto|cpu|cuda"},
    {",fs,", ": use --fullscreen"},
    {",?,usage,list-options,", ": use --help=full"},
};

static int unknown_option(const Parser *p, const char *arg)
{
    const char *name = arg + strspn(arg, "-");
    const size_t n = strcspn(name, "=");
    const Option *near = NULL;
    char listed[64];
    snprintf(listed, sizeof(listed), ",%.*s,", (int)n, name);
    for (int i = 0; n > 0 && i < COUNT(habits); i++)
        if (strstr(habits[i][0], listed))
            return refuse(&p->refusal, "%.*s%s", (int)(name + n - arg), arg, habits[i][1]);
    if (n > 1) /* also names with one dash, such as -crf */
        near = option_nearest(name, n);
    if (near)
        return refuse(&p->refusal,
                      "unknown option %s; did you mean --%s? lumeq --help=full lists them",
                      media_quote(arg), near->name);
    return refuse(&p->refusal, "unknown option %s; lumeq --help=full lists them", media_quote(arg));
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
    if (!value && option->type == OPTION_FLAG && i + 1 < argc && access(argv[i + 1], F_OK) < 0 &&
        (strcmp(argv[i + 1], "on") == 0 || strcmp(argv[i + 1], "off") == 0))
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
        else if (!*argv[i])
            taken = refuse(&p->refusal, "INPUT is an empty name");
        else
            p->names.all[p->names.count++] = argv[i];
        if (taken < 0)
            return -1;
        i += taken;
    }
    p->options->input = p->names.all[0]; /* NULL without names */
    return 0;
}

/* Copies the options that are on the command line from `from`; appends the values of lists. */
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
                             refuse_rivals(o, o->config_path, &p->refusal) < 0))
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
                          "--reference and --profile %s contradict each other: the profile uses "
                          "mode %s, which has no reference",
                          profiles[given.profile - 1].name, is_haze ? "haze" : "stretch");
        option_copy(option_find(reference, strlen(reference)), o, &defaults);
    }
    /* If two values contradict each other, resets the one that is not on the command line. */
    Rivals rivals[MAX_RIVALS];
    const int count = list_rivals(o, rivals);
    for (const Rivals *r = rivals; r < rivals + count; r++) {
        const bool a = option_is_given(p->given, r->a), b = option_is_given(p->given, r->b);
        const char *loser = a ? r->b : r->a;
        if (r->both && a != b)
            option_copy(option_find(loser, strlen(loser)), o, &defaults);
    }
    memcpy(o->given, p->given, sizeof(o->given));
    return 0;
}

static int parse(Parser *p, int argc, char **argv)
{
    Options *options = p->options;
    struct stat there;
    if (take_arguments(p, argc, argv) < 0)
        return -1;
    if (options->input && options->output && !options_many(options) &&
        stat(options->output, &there) == 0 && S_ISDIR(there.st_mode)) { /* as if it ended in / */
        options->output = p->output_folder = text_print("%s/", options->output);
        if (!options->output)
            return refuse(&p->refusal, "out of memory");
    }
    if (options_is_query(options))
        return options->help ? 0 : check_query(options, &p->refusal);
    if (check_names(&p->names, options, &p->refusal) < 0 ||
        refuse_rivals(options, NULL, &p->refusal) < 0 || put_over_file(p) < 0)
        return -1;
    if (options->sub_track == TRACK_NONE) {
        options->sub_track = -1;
        options->no_subs = 1;
    }
    /* compare in the settings file applies to the window only. */
    if (options_headless(options) && !option_is_given(p->given, "compare"))
        options->compare = 0;
    options->inputs = p->names.all;
    options->input_count = p->names.count;
    return check_options(options, p->given, &p->names, p->is_plan, &p->refusal);
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
