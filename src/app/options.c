#include "app/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "app/progress.h"
#include "app/stats.h"
#include "media/error.h"
#include "media/reader.h"

typedef enum OptionType {
    TYPE_FLAG,    /* int, set to 1 */
    TYPE_CHOICE,  /* int, the index in choices */
    TYPE_NUMBER,  /* double within min..max */
    TYPE_INTEGER, /* int64_t within min..max */
    TYPE_RATE,    /* int64_t, with K or M */
    TYPE_TIME,    /* int64_t microseconds */
    TYPE_TEXT,    /* const char * */
    TYPE_LIST,    /* const char *[], key=value each time it is given */
} OptionType;

typedef struct Option {
    const char *name;
    char letter;
    OptionType type;
    size_t offset;
    double min, max;
    const char *choices; /* separated by |; what help shows as the argument */
    const char *help;
} Option;

#define FIELD(name) offsetof(Options, name)
#define HEADING(text)                                                                              \
    {                                                                                              \
        NULL, 0, TYPE_FLAG, 0, 0, 0, NULL, text                                                    \
    }

static const Option options_table[] = {
    HEADING("Output"),
    {"output", 'o', TYPE_TEXT, FIELD(output), 0, 0, "OUTPUT",
     "write the processed video to this file; - is standard output (y4m)"},
    {"null", 0, TYPE_FLAG, FIELD(null_output), 0, 0, NULL, "process and throw away, for timing"},
    {"overwrite", 'y', TYPE_FLAG, FIELD(overwrite), 0, 0, NULL, "replace an OUTPUT that exists"},
    {"stats", 0, TYPE_TEXT, FIELD(stats), 0, 0, "FILE.csv|FILE.jsonl",
     "write one row of figures per frame; jsonl has the histograms too"},

    HEADING("What is done to luma"),
    {"mode", 0, TYPE_CHOICE, FIELD(mode), 0, 0, "global|off", "global"},
    {"reference", 0, TYPE_FLAG, FIELD(reference), 0, 0, NULL,
     "textbook arithmetic, bit-exact with OpenCV's equalizeHist"},
    {"strength", 0, TYPE_NUMBER, FIELD(strength), 0, 1, "X",
     "0 untouched .. 1 fully equalized; 0.8"},
    {"clip", 0, TYPE_NUMBER, FIELD(clip), 0, LUMEQ_MAX_CLIP, "X",
     "contrast limit in multiples of the mean bin, from 1; 0 = none; 3"},
    {"smooth", 0, TYPE_NUMBER, FIELD(smooth), 0, LUMEQ_MAX_SMOOTH, "SECONDS",
     "time constant of the curve; 0 = each frame on its own; 0.5"},
    {"scene-cut", 0, TYPE_CHOICE, FIELD(scene_cut), 0, 0, "off|on",
     "let a cut take the new curve at once; on"},
    {"range", 0, TYPE_CHOICE, FIELD(range), 0, 0, "auto|limited|full",
     "override the stream's luma range; auto"},
    {"chroma", 0, TYPE_CHOICE, FIELD(chroma), 0, 0, "keep", "chroma passes unchanged"},
    {"dither", 0, TYPE_CHOICE, FIELD(dither), 0, 0, "off", "output is rounded"},
    {"bars", 0, TYPE_CHOICE, FIELD(bars), 0, 0, "ignore", "black bars count like the picture"},

    HEADING("Part of the input"),
    {"ss", 0, TYPE_TIME, FIELD(from_us), 0, 0, "TIME",
     "start here ([[HH:]MM:]SS[.m], or 90s, 1500ms)"},
    {"to", 0, TYPE_TIME, FIELD(to_us), 0, 0, "TIME", "end here (a position in the input)"},
    {"frames", 0, TYPE_INTEGER, FIELD(frames), 1, 1e12, "N", "at most so many frames"},
    {"max-pixels", 0, TYPE_INTEGER, FIELD(max_pixels), 1, 2147483647, "N",
     "refuse larger frames; 67108864 (8192x8192)"},

    HEADING("Where it runs"),
    {"backend", 0, TYPE_CHOICE, FIELD(backend), 0, 0, "auto|cpu|cuda", "auto"},
    {"device", 0, TYPE_INTEGER, FIELD(device), 0, 255, "N", "number of the GPU; 0"},
    {"list-gpus", 0, TYPE_FLAG, FIELD(list_gpus), 0, 0, NULL, "show the GPUs there are"},
    {"threads", 0, TYPE_INTEGER, FIELD(threads), 0, 256, "N", "CPU threads; 0 = all cores"},

    HEADING("Container and encoder"),
    {"format", 0, TYPE_TEXT, FIELD(format), 0, 0, "NAME", "container; by OUTPUT's name"},
    {"vcodec", 0, TYPE_TEXT, FIELD(vcodec), 0, 0, "NAME",
     "video encoder; the container's usual one (mp4, mkv: libx264)"},
    {"crf", 0, TYPE_NUMBER, FIELD(crf), 0, 255, "X",
     "constant quality, lower is better; libx264: 18"},
    {"preset", 0, TYPE_TEXT, FIELD(preset), 0, 0, "NAME", "speed of the encoder"},
    {"bitrate", 0, TYPE_RATE, FIELD(bitrate), 1, 1e12, "N[K|M]", "bits a second"},
    {"pix-fmt", 0, TYPE_TEXT, FIELD(pixel_format), 0, 0, "NAME", "pixel format; the source's"},
    {"vopt", 0, TYPE_LIST, FIELD(encoder_options), 0, 0, "KEY=VALUE",
     "any option of the encoder; may be given several times"},
    {"acodec", 0, TYPE_CHOICE, FIELD(acodec), 0, 0, "copy|none", "sound; copy"},

    HEADING("Messages"),
    {"progress", 0, TYPE_CHOICE, FIELD(progress), 0, 0, "auto|bar|json|none",
     "auto: a bar on a terminal; json: one object a line"},
    {"quiet", 'q', TYPE_FLAG, FIELD(quiet), 0, 0, NULL, "errors only"},
    {"verbose", 'v', TYPE_FLAG, FIELD(verbose), 0, 0, NULL, "details, FFmpeg's messages too"},
    {"help", 'h', TYPE_FLAG, FIELD(help), 0, 0, NULL, "this text"},
    {"version", 0, TYPE_FLAG, FIELD(version), 0, 0, NULL,
     "versions of the program and its libraries"},
};

