/* What the user asks for: the command line, over the settings file, over the defaults. */
#ifndef LUMEQ_APP_OPTIONS_H
#define LUMEQ_APP_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "lumeq/lumeq.h"

#define MAX_ENCODER_OPTIONS 64

/* No table of options is longer. */
#define OPTION_MAX 128

/* Pieces of a sample. */
#define OPTIONS_SAMPLE_MOST 48

/* Options.profile when the profiles are to be listed. */
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

typedef enum OptionsDither {
    OPTIONS_DITHER_AUTO,
    OPTIONS_DITHER_ON,
    OPTIONS_DITHER_OFF,
} OptionsDither;

typedef enum OptionsDeinterlace {
    OPTIONS_DEINTERLACE_AUTO,
    OPTIONS_DEINTERLACE_ON,
    OPTIONS_DEINTERLACE_OFF,
} OptionsDeinterlace;

typedef enum OptionsCodeRange {
    OPTIONS_CODE_RANGE_AUTO,
    OPTIONS_CODE_RANGE_USED,
    OPTIONS_CODE_RANGE_FULL,
} OptionsCodeRange;

typedef enum OptionsKeepOpen {
    OPTIONS_KEEP_OPEN_AUTO,
    OPTIONS_KEEP_OPEN_YES,
    OPTIONS_KEEP_OPEN_NO,
} OptionsKeepOpen;

typedef enum OptionsHwdec {
    OPTIONS_HWDEC_AUTO,
    OPTIONS_HWDEC_NVDEC,
    OPTIONS_HWDEC_NO,
} OptionsHwdec;

/* Strings point into argv or into the settings file's text. -1 in a number, NULL in a text: not
 * given. */
typedef struct Options {
    const char *input;
    const char **inputs; /* all of them, `input` the first; their array belongs to Options */
    int input_count;
    const char *output;
    int null_output, overwrite, overlay;
    double segment_time; /* of each piece, 0: all is one */

    int profile;             /* number of the profile, from 1; 0: none */
    int is_profile_strength; /* a profile set the strength, and nothing set it since */
    LumeqMode mode;
    LumeqChroma chroma;
    LumeqBars bars;
    LumeqLimit limit;
    int reference, scene_cut, range, dither; /* indices of their choices */
    int deinterlace, code_range;             /* the same: an OptionsCodeRange */
    double strength;                         /* -1: as much as each picture needs */
    double clip;                             /* LUMEQ_CLIP_AUTO: as high as the noise allows */
    double denoise;                          /* as in LumeqParams */
    double smooth;
    OptionsTiles tiles;
    double brightness, gamma; /* as in LumeqParams, and so is the next */
    LumeqRect meter;
    double deflicker;
    double lookahead;          /* seconds; -1: auto */
    const char *lookahead_for; /* the option on the command line that needs it, or NULL */

    double jobs;         /* parts at a time; -1: as many as fill the machine, 0: not in parts */
    int64_t parts;       /* that a film is cut into, 0: by part_seconds */
    double part_seconds; /* of each, 0: not given */
    int no_measure, resume;
    int64_t sample;      /* pieces that are tried, -1: as many as is usual; 0: none, it is a run */
    const char *devices; /* of GPUs that parts are spread over, "all" or "0,1"; or NULL */

    int backend, hwdec; /* indices of their choices: an OptionsHwdec */
    int64_t device, threads;

    int64_t from_us, to_us, frames, max_pixels;
    int network, allow_playlists, force_dovi;
    double network_timeout, open_timeout;
    int reconnect;

    int64_t video_track, audio_track, sub_track; /* number of its kind, from 0 */
    int no_subs, no_chapters, no_metadata;

    const char *format, *vcodec, *preset, *pixel_format;
    double crf;
    int64_t bitrate;
    const char *encoder_options[MAX_ENCODER_OPTIONS + 1]; /* NULL at the end */
    const char
        *acodec; /* NULL: copied where that is right; "copy", "none", or the name of an encoder */

    int compare, histogram, hist_scale, scope; /* indices of their choices */
    int loop, fullscreen, mute, no_audio;
    int keep_open; /* an OptionsKeepOpen */
    int remember;
    const char *screenshot_dir;
    int64_t volume;
    double speed, osd_scale;

    const char *camera;     /* its device or number, "" for the first one */
    OptionsSize video_size; /* {0, 0}: not given */
    double framerate;
    const char *input_format;
    int mirror, low_latency, record_raw;
    const char *virtual_camera; /* its device or number, "" for the first one */

    int recursive, shuffle, loop_all;
    int sequence; /* not 0: names like frame%04d.png are those of numbered pictures */
    double sequence_rate;

    const char *stats, *report;
    int progress;
    int color; /* a SayColor */
    int quiet, verbose;
    int help; /* an OptionsHelp */
    int version, list_gpus, list_devices;
    int doctor, json;
    const char *list_formats; /* of this camera, "" for the first one */

    unsigned char given[OPTION_MAX]; /* by the place in option_table: on the command line */
    const char *config;
    int no_config;
    char *config_path, *config_text; /* the settings file that was read, or NULL */
} Options;

Options options_default(void);

/* Fills the defaults, then what the settings file says, then what argv says. 0, or -1 with one
 * sentence in `text`; `options` is to be freed in any case, and its color is set as far as known.
 */
int options_parse(Options *options, int argc, char **argv, char *text, size_t text_size);

/* The same for `lumeq plan`, whose film is written in parts. */
int options_parse_plan(Options *options, int argc, char **argv, char *text, size_t text_size);

void options_free(Options *options);

/* What is opened, for a person. */
const char *options_input(const Options *options);

/* Not 0: OUTPUT is a folder, into which the outputs of all inputs go. */
int options_many(const Options *options);

/* Not 0: the run has no window. */
int options_headless(const Options *options);

/* Not 0: something is to be printed to standard output instead of a run. */
int options_ask(const Options *options);

/* The option of which "help" is the value, which then lists what it may be, or NULL. */
const char *options_list(const Options *options);

/* What the equalizer's parameters depend on beside the options. */
typedef struct OptionsInput {
    int hdr;   /* the codes of the input are those of HDR */
    int still; /* it is one picture */
    int fine;  /* the output shows fractions of codes: --dither auto is on */
    int ahead; /* the curves look ahead, as --deflicker needs */
} OptionsInput;

/* Not 0: HDR gets half the strength, and is not lifted: no other strength was asked for. */
int options_spare_hdr(const Options *options);

/* The one place where options become parameters of the equalizer. */
LumeqParams options_params(const Options *options, OptionsInput input);

/* Prints to standard output, as wide as the terminal is. */
void options_print_help(OptionsHelp help);

#endif
