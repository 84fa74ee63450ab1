#include "app/options/option_inputs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "app/options/option_names.h"
#include "media/error.h"
#include "media/input/network.h"
#include "media/input/url.h"
#include "media/picture_pattern.h"

/* The major number of devices of Video4Linux. */
#define V4L2_MAJOR 81

typedef struct Why {
    const char *name, *text;
} Why;

static const Why of_camera[] = {
    {"video-size", "the size of a camera's picture"},
    {"framerate", "the rate of a camera"},
    {"input-format", "what a camera sends"},
    {"record-raw", "how a camera is recorded"},
};

static const Why not_of_camera[] = {
    {"ss", "a camera has no positions, only now; --frames N ends after so many"},
    {"to", "a camera has no positions, only now; --frames N ends after so many"},
    {"loop", "a camera has no end to begin again from"},
    {"sequence", "a camera's pictures are recorded as a video"},
    {"loop-all", "a camera is no list of files"},
    {"shuffle", "a camera is no list of files"},
    {"keep-open", "a camera has no end to stay at"},
    {"speed", "a camera has the speed of what it sees"},
    {"video-track", "a camera has one track, its picture"},
    {"audio-track", "a camera has one track, its picture"},
    {"sub-track", "a camera has one track, its picture"},
    {"acodec", "a camera has one track, its picture"},
    {"network", "a camera is not on the network"},
    {"allow-playlists", "a camera is no playlist"},
};

static const Why not_of_raw[] = {
    {"null", "nothing is recorded then"},
    {"vcodec", "what is recorded untouched is not encoded"},
    {"crf", "what is recorded untouched is not encoded"},
    {"preset", "what is recorded untouched is not encoded"},
    {"bitrate", "what is recorded untouched is not encoded"},
    {"pix-fmt", "what is recorded untouched is not encoded"},
    {"vopt", "what is recorded untouched is not encoded"},
    {"overlay", "what is recorded untouched has nothing laid over it"},
};

static const Why of_window[] = {
    {"mirror", "for the window and the virtual camera: what is written is never mirrored"},
};

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

/* The first of the list that is on the command line, or NULL. */
static const Why *first_given(const Why *list, int count, const unsigned char *given)
{
    for (int i = 0; i < count; i++)
        if (option_is_given(given, list[i].name))
            return &list[i];
    return NULL;
}

/* What a window has to be there for. */
static const Why *of_no_window(const Options *o, const unsigned char *given)
{
    return options_headless(o) && !o->virtual_camera /* which is mirrored, too */
               ? first_given(of_window, COUNT(of_window), given)
               : NULL;
}

static int refuse_input(const Options *o, const Refusal *refusal)
{
    char said[600], typed[512];
    const int is_number = !o->input[strspn(o->input, "0123456789")];
    const int is_device = strncmp(o->input, "/dev/", strlen("/dev/")) == 0 || is_number;
    snprintf(said, sizeof(said), "--camera and %s%s contradict each other",
             strcmp(o->input, "-") == 0 ? "" : "the input ", media_quote_input(o->input));
    if (!o->output && !o->null_output && !is_device && option_names_may_be_new(o->input) &&
        option_names_type(o->input, typed, sizeof(typed)))
        return refuse(refusal, "%s; did you mean -o %s?", said, typed);
    return refuse(refusal, "%s; a device is named in one word: --camera=/dev/video0", said);
}

static int check_camera(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    if (o->input)
        return refuse_input(o, refusal);
    const Why *why = first_given(not_of_camera, COUNT(not_of_camera), given);
    if (why)
        return refuse(refusal, "--%s and --camera contradict each other: %s", why->name, why->text);
    if (!o->record_raw)
        return 0;
    if (o->stats && options_headless(o))
        return refuse(refusal, "--stats and --record-raw contradict each other: what is recorded "
                               "untouched is not measured");
    if (o->report && options_headless(o))
        return refuse(refusal, "--report and --record-raw contradict each other: what is recorded "
                               "untouched is not measured");
    if (o->virtual_camera && options_headless(o))
        return refuse(refusal, "--virtual-camera and --record-raw contradict each other: without a "
                               "window, what is recorded untouched is not equalized");
    if (option_is_given(given, "compare") && options_headless(o))
        return refuse(refusal,
                      "--compare and --record-raw contradict each other: without a window, "
                      "what is recorded untouched has nothing to be compared with");
    why = first_given(not_of_raw, COUNT(not_of_raw), given);
    return why ? refuse(refusal, "--%s and --record-raw contradict each other: %s", why->name,
                        why->text)
               : 0;
}