#define OPTION_COUNT ((int)(sizeof(options_table) / sizeof(options_table[0])))

enum { MODE_GLOBAL, MODE_OFF };

typedef struct Parser {
    Options *options;
    char *text;
    size_t text_size;
} Parser;

static int refuse(const Parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(const Parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->text, p->text_size, format, args);
    va_end(args);
    return -1;
}

static int read_number(const char *text, double *value)
{
    char *end;
    if (*text == '\0' || strpbrk(text, " xXnN")) /* no spaces, hexadecimal, nan, inf */
        return -1;
    *value = strtod(text, &end);
    return *end == '\0' ? 0 : -1;
}

/* [[HH:]MM:]SS[.m], or a number with the unit s, ms or us. */
static int read_time(const char *text, int64_t *us)
{
    double parts[3], total = 0, unit = 1;
    char copy[64];
    int count = 0;
    if (strlen(text) >= sizeof(copy))
        return -1;
    strcpy(copy, text);
    const size_t n = strlen(copy);
    if (n > 2 && (strcmp(copy + n - 2, "ms") == 0 || strcmp(copy + n - 2, "us") == 0)) {
        unit = copy[n - 2] == 'm' ? 1e-3 : 1e-6;
        copy[n - 2] = '\0';
    } else if (n > 1 && copy[n - 1] == 's') {
        copy[n - 1] = '\0';
    }
    for (char *part = copy, *next; part; part = next) {
        next = strchr(part, ':');
        if (next)
            *next++ = '\0';
        if (count == 3 || read_number(part, &parts[count]) < 0 || parts[count] < 0)
            return -1;
        if (count && parts[count] >= 60)
            return -1;
        total = total * 60 + parts[count++];
    }
    total *= unit;
    if (!(total < 1e10))
        return -1;
    *us = llrint(total * 1e6);
    return 0;
}

static int set_choice(const Parser *p, const Option *option, const char *value, int *field)
{
    const char *choice = option->choices;
    for (int i = 0;; i++) {
        const size_t n = strcspn(choice, "|");
        if (strlen(value) == n && strncmp(choice, value, n) == 0) {
            *field = i;
            return 0;
        }
        if (choice[n] == '\0')
            return refuse(p, "--%s %s: it is one of %s", option->name, media_quote(value),
                          option->choices);
        choice += n + 1;
    }
}

