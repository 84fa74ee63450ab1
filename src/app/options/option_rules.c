#include "app/options/option_rules.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "app/start.h"
#include "app/stats.h"
#include "media/error.h"
#include "media/input/network.h"
#include "media/input/url.h"
#include "media/picture_pattern.h"
#include "report/report_file.h"

#define V4L2_MAJOR 81       /* device number of Video4Linux */
#define MAX_DEVICE_DIGITS 4 /* of a GPU's number */

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

/* An option, and why it is refused. */
typedef struct Why {
    const char *name, *text;
} Why;

/* Refuses the first option of the list that is on the command line. */
static int refuse_given(const Why *list, int count, const unsigned char *given, const char *other,
                        const Refusal *refusal)
{
    for (int i = 0; i < count; i++)
        if (option_is_given(given, list[i].name))
            return refuse(refusal, "%s and --%s contradict each other: %s", other, list[i].name,
                          list[i].text);
    return 0;
}

/* ---- names ---- */

/* Appends a name to `joined`. */
static void join(OptionNames *names, const char *name)
{
    const size_t used = strlen(names->joined), room = sizeof(names->joined) - used;
    const int all = names->count == 0 || used > 0;
    const int n = snprintf(names->joined + used, room, "%s%s", used ? " " : "", name);
    if (!all || n < 0 || (size_t)n >= room)
        names->joined[0] = '\0';
}

int option_rules_take_name(OptionNames *names, Options *options, const char *name,
                           const Refusal *refusal)
{
    if (!*name)
        return refuse(refusal, "INPUT is empty; a file name is needed");
    if (!names->count)
        options->input = name;
    join(names, name);
    names->last = name;
    names->all[names->count++] = name;
    return 0;
}

static int exists(const char *name)
{
    return strcmp(name, "-") != 0 && access(name, F_OK) == 0;
}

/* Prints a name as typed in a shell, quoted only if necessary. Returns 0 if it has control
 * characters or is too long. */
static int print_typed(const char *name, char *text, size_t size)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789._-+,:@%/";
    const char *quote = name[strspn(name, harmless)] ? "'" : "";
    size_t n = (size_t)snprintf(text, size, "%s", quote);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        const char letter[] = {(char)*c, '\0'};
        if (*c < 0x20 || *c == 0x7f)
            return 0;
        if (n < size)
            n += (size_t)snprintf(text + n, size - n, "%s", *c == '\'' ? "'\\''" : letter);
    }
    if (n < size)
        n += (size_t)snprintf(text + n, size - n, "%s", quote);
    return n < size;
}

/* True if the name may be meant as an OUTPUT: it is no file and no URL. */
static int may_be_output(const char *name)
{
    return !exists(name) && !url_scheme_length(name);
}

/* True for a name, after --, that would be an option before it. */
static int is_option(const char *name)
{
    if (exists(name) || name[0] != '-' || !name[1])
        return 0;
    return name[1] == '-' ? option_find(name + 2, strcspn(name + 2, "=")) != NULL
                          : !name[2] && option_find_letter(name[1]);
}

int option_rules_check_names(const OptionNames *names, const Options *o, const Refusal *refusal)
{
    char message[1200], first[512], text[512], why[600] = "lumeq takes one INPUT";
    if (names->count < 2)
        return 0;
    for (int i = 0; i < names->count; i++)
        if (is_option(names->all[i]))
            return refuse(refusal, "%s comes after --, which makes it a name: give options first",
                          media_quote(names->all[i]));
    if (!options_headless(o) && may_be_output(names->last) && strcmp(names->last, "-") != 0)
        snprintf(why, sizeof(why), "there is no %s", media_quote(names->last));
    snprintf(first, sizeof(first), "%s", media_quote(o->input));
    snprintf(message, sizeof(message), "two names, %s and %s, but %s", first,
             media_quote(names->last), why);
    if (names->count > 2)
        snprintf(message, sizeof(message), "%d names, %s to %s, but %s", names->count, first,
                 media_quote(names->last), why);
    const int many = options_many(o);
    if (exists(names->joined) && !(many && exists(o->input)) &&
        print_typed(names->joined, text, sizeof(text)))
        return refuse(refusal, "%s; did you mean %s, in quotes?", message, text);
    /* A window plays a list of files; a last name that does not exist may be meant as the output.
     */
    const int is_input = exists(names->last) || options_opens_url(o, names->last);
    if (many || (!o->output && !o->null_output && !o->camera && is_input))
        return 0;
    if (o->output && print_typed(o->output, text, sizeof(text)))
        return refuse(refusal, "%s at a time; write many into a folder with -o %s/", message, text);
    if (o->output || o->null_output)
        return refuse(refusal, "%s at a time", message);
    if (may_be_output(names->last) && print_typed(names->last, text, sizeof(text)))
        return refuse(refusal, "%s; did you mean -o %s%s?", message, text,
                      names->count > 2 ? " for the last" : "");
    return refuse(refusal, "%s at a time; name the OUTPUT with -o", message);
}