/* Devices are not read as files are, and files have all their frames at once. */
static int check_input(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    struct stat file, output;
    const int known = strcmp(o->input, "-") == 0 ? fstat(0, &file) : stat(o->input, &file);
    if (known < 0)
        return 0;
    if (S_ISCHR(file.st_mode) && major(file.st_rdev) == V4L2_MAJOR)
        return refuse(refusal, "%s is a camera, not a file: it is opened by --camera=%s",
                      media_quote_input(o->input), o->input);
    const int watched = o->output && (strcmp(o->output, "-") == 0 ||
                                      (stat(o->output, &output) == 0 && !S_ISREG(output.st_mode)));
    if (option_is_given(given, "low-latency") && S_ISREG(file.st_mode) && !watched)
        return refuse(refusal,
                      "--low-latency is for live input, a pipe or a camera, or for what is written "
                      "into a pipe: %s is a file",
                      media_quote_input(o->input));
    return 0;
}

static int check_live(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    const Why *why = of_no_window(o, given);
    if (o->json)
        return refuse(refusal, "--json is how --doctor answers: --doctor is missing");
    if (why)
        return refuse(refusal, "--%s is %s", why->name, why->text);
    if (o->camera)
        return check_camera(o, given, refusal);
    why = first_given(of_camera, COUNT(of_camera), given);
    if (why)
        return refuse(refusal, "--%s is %s: --camera is missing", why->name, why->text);
    return o->input ? check_input(o, given, refusal) : 0;
}

int option_inputs_check_lists(const Options *o, const Refusal *refusal)
{
    if (o->json && !o->doctor)
        return refuse(refusal, "--json is how --doctor answers: --doctor is missing");
    if (o->doctor && o->input)
        return refuse(refusal,
                      "--doctor looks at this machine, and not at %s; -v says what is "
                      "decided about a video",
                      media_quote_input(o->input));
    if (o->camera && o->list_devices)
        return refuse(refusal, "--camera and --list-devices contradict each other: all are listed");
    if (o->camera && o->list_formats)
        return refuse(refusal, "--camera and --list-formats contradict each other: the camera is "
                               "named in one word, --list-formats=/dev/video0");
    return 0;
}

/* ---- URLs ---- */

int option_inputs_is_url(const Options *o)
{
    return o->network && o->input && network_scheme(o->input);
}

static int check_url(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    char known[256];
    struct stat file;
    if (!o->network && option_is_given(given, "network-timeout"))
        return refuse(refusal, "--network-timeout is how long a URL may be silent: --network is "
                               "missing");
    if (option_is_given(given, "reconnect") && !option_inputs_is_url(o))
        return refuse(refusal, "--reconnect is for a URL, which comes back: %s",
                      o->network ? "INPUT is none" : "--network is missing");
    if (!o->input || !url_scheme_length(o->input))
        return 0;
    const int is_known = network_scheme(o->input) != NULL;
    if (o->network && is_known && option_is_given(given, "allow-playlists"))
        return refuse(refusal,
                      "--allow-playlists and the URL %s contradict each other: playlists from the "
                      "network are never followed",
                      media_quote(o->input));
    if ((o->network && is_known) || stat(o->input, &file) == 0)
        return 0;
    if (is_known)
        return refuse(refusal, "%s is a URL, not a file: --network allows it to be opened",
                      media_quote(o->input));
    if (!o->network)
        return 0; /* no such file, as any other */
    network_list_schemes(known, sizeof(known));
    return refuse(refusal, "%s is neither a file nor a URL of those that --network opens: %s",
                  media_quote(o->input), known);
}

/* ---- pictures ---- */

int option_inputs_is_pictures(const Options *o, const char *path)
{
    struct stat file;
    if (!path || strcmp(path, "-") == 0)
        return 0;
    return (o->sequence && picture_pattern_is(path)) ||
           (stat(path, &file) == 0 && S_ISDIR(file.st_mode));
}

static int check_pictures(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    const int reads = option_inputs_is_pictures(o, o->input);
    const int writes = o->sequence && o->output && picture_pattern_is(o->output);
    if (o->sequence && options_many(o))
        return refuse(refusal, "--sequence is of one video, and a folder of outputs is for many");
    if (o->sequence && !reads && !writes)
        return refuse(refusal,
                      "--sequence is for names with a place for a number, as frame%%04d.png "
                      "has: neither INPUT nor OUTPUT has one");
    if (option_is_given(given, "sequence-rate") && !reads)
        return refuse(refusal, "--sequence-rate is for an INPUT of pictures, a folder or, with "
                               "--sequence, a name like frame%%04d.png");
    return 0;
}

int option_inputs_check(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    if (check_url(o, given, refusal) < 0 || check_live(o, given, refusal) < 0)
        return -1;
    return check_pictures(o, given, refusal);
}