static int set_number(const Parser *p, const Option *option, const char *value, void *field)
{
    double number;
    if (read_number(value, &number) < 0 || number < option->min || number > option->max)
        return refuse(p, "--%s %s: it is a number from %.15g to %.15g", option->name,
                      media_quote(value), option->min, option->max);
    if (option->type == TYPE_NUMBER) {
        *(double *)field = number;
        return 0;
    }
    if (number != floor(number))
        return refuse(p, "--%s %s: it is a whole number", option->name, media_quote(value));
    *(int64_t *)field = (int64_t)number;
    return 0;
}

static int set_rate(const Parser *p, const Option *option, const char *value, int64_t *field)
{
    char copy[32];
    double number, unit = 1;
    const size_t n = strlen(value);
    if (n == 0 || n >= sizeof(copy))
        return refuse(p, "--%s %s: it is bits a second, such as 800K or 4M", option->name,
                      media_quote(value));
    strcpy(copy, value);
    if (strchr("kK", copy[n - 1]))
        unit = 1e3;
    else if (strchr("mM", copy[n - 1]))
        unit = 1e6;
    if (unit > 1)
        copy[n - 1] = '\0';
    if (read_number(copy, &number) < 0 || !(number * unit >= option->min) ||
        number * unit > option->max)
        return refuse(p, "--%s %s: it is bits a second, such as 800K or 4M", option->name,
                      media_quote(value));
    *field = llrint(number * unit);
    return 0;
}

static int set_list(const Parser *p, const Option *option, const char *value, const char **field)
{
    int count = 0;
    while (field[count])
        count++;
    if (!strchr(value, '=') || value[0] == '=')
        return refuse(p, "--%s %s: it is KEY=VALUE", option->name, media_quote(value));
    if (count == MAX_ENCODER_OPTIONS)
        return refuse(p, "--%s: at most %d are taken", option->name, MAX_ENCODER_OPTIONS);
    field[count] = value;
    return 0;
}

static int set_value(const Parser *p, const Option *option, const char *value)
{
    void *field = (char *)p->options + option->offset;
    switch (option->type) {
    case TYPE_FLAG: *(int *)field = 1; return 0;
    case TYPE_CHOICE: return set_choice(p, option, value, field);
    case TYPE_NUMBER:
    case TYPE_INTEGER: return set_number(p, option, value, field);
    case TYPE_RATE: return set_rate(p, option, value, field);
    case TYPE_TIME:
        if (read_time(value, field) < 0)
            return refuse(p, "--%s %s: it is a time such as 90, 1:30, 1:02:03.5 or 1500ms",
                          option->name, media_quote(value));
        return 0;
    case TYPE_TEXT:
        if (!*value)
            return refuse(p, "--%s needs a value", option->name);
        *(const char **)field = value;
        return 0;
    case TYPE_LIST: return set_list(p, option, value, field);
    }
    return -1;
}

static const Option *find_long(const char *name, size_t n)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options_table[i].name && strlen(options_table[i].name) == n &&
            strncmp(options_table[i].name, name, n) == 0)
            return &options_table[i];
    return NULL;
}

static const Option *find_letter(char letter)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options_table[i].letter == letter)
            return &options_table[i];
    return NULL;
}

/* One option and its value at argv[i]; answers how many arguments it took, or -1. */
static int take_option(const Parser *p, int argc, char **argv, int i)
{
    const char *arg = argv[i], *value = NULL;
    const Option *option;
    if (arg[1] == '-') {
        const size_t n = strcspn(arg + 2, "=");
        option = find_long(arg + 2, n);
        value = arg[2 + n] ? arg + 2 + n + 1 : NULL;
    } else {
        option = arg[2] ? NULL : find_letter(arg[1]);
    }
    if (!option)
        return refuse(p, "unknown option %s; lumeq --help lists them", media_quote(arg));
    if (option->type == TYPE_FLAG && value)
        return refuse(p, "--%s takes no value", option->name);
    if (option->type == TYPE_FLAG || value)
        return set_value(p, option, value) < 0 ? -1 : 1;
    if (i + 1 >= argc)
        return refuse(p, "--%s needs a value: %s", option->name, option->choices);
    return set_value(p, option, argv[i + 1]) < 0 ? -1 : 2;
}