/* ---- values that contradict each other ---- */

typedef struct Rivals {
    const char *a, *b; /* names in the table */
    int both;          /* the contradiction is there */
    const char *text;
} Rivals;

#define MAX_RIVALS 16

static int list_rivals(const Options *o, Rivals *list)
{
    const int reference = o->reference;
    const Rivals all[] = {
        {"output", "null", o->output && o->null_output, "-o and --null"},
        {"reference", "mode", reference && o->mode == LUMEQ_MODE_OFF, "--reference and --mode off"},
        {"reference", "mode", reference && o->mode == LUMEQ_MODE_STRETCH,
         "--reference and --mode stretch"},
        {"reference", "mode", reference && o->mode == LUMEQ_MODE_HAZE,
         "--reference and --mode haze"},
        {"reference", "meter", reference && o->meter.width, "--reference and --meter"},
        {"reference", "brightness", reference && o->brightness != 0,
         "--reference and --brightness"},
        {"reference", "gamma", reference && o->gamma != 1, "--reference and --gamma"},
        {"reference", "limit", reference && o->limit != LUMEQ_LIMIT_NONE,
         "--reference and --limit"},
        {"reference", "deflicker", reference && o->deflicker > 0, "--reference and --deflicker"},
        {"reference", "denoise", reference && o->denoise > 0, "--reference and --denoise"},
        {"deflicker", "lookahead", o->deflicker > 0 && o->lookahead == 0,
         "--deflicker and --lookahead off"},
        {"crf", "bitrate", o->crf >= 0 && o->bitrate >= 0, "--crf and --bitrate"},
        {"no-subs", "sub-track", o->no_subs && o->sub_track >= 0, "--no-subs and --sub-track"},
        {"acodec", "audio-track",
         o->audio_track >= 0 && o->acodec && strcmp(o->acodec, "none") == 0,
         "--acodec none and --audio-track"},
        {"quiet", "verbose", o->quiet && o->verbose, "-q and -v"},
        {"config", "no-config", o->config && o->no_config, "--config and --no-config"},
    };
    _Static_assert(sizeof(all) / sizeof(all[0]) <= MAX_RIVALS, "MAX_RIVALS");
    memcpy(list, all, sizeof(all));
    return COUNT(all);
}

int option_rules_refuse_rivals(const Options *options, const char *file, const Refusal *refusal)
{
    Rivals rivals[MAX_RIVALS];
    const int count = list_rivals(options, rivals);
    for (int i = 0; i < count; i++)
        if (rivals[i].both)
            return refuse(refusal, "%s%s%s contradict each other", file ? media_quote(file) : "",
                          file ? ": " : "", rivals[i].text);
    return 0;
}

void option_rules_let_command_line_win(Options *options, const unsigned char *given)
{
    const Options defaults = options_default();
    Rivals rivals[MAX_RIVALS];
    const int count = list_rivals(options, rivals);
    for (int i = 0; i < count; i++) {
        const Rivals *r = &rivals[i];
        const int a = option_is_given(given, r->a), b = option_is_given(given, r->b);
        const char *loser = a ? r->b : r->a;
        if (r->both && a != b)
            option_copy(option_find(loser, strlen(loser)), options, &defaults);
    }
}

/* ---- cameras ---- */

#define NO_SEEKING "a camera has no positions; --frames N stops after N frames"
#define ONE_TRACK "a camera has one video track"
#define NOT_ENCODED "a raw recording is not encoded"
#define NOT_MEASURED "a raw recording is not measured"

static const char *const camera_only[] = {"video-size", "framerate", "input-format", "record-raw",
                                          "microphone"};

static const Why not_with_camera[] = {
    {"ss", NO_SEEKING},
    {"to", NO_SEEKING},
    {"loop", "a camera never ends"},
    {"sequence", "a camera is recorded as a video"},
    {"loop-all", "a camera is not a list of files"},
    {"shuffle", "a camera is not a list of files"},
    {"keep-open", "a camera never ends"},
    {"speed", "a camera is live"},
    {"video-track", ONE_TRACK},
    {"audio-track", ONE_TRACK},
    {"sub-track", ONE_TRACK},
    {"allow-playlists", "a camera is not a playlist"},
};

