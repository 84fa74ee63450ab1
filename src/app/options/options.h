/* The options: the command line overrides the settings file, which overrides the defaults. */
#ifndef LUMEQ_APP_OPTIONS_H
#define LUMEQ_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lumeq/lumeq.h"

#define MAX_ENCODER_OPTIONS 64 /* maximum number of uses of --vopt */

/* The strength of LUMEQ_STRENGTH_AUTO in modes other than global. */
#define OPTIONS_USUAL_STRENGTH 0.8

/* Maximum number of rows of option_table. */
#define OPTION_MAX 128

/* Maximum number of pieces of a sample. */
#define OPTIONS_SAMPLE_MAX 48

/* Value of Options.profile for --profile help. */
#define PROFILE_HELP (-1)

typedef enum OptionsHelp {
    OPTIONS_HELP_NONE,
    OPTIONS_HELP_SHORT,
    OPTIONS_HELP_FULL,
} OptionsHelp;

typedef struct OptionsTiles {
    int x, y;
} OptionsTiles;

typedef struct OptionsSize {
    int width, height;
} OptionsSize;

/* Indices in the choices auto|on|off and auto|yes|no. */
typedef enum OptionsSwitch {
    OPTIONS_AUTO,
    OPTIONS_ON,
    OPTIONS_OFF,
} OptionsSwitch;

typedef enum OptionsCodeRange {
    OPTIONS_CODE_RANGE_AUTO,
    OPTIONS_CODE_RANGE_USED,
    OPTIONS_CODE_RANGE_FULL,
} OptionsCodeRange;

typedef enum OptionsHwdec {
    OPTIONS_HWDEC_AUTO,
    OPTIONS_HWDEC_NVDEC,
    OPTIONS_HWDEC_NO,
} OptionsHwdec;

/* Unless noted, strings point into argv or into the settings file's text. Options that are not
 * given have the default that the help shows or, without one, -1 (numbers) or NULL (strings). */
typedef struct Options {
    const char *input;
    const char **inputs; /* all INPUTs, beginning with `input`; Options owns the array */
    int input_count;
    const char *output;  /* may point to output_folder */
    char *output_folder; /* owned: OUTPUT and a slash, if OUTPUT is a folder that exists; or NULL */
    int null_output, overwrite, overlay;
    double segment_time; /* seconds of each segment; 0: no segments */
    int64_t keep;        /* bytes of segments to keep; 0: all */

    int profile; /* number of the profile from 1, or 0 */
    LumeqMode mode;
    LumeqChroma chroma;
    LumeqBars bars;
    LumeqLimit limit;
    int reference;
    int scene_cut, range;    /* indices in choices */
    int dither, deinterlace; /* each an OptionsSwitch */
    int code_range;          /* an OptionsCodeRange */
    double strength;         /* -1: auto */
    double clip;             /* or LUMEQ_CLIP_AUTO */
    double denoise;          /* as in LumeqParams */
    double smooth;
    OptionsTiles tiles;
    double brightness, gamma; /* as in LumeqParams */
    LumeqRect meter;
    double deflicker;
    double lookahead;          /* seconds; -1: auto */
    const char *lookahead_for; /* what needs a lookahead, such as "--deflicker"; or NULL */

    double jobs;         /* parts or files at once; -1: by the number of cores; 0: not given */
    int64_t parts;       /* number of parts; 0: by part_seconds */
    double part_seconds; /* of each part; 0: not given */
    int no_measure, resume;
    int64_t sample;      /* pieces; -1: the default number, 0: no sample */
    const char *devices; /* GPUs for parts or files: "all" or "0,1" */

    int backend, hwdec; /* a LumeqBackendId, an OptionsHwdec */
    int64_t device, threads;

    int64_t from_us, to_us, frames, max_pixels;
    int network, no_network, allow_playlists, force_dovi;
    int sandbox; /* an OptionsSwitch; ON: fail if the kernel cannot limit the run fully */
    const char *password_file;
    double network_timeout, open_timeout;
    int reconnect, no_reconnect; /* `reconnect` -1: only for live streams */
    int piece; /* file number from 2 in a recording whose camera changed its format; else 0 */

    int64_t video_track, audio_track, sub_track; /* each kind counts from 0 */
    int no_subs, no_chapters, no_metadata;

    const char *format, *vcodec, *preset, *pixel_format;
    double crf;
    int64_t bitrate;
    const char *encoder_options[MAX_ENCODER_OPTIONS + 1]; /* NULL at the end */
    const char *sub_file;                                 /* subtitle file to show in the window */
    int idle;           /* wait in a window for a file if INPUT does not play */
    const char *acodec; /* "copy", "none" or an encoder; NULL: copy if the container can */

    int compare, histogram, hist_scale, scope; /* indices in choices */
    int loop, fullscreen, mute, no_audio;
    int keep_open; /* an OptionsSwitch */
    int remember;
    const char *screenshot_dir;
    int64_t volume;
    double speed, osd_scale;

    const char *camera;     /* its device or number; "": the first device */
    OptionsSize video_size; /* {0, 0}: not given */
    double framerate;
    const char *input_format;
    int mirror, low_latency, record_raw;
    const char *microphone;     /* its name, "off" or "help"; NULL: the default one */
    const char *virtual_camera; /* its device or number; "": PipeWire or the first device */

    int recursive, shuffle, loop_all;
    int sequence; /* names like frame%04d.png are patterns of numbered pictures */
    double sequence_rate;

    const char *stats, *report;
    int progress;
    int color; /* a SayColor */
    int quiet, verbose;
    int help; /* an OptionsHelp */
    int version, list_gpus, list_devices;
    int doctor, json;
    const char *list_formats; /* a camera; "": the first one */

    unsigned char given[OPTION_MAX]; /* by index in option_table; 1: is on the command line */
    const char *config;
    int no_config;
    char *config_path, *config_text; /* owned: path and text of the settings file, or NULL */
} Options;