static int take_input(const Parser *p, const char *arg)
{
    if (!*arg)
        return refuse(p, "INPUT is empty; a file name is needed");
    if (p->options->input)
        return refuse(p, "two inputs, %s and %s: one at a time", media_quote(p->options->input),
                      media_quote(arg));
    p->options->input = arg;
    return 0;
}

static int check(const Parser *p)
{
    const Options *o = p->options;
    if (o->help || o->version || o->list_gpus)
        return 0;
    if (!o->input)
        return refuse(p, "no INPUT given; lumeq --help shows how it is called");
    if (o->output && o->null_output)
        return refuse(p, "-o and --null contradict each other");
    if (!o->output && !o->null_output)
        return refuse(p, "this version has no window yet: name an OUTPUT with -o, or --null");
    if (o->clip > 0 && o->clip < 1)
        return refuse(p, "--clip %g: it is 0 or a number from 1 to %g", o->clip, LUMEQ_MAX_CLIP);
    if (o->reference && o->mode == MODE_OFF)
        return refuse(p, "--reference and --mode off contradict each other");
    if (o->crf >= 0 && o->bitrate >= 0)
        return refuse(p, "--crf and --bitrate contradict each other");
    if (o->from_us >= 0 && o->to_us >= 0 && o->to_us <= o->from_us)
        return refuse(p, "--to must be after --ss: both are positions in the input");
    if (o->to_us == 0)
        return refuse(p, "--to 0 leaves nothing; it must be after the start");
    if (o->quiet && o->verbose)
        return refuse(p, "-q and -v contradict each other");
    if (o->stats && !stats_known_name(o->stats))
        return refuse(p, "--stats %s: its name ends in .csv or .jsonl", media_quote(o->stats));
    return 0;
}

int options_parse(Options *options, int argc, char **argv, char *text, size_t text_size)
{
    const LumeqParams params = LUMEQ_PARAMS_DEFAULT;
    const Parser p = {options, text, text_size};
    *options = (Options){
        .mode = MODE_GLOBAL,
        .scene_cut = params.scene_cut,
        .strength = params.strength,
        .clip = params.clip,
        .smooth = params.smooth,
        .from_us = -1,
        .to_us = -1,
        .frames = -1,
        .max_pixels = INT64_C(8192) * 8192,
        .crf = -1,
        .bitrate = -1,
    };
    int only_names = 0;
    for (int i = 1; i < argc;) {
        int taken = 1;
        if (!only_names && strcmp(argv[i], "--") == 0)
            only_names = 1;
        else if (!only_names && argv[i][0] == '-' && argv[i][1])
            taken = take_option(&p, argc, argv, i);
        else if (take_input(&p, argv[i]) < 0)
            taken = -1;
        if (taken < 0)
            return -1;
        i += taken;
    }
    return check(&p);
}

LumeqParams options_params(const Options *o)
{
    return (LumeqParams){
        .mode = o->mode == MODE_OFF ? LUMEQ_MODE_OFF : LUMEQ_MODE_GLOBAL,
        .reference = o->reference,
        .strength = o->strength,
        .clip = o->clip,
        .smooth = o->smooth,
        .scene_cut = o->scene_cut,
    };
}

void options_print_help(FILE *file)
{
    fputs("Usage: lumeq [options] INPUT -o OUTPUT   write the processed video\n"
          "       lumeq [options] INPUT --null      process and throw away (timing)\n"
          "\n"
          "lumeq equalizes the luma of dull, dark or foggy video. INPUT is a video file, or - for\n"
          "standard input; OUTPUT an mp4, mkv, webm, mov or y4m file, or - for standard output.\n",
          file);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const Option *o = &options_table[i];
        char left[64], letter[8] = "    ";
        if (!o->name) {
            fprintf(file, "\n%s\n", o->help);
            continue;
        }
        if (o->letter)
            snprintf(letter, sizeof(letter), "-%c, ", o->letter);
        snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->choices ? " " : "",
                 o->choices ? o->choices : "");
        fprintf(file, "  %-36s%s%s\n", left,
                strlen(left) > 35 ? "\n                                      " : "", o->help);
    }
    fputs(
        "\n"
        "Exit codes: 0 done; 1 usage; 2 the input cannot be used; 3 the output cannot be written;\n"
        "4 interrupted; 5 done, but the input was damaged.\n",
        file);
}