static const Why not_with_raw[] = {
    {"null", "nothing would be recorded"},
    {"vcodec", NOT_ENCODED},
    {"crf", NOT_ENCODED},
    {"preset", NOT_ENCODED},
    {"bitrate", NOT_ENCODED},
    {"pix-fmt", NOT_ENCODED},
    {"vopt", NOT_ENCODED},
    {"overlay", "a raw recording cannot be drawn on"},
};

/* Beside a window these options work on what it shows. */
static const Why not_with_raw_headless[] = {
    {"stats", NOT_MEASURED},
    {"report", NOT_MEASURED},
    {"virtual-camera", "without a window a raw recording is not equalized"},
    {"compare", "without a window a raw recording has nothing to compare with"},
};

static int check_camera(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    const int headless = options_headless(o);
    if (o->input) {
        char text[600], typed[512];
        const int is_number = !o->input[strspn(o->input, "0123456789")];
        const int is_device = strncmp(o->input, "/dev/", strlen("/dev/")) == 0 || is_number;
        snprintf(text, sizeof(text), "--camera and %s%s contradict each other",
                 strcmp(o->input, "-") == 0 ? "" : "the input ", media_quote_input(o->input));
        if (!o->output && !o->null_output && !is_device && may_be_output(o->input) &&
            print_typed(o->input, typed, sizeof(typed)))
            return refuse(refusal, "%s; did you mean -o %s?", text, typed);
        return refuse(refusal, "%s; name a device with =, as in --camera=/dev/video0", text);
    }
    if (refuse_given(not_with_camera, COUNT(not_with_camera), given, "--camera", refusal) < 0)
        return -1;
    if (option_is_given(given, "microphone") && strcmp(o->microphone, "off") != 0 && o->output &&
        o->low_latency)
        return refuse(refusal,
                      "--microphone %s and --low-latency contradict each other: the place of sound "
                      "is known a second later",
                      media_quote(o->microphone));
    if (!o->record_raw)
        return 0;
    if (headless && refuse_given(not_with_raw_headless, COUNT(not_with_raw_headless), given,
                                 "--record-raw", refusal) < 0)
        return -1;
    return refuse_given(not_with_raw, COUNT(not_with_raw), given, "--record-raw", refusal);
}

/* ---- files, pipes and URLs ---- */

/* Refuses cameras that are opened like files, and real-time reading of files that nobody watches.
 */
static int check_file(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    struct stat file, output;
    const int known = strcmp(o->input, "-") == 0 ? fstat(0, &file) : stat(o->input, &file);
    if (known < 0)
        return 0;
    if (S_ISCHR(file.st_mode) && major(file.st_rdev) == V4L2_MAJOR)
        return refuse(refusal, "%s is a camera, not a file: open it with --camera=%s",
                      media_quote_input(o->input), o->input);
    const int watched = o->output && (strcmp(o->output, "-") == 0 ||
                                      (stat(o->output, &output) == 0 && !S_ISREG(output.st_mode)));
    if (option_is_given(given, "low-latency") && S_ISREG(file.st_mode) && !watched)
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
    const int is_url = options_is_url(o);
    int has_url = is_url; /* among all INPUTs */
    static const char *const for_urls[] = {"network-timeout", "password-file", "reconnect",
                                           "no-reconnect"};
    const int count = o->camera ? 2 : COUNT(for_urls); /* a camera can return, too */
    if (option_is_given(given, "network") && o->network && o->no_network)
        return refuse(refusal, "--network and --no-network contradict each other");
    if (option_is_given(given, "reconnect") && o->reconnect > 0 && o->no_reconnect)
        return refuse(refusal, "--reconnect and --no-reconnect contradict each other");
    for (int i = 0; i < o->input_count; i++)
        has_url |= options_opens_url(o, o->inputs[i]);
    for (int i = 0; o->network && !o->no_network && !has_url && i < count; i++)
        if (option_is_given(given, for_urls[i]))
            return refuse(refusal, "--%s needs a URL: INPUT is not one", for_urls[i]);
    if (is_url || !o->input || !url_scheme_length(o->input) || stat(o->input, &file) == 0)
        return 0;
    if (network_scheme(o->input))
        return refuse(refusal, "%s is a URL, and %s forbids it", media_quote(o->input),
                      o->no_network                       ? "--no-network"
                      : option_is_given(given, "network") ? "--network=no"
                                                          : "network = off in the settings file");
    network_list_schemes(known, sizeof(known));
    return refuse(refusal, "%s is neither a file nor a URL that lumeq opens: %s",
                  media_quote(o->input), known);
}