Options options_default(void);

/* Fills in defaults, settings file and argv. Returns 0, or -1 with one sentence in `text` and the
 * `color` read so far. The caller frees `options` in both cases. */
int options_parse(Options *options, int argc, char **argv, char *text, size_t text_size);

/* Like options_parse(), for `lumeq plan`. */
int options_parse_plan(Options *options, int argc, char **argv, char *text, size_t text_size);

void options_free(Options *options);

/* The name of the input, for messages. */
const char *options_input(const Options *options);

/* True if OUTPUT is a folder for the outputs of all inputs. */
bool options_many(const Options *options);

/* True if INPUT is a URL that may be opened, and no file has that name. */
bool options_is_url(const Options *options);

/* Like options_is_url(), for `path`. */
bool options_opens_url(const Options *options, const char *path);

/* stat() of an input or output; "-" is the standard stream `standard`. Returns 0 or -1. */
int options_stat(const char *path, int standard, struct stat *file);

/* True if an output is "-", a pipe or a device, so that a program may read it while it is written.
 * `path` may be NULL. */
bool options_is_piped(const char *path);

/* True if `path` names the pictures of one video: a folder or, with --sequence, a numbered name. */
bool options_is_pictures(const Options *options, const char *path);

/* True if the run has no window. */
bool options_headless(const Options *options);

/* The Verbosity that -q and -v set. */
int options_verbosity(const Options *options);

/* True if the options ask for information on standard output, such as --help, instead of a run. */
bool options_is_query(const Options *options);

/* The name of the option with the value "help", or NULL. */
const char *options_with_help(const Options *options);

/* Facts that decide the equalizer's parameters, besides the options. */
typedef struct OptionsInput {
    LumeqTransfer transfer; /* of the input */
    int still;              /* the input is one picture */
    int fine;               /* the output can show dither, so --dither auto is on */
    int ahead;              /* there is a lookahead, which --deflicker needs */
} OptionsInput;

/* The lookahead of a run that has one, in nanoseconds. */
int64_t options_lookahead(const Options *options);

/* Converts options to parameters of the equalizer. */
LumeqParams options_params(const Options *options, OptionsInput input);

/* Prints the help to standard output, wrapped for the terminal. */
void options_print_help(OptionsHelp help);

#endif