static int check_pictures(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    const int reads = options_is_pictures(o, o->input);
    const int writes = o->sequence && o->output && picture_pattern_is(o->output);
    if (o->sequence && options_many(o))
        return refuse(refusal, "--sequence is for one video, not for a folder of outputs");
    if (o->sequence && !reads && !writes)
        return refuse(refusal, "--sequence needs a name with a place for a number, such as "
                               "frame%%04d.png: neither INPUT nor OUTPUT has one");
    if (option_is_given(given, "sequence-rate") && !reads)
        return refuse(refusal, "--sequence-rate needs an INPUT of pictures: a folder or, with "
                               "--sequence, a name like frame%%04d.png");
    return 0;
}

static int check_input(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    if (check_url(o, given, refusal) < 0)
        return -1;
    if (o->json)
        return refuse(refusal, "--json needs --doctor");
    if (options_headless(o) && !o->virtual_camera && option_is_given(given, "mirror"))
        return refuse(refusal, "--mirror is for the window and the virtual camera: written video "
                               "is never mirrored");
    if (options_headless(o) && option_is_given(given, "idle"))
        return refuse(refusal, "--idle is for the window, and -o or --null opens none");
    if (options_headless(o) && option_is_given(given, "sub-file"))
        return refuse(refusal, "--sub-file is for the window: OUTPUT gets the subtitle tracks of "
                               "INPUT alone");
    for (int i = 0; !o->camera && i < COUNT(camera_only); i++)
        if (option_is_given(given, camera_only[i]))
            return refuse(refusal, "--%s needs --camera", camera_only[i]);
    const int ret = o->camera  ? check_camera(o, given, refusal)
                    : o->input ? check_file(o, given, refusal)
                               : 0;
    return ret < 0 ? ret : check_pictures(o, given, refusal);
}

/* ---- several inputs, and outputs in a folder ---- */

/* Checks each INPUT as if it were alone; into a folder, each needs a name of its own. */
static int check_many(const Options *options, const unsigned char *given, const OptionNames *names,
                      const Refusal *refusal)
{
    Options one = *options;
    const int headless = options_headless(&one), many = options_many(&one);
    if (!many && (headless || one.camera) && option_is_given(given, "recursive"))
        return refuse(
            refusal, "--recursive includes subfolders: writing them needs a folder, as in -o DIR/");
    for (int i = 0; (many || (!headless && names->count > 1)) && i < names->count; i++) {
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
    const char *single = !many                ? NULL
                         : one.stats          ? "stats"
                         : one.report         ? "report"
                         : one.virtual_camera ? "virtual-camera"
                                              : NULL;
    return single ? refuse(refusal, "--%s is for one video, not for a folder of outputs", single)
                  : 0;
}

/* ---- a film in parts ---- */

#define FROM_A_FILE "several processes read the film, from a file"

static const Why not_in_parts[] = {
    {"camera", FROM_A_FILE},
    {"reconnect", FROM_A_FILE},
    {"virtual-camera", "parts are not written in order"},
    {"low-latency", "parts are not written in order"},
    {"segment-time", "a job joins its parts into one film"},
    {"null", "nothing would be written"},
};

static const Why not_with_plan[] = {
    {"jobs", "--jobs does all steps itself; each `lumeq segment PLAN K` writes one part"},
    {"devices", "give --device to each `lumeq segment PLAN K`"},
    {"resume", "each step keeps finished parts"},
};

static const Why not_with_run[] = {
    {"no-measure", "only `lumeq plan` leaves measuring to others"},
};

/* Options for parts; all but the last are for one film only. */
static const char *const parts_only[] = {"parts", "part-seconds", "no-measure", "devices"};

static int check_film(const Options *o, const unsigned char *given, int is_plan, const char *name,
                      const Refusal *refusal)
{
    if (!is_plan && !o->output && !o->camera)
        return refuse(refusal, "%s writes a film: -o FILE is missing", name);
    if (o->sequence || options_is_pictures(o, o->input))
        return refuse(refusal, "%s needs a film in one file, not pictures", name);
    for (int i = 0; i < option_count; i++)
        if (given[i] && (option_table[i].flags & OPTION_WINDOW))
            return refuse(refusal, "%s and --%s contradict each other: parts need no window", name,
                          option_table[i].name);
    if (refuse_given(not_in_parts, COUNT(not_in_parts), given, name, refusal) < 0)
        return -1;
    if (o->hwdec == OPTIONS_HWDEC_NVDEC)
        return refuse(refusal,
                      "%s and --hwdec nvdec contradict each other: parts are decoded in software",
                      name);
    if (o->input && (strcmp(o->input, "-") == 0 || options_is_url(o)))
        return refuse(refusal, "%s needs a file: %s", name, FROM_A_FILE);
    if (option_is_given(given, "lookahead") && o->lookahead == 0)
        return refuse(refusal,
                      "%s and --lookahead off contradict each other: a job measures the film first",
                      name);
    return is_plan ? refuse_given(not_with_plan, COUNT(not_with_plan), given, name, refusal)
                   : refuse_given(not_with_run, COUNT(not_with_run), given, name, refusal);
}

static int check_parts(const Options *o, const unsigned char *given, int is_plan,
                       const Refusal *refusal)
{
    const char *name = is_plan        ? "lumeq plan"
                       : o->jobs != 0 ? "--jobs"
                       : o->resume    ? "--resume"
                                      : NULL;
    const int many = options_many(o);
    const char *other = NULL;
    for (int i = 0; !other && i < COUNT(parts_only) - many; i++)
        other = option_is_given(given, parts_only[i]) ? parts_only[i] : NULL;
    const char *devices = o->devices && strcmp(o->devices, "all") != 0 ? o->devices : NULL;
    size_t n = 0;
    while (devices && (n = strspn(devices, "0123456789")) >= 1 && n <= MAX_DEVICE_DIGITS &&
           devices[n] == ',')
        devices += n + 1; /* numbers separated by single commas */
    if (devices && (n < 1 || n > MAX_DEVICE_DIGITS || devices[n]))
        return refuse(refusal, "--devices %s: it is all, or numbers of GPUs such as 0,1",
                      media_quote(o->devices));
    if (o->parts && o->part_seconds > 0)
        return refuse(refusal, "--parts and --part-seconds contradict each other");
    if (many && other)
        return refuse(refusal, "--%s is for one film in parts, not for a folder of outputs", other);
    if (many && option_is_given(given, "devices") && !o->jobs)
        return refuse(refusal, "--devices needs --jobs");
    if (many && is_plan)
        return refuse(refusal, "lumeq plan is for one film: -o %s is a folder of outputs",
                      media_quote(o->output));
    if (!name && other)
        return refuse(refusal, "--%s is for a film in parts: --jobs, or `lumeq plan`, is missing",
                      other);
    return name && !many ? check_film(o, given, is_plan, name, refusal) : 0;
}

/* ---- --sample, --lookahead, --segment-time, --stats and --report ---- */

static const Why not_with_sample[] = {
    {"camera", "a camera never ends, so there is nothing to sample"},
    {"null", "a sample estimates a film that is written: -o FILE is missing"},
    {"stats", "a sample writes nothing but pictures"},
    {"report", "a sample writes nothing but pictures"},
    {"segment-time", "a sample estimates a film in one file"},
    {"sequence", "a sample needs a film in one file, not pictures"},
    {"virtual-camera", "a sample is not for watching"},
    {"low-latency", "a sample needs a film in a file"},
    {"jobs", "pieces are tried one by one, which says little about parallel workers; without "
             "--jobs it estimates a single run"},
    {"resume", "a sample has no parts to resume"},
};

static int check_sample(const Options *o, const unsigned char *given, int is_plan,
                        const Refusal *refusal)
{
    struct stat file;
    if (!o->sample)
        return 0;
    if (is_plan)
        return refuse(refusal, "lumeq plan and --sample contradict each other: a sample estimates "
                               "one run");
    if (refuse_given(not_with_sample, COUNT(not_with_sample), given, "--sample", refusal) < 0)
        return -1;
    if (!o->output)
        return refuse(refusal, "--sample estimates a film that is written: -o FILE is missing");
    if (options_many(o))
        return refuse(refusal, "--sample is for one film, not for a folder of outputs");
    if (strcmp(o->output, "-") == 0 || (stat(o->output, &file) == 0 && !S_ISREG(file.st_mode)))
        return refuse(refusal, "--sample needs a file to write, not %s",
                      strcmp(o->output, "-") == 0 ? "standard output" : media_quote(o->output));
    if (strcmp(o->input, "-") == 0)
        return refuse(refusal, "--sample seeks in a file, and cannot in standard input");
    if (options_is_url(o))
        return refuse(refusal, "--sample seeks in a file, and a URL is read once");
    if (options_is_pictures(o, o->input) || (stat(o->input, &file) == 0 && !S_ISREG(file.st_mode)))
        return refuse(refusal, "--sample needs a film in one file: %s is not a file",
                      media_quote_input(o->input));
    return 0;
}

static int check_lookahead(Options *o, const unsigned char *given, const Refusal *refusal)
{
    const int deflicker = option_is_given(given, "deflicker") && o->deflicker > 0;
    o->lookahead_for = deflicker                                                 ? "--deflicker"
                       : option_is_given(given, "lookahead") && o->lookahead > 0 ? "--lookahead"
                                                                                 : NULL;
    if (!o->lookahead_for || options_headless(o))
        return 0;
    return refuse(refusal,
                  "%s is for written video: the window shows each frame at once; add -o FILE",
                  o->lookahead_for);
}

static int check_segments(const Options *o, const Refusal *refusal)
{
    if (o->keep && o->segment_time <= 0)
        return refuse(refusal, "--keep deletes old pieces: --segment-time is missing");
    if (o->segment_time <= 0)
        return 0;
    if (!o->output || o->null_output)
        return refuse(refusal, "--segment-time splits output: -o is missing");
    if (options_many(o))
        return refuse(refusal, "--segment-time is for one video, not for a folder of outputs");
    if (o->jobs != 0 || o->resume)
        return refuse(refusal,
                      "--segment-time and --%s contradict each other: a job joins its parts into "
                      "one film",
                      o->jobs != 0 ? "jobs" : "resume");
    return 0;
}

static int check_reports(const Options *o, const Refusal *refusal)
{
    if (o->stats && !stats_known_name(o->stats))
        return refuse(refusal, "--stats %s: its name must end in .csv or .jsonl",
                      media_quote(o->stats));
    if (o->report && !report_known_name(o->report))
        return refuse(refusal, "--report %s: its name must end in .html or .json",
                      media_quote(o->report));
    if (o->report && !options_headless(o))
        return refuse(refusal, "--report needs a run without a window: -o FILE or --null%s",
                      o->camera ? ", and --frames N with -o" : "");
    return 0;
}

int option_rules_check(Options *o, const unsigned char *given, const OptionNames *names,
                       int is_plan, const Refusal *refusal)
{
    if (check_input(o, given, refusal) < 0 || check_many(o, given, names, refusal) < 0)
        return -1;
    const int waits = !is_plan && !options_headless(o) && !o->output && !o->sample &&
                      (o->idle || start_has_desktop());
    if (!o->input && !o->camera && !waits)
        return refuse(refusal, "no INPUT given; see lumeq --help");
    if (check_lookahead(o, given, refusal) < 0 || check_segments(o, refusal) < 0 ||
        check_sample(o, given, is_plan, refusal) < 0 || check_parts(o, given, is_plan, refusal) < 0)
        return -1;
    if (o->from_us >= 0 && o->to_us >= 0 && o->to_us <= o->from_us)
        return refuse(refusal, "--to must be after --ss: both are positions in the input");
    if (o->to_us == 0)
        return refuse(refusal, "--to 0 leaves nothing; it must be after the start");
    const int limited = options_headless(o) && !o->camera && !o->virtual_camera;
    if (o->sandbox == OPTIONS_ON && option_is_given(given, "sandbox") && !limited)
        return refuse(refusal, "--sandbox on is for files and URLs without a window, with -o FILE "
                               "or --null: windows and cameras need more rights");
    return check_reports(o, refusal);
}

int option_rules_check_question(const Options *o, const Refusal *refusal)
{
    if (o->json && !o->doctor)
        return refuse(refusal, "--json needs --doctor");
    if (o->doctor && o->input)
        return refuse(refusal, "--doctor looks at this machine, not at %s; use -v for a video",
                      media_quote_input(o->input));
    if (o->camera && o->list_devices)
        return refuse(refusal, "--camera and --list-devices contradict each other: all are listed");
    if (o->camera && o->list_formats)
        return refuse(refusal, "--camera and --list-formats contradict each other: name a camera "
                               "with =, as in --list-formats=/dev/video0");
    return 0;
}
