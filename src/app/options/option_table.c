#include "app/options/option_table.h"

#include <string.h>

#include "app/options/nearest.h"

#define MAX_TRACK 9999
#define MAX_JOBS 256
#define MAX_PARTS 99999
#define MIN_BITRATE                                                                                \
    10e3 /* what is less has lost its K or M: not even a thumbnail moves with it                   \
          */

#define FIELD(name) offsetof(Options, name)
#define HEADING(text)                                                                              \
    {                                                                                              \
        NULL, 0, OPTION_FLAG, 0, 0, 0, 0, NULL, text                                               \
    }
#define COMMON OPTION_COMMON
#define ONCE OPTION_ONCE

const Option option_table[] = {
    HEADING("Output"),
    {"output", 'o', OPTION_TEXT, COMMON | ONCE, FIELD(output), 0, 0, "OUTPUT",
     "the processed video, DIR/; - is standard output"},
    {"recursive", 0, OPTION_FLAG, ONCE, FIELD(recursive), 0, 0, NULL,
     "of an INPUT that is a folder, the folders within it, too; in the window, or with -o DIR/"},
    {"sequence", 0, OPTION_FLAG, ONCE, FIELD(sequence), 0, 0, NULL,
     "INPUT or OUTPUT like frame%04d.png: numbered pictures, each a frame of one video"},
    {"sequence-rate", 0, OPTION_NUMBER, 0, FIELD(sequence_rate), 0.01, 1000, "X",
     "pictures a second of an INPUT that is those, or a folder of pictures [25]"},
    {"null", 0, OPTION_FLAG, ONCE, FIELD(null_output), 0, 0, NULL,
     "process and throw away, for timing"},
    {"overwrite", 'y', OPTION_FLAG, COMMON | ONCE, FIELD(overwrite), 0, 0, NULL,
     "replace files that exist, also by --report"},
    {"segment-time", 0, OPTION_NUMBER, ONCE, FIELD(segment_time), 1, 1e6, "SECONDS",
     "write pieces of so long, OUTPUT with the time in its name: cam-%Y%m%d-%H%M%S.mkv"},
    {"sample", 0, OPTION_MAY_INTEGER, ONCE, FIELD(sample), 1, OPTIONS_SAMPLE_MOST, "N",
     "try N pieces of 6 s, say how long all of it takes and how large it is, and draw before and "
     "after into OUTPUT.sample.png; nothing else is written [8]"},
    {"overlay", 0, OPTION_FLAG, 0, FIELD(overlay), 0, 0, NULL,
     "blend the histogram panel into the video that is written"},
    {"stats", 0, OPTION_TEXT, ONCE, FIELD(stats), 0, 0, "FILE.csv|FILE.jsonl",
     "write one row of figures per frame; jsonl has the histograms too"},
    {"report", 0, OPTION_TEXT, ONCE, FIELD(report), 0, 0, "FILE.html|FILE.json",
     "write what was done to the video: figures, plots, pictures of shots; not of a window"},

    HEADING("What is done to the picture"),
    {"mode", 0, OPTION_MODE, COMMON, FIELD(mode), 0, 0, "global|clahe|stretch|haze|off",
     "one curve, one a tile, a line, dehaze [global]"},
    {"profile", 0, OPTION_PROFILE, COMMON, FIELD(profile), 0, 0, "NAME|help",
     "settings for a kind of video; help lists them [none]"},
    {"strength", 0, OPTION_AUTO_NUMBER, COMMON, FIELD(strength), 0, 1, "auto|X",
     "0 untouched .. 1 fully equalized; auto: what each scene needs, dark ones lifted [auto]"},
    {"clip", 0, OPTION_ANY_NUMBER, 0, FIELD(clip), 1, LUMEQ_MAX_CLIP, "auto|X",
     "contrast limit in multiples of the mean bin, from 1; 0 = none; auto: by the noise [auto]"},
    {"denoise", 0, OPTION_OFF_NUMBER, 0, FIELD(denoise), 0, 1, "auto|off|X",
     "less noise where dark video is lifted, over a few frames: off .. 1; auto: 1 [auto]"},
    {"tiles", 0, OPTION_TILES, 0, FIELD(tiles), 1, LUMEQ_MAX_TILES, "CxR",
     "of --mode clahe and haze: columns and rows of tiles [8x8]"},
    {"brightness", 0, OPTION_NUMBER, 0, FIELD(brightness), -1, 1, "X",
     "-1 .. 1: lighten or darken the tones before they are equalized; black and white stay [0]"},
    {"gamma", 0, OPTION_NUMBER, 0, FIELD(gamma), LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA, "X",
     "0.1 .. 10: the same by x^(1/X): more than 1 is lighter [1]"},
    {"limit", 0, OPTION_CHOICE, 0, FIELD(limit), 0, 0, "none|darken|lighten",
     "let the picture only become darker, or only lighter [none]"},
    {"smooth", 0, OPTION_NUMBER, COMMON, FIELD(smooth), 0, LUMEQ_MAX_SMOOTH, "SECONDS",
     "time constant of the curve; 0 = each frame on its own [0.5]"},
    {"scene-cut", 0, OPTION_CHOICE, 0, FIELD(scene_cut), 0, 0, "off|on",
     "let a cut take the new curve at once [on]"},
    {"chroma", 0, OPTION_CHOICE, 0, FIELD(chroma), 0, 0, "scale|keep",
     "saturation follows luma, or stays [scale]"},
    {"dither", 0, OPTION_CHOICE, 0, FIELD(dither), 0, 0, "auto|on|off",
     "fractions of codes become a fine pattern; auto: in the window and for lossless or deeper "
     "output [auto]"},
    {"meter", 0, OPTION_PART, 0, FIELD(meter), 0, 0, "X,Y,W,H|centre",
     "make the curve for this part of the picture, in pixels from the left and from the top; "
     "centre: the middle half of its columns and rows [all of it]"},
    {"bars", 0, OPTION_CHOICE, 0, FIELD(bars), 0, 0, "auto|ignore",
     "leave black bars out of the histogram, and as they are [auto]"},
    {"deflicker", 0, OPTION_NUMBER, 0, FIELD(deflicker), 0, 1, "X",
     "0 .. 1: evens out light that pumps in the source; needs a lookahead [0]"},
    {"lookahead", 0, OPTION_LOOKAHEAD, 0, FIELD(lookahead), 0, 10, "auto|off|SECONDS",
     "a second decoder measures up to 10 s ahead, so that curves know what follows; auto: 10 s "
     "when "
     "a video is written from a file [auto]"},
    {"range", 0, OPTION_CHOICE, 0, FIELD(range), 0, 0, "auto|limited|full",
     "override the stream's luma range [auto]"},
    {"code-range", 0, OPTION_CHOICE, 0, FIELD(code_range), 0, 0, "auto|used|full",
     "stretch gray video of more than 8 bits first; auto: if it uses few codes, as of thermal "
     "cameras; used: however many it uses; full: never [auto]"},
    {"deinterlace", 0, OPTION_CHOICE, 0, FIELD(deinterlace), 0, 0, "auto|on|off",
     "make whole frames of interlaced ones; on: of all frames; auto: of those that say so in the "
     "window, while files keep their fields [auto]"},
    {"reference", 0, OPTION_FLAG, 0, FIELD(reference), 0, 0, NULL,
     "textbook arithmetic, bit-exact with OpenCV's equalizeHist or, with --mode clahe, its CLAHE; "
     "8-bit only; what is said of strength, smoothing, chroma, dither and bars has no effect"},

    HEADING("Part of the input"),
    {"ss", 0, OPTION_TIME, COMMON | ONCE, FIELD(from_us), 0, 0, "TIME",
     "start here ([[HH:]MM:]SS[.m], or 90s, 1500ms)"},
    {"to", 0, OPTION_TIME, ONCE, FIELD(to_us), 0, 0, "TIME", "end here (a position in the input)"},
    {"frames", 0, OPTION_INTEGER, ONCE, FIELD(frames), 1, 1e12, "N", "at most so many frames"},

    HEADING("A long film, in parts; many files"),
    {"jobs", 0, OPTION_AUTO_NUMBER, ONCE, FIELD(jobs), 1, MAX_JOBS, "auto|N",
     "encode so many parts, or files into DIR/, at a time; auto: by the number of cores [all as "
     "one, file by file]"},
    {"devices", 0, OPTION_TEXT, 0, FIELD(devices), 0, 0, "all|N,N...",
     "with --jobs: spread the parts over these GPUs [--device]"},
    {"resume", 0, OPTION_FLAG, ONCE, FIELD(resume), 0, 0, NULL,
     "go on where a run with --jobs, or into DIR/, was broken off: what is done is left alone"},
    {"parts", 0, OPTION_INTEGER, ONCE, FIELD(parts), 1, MAX_PARTS, "N", "cut it into so many"},
    {"part-seconds", 0, OPTION_NUMBER, ONCE, FIELD(part_seconds), 0.1, 1e6, "S",
     "cut it into parts of so many seconds [60]"},
    {"no-measure", 0, OPTION_FLAG, ONCE, FIELD(no_measure), 0, 0, NULL,
     "of lumeq plan: only list the parts, which lumeq measure measures"},

    HEADING("Container and encoder"),
    {"format", 0, OPTION_TEXT, 0, FIELD(format), 0, 0, "NAME|help",
     "container; help lists them [by OUTPUT's name]"},
    {"vcodec", 0, OPTION_TEXT, COMMON, FIELD(vcodec), 0, 0, "NAME|help",
     "video encoder; help lists them [the container's usual one; mp4, mkv: libx264, 10 bits "
     "libx265]"},
    {"crf", 0, OPTION_NUMBER, COMMON, FIELD(crf), 0, 63, "X",
     "constant quality, lower is better [18; HEVC: 20]"},
    {"preset", 0, OPTION_TEXT, 0, FIELD(preset), 0, 0, "NAME",
     "speed of the encoder [libx264, libx265: medium]"},
    {"bitrate", 0, OPTION_RATE, 0, FIELD(bitrate), MIN_BITRATE, 1e12, "N[K|M]",
     "bits a second, instead of --crf; from 10K on"},
    {"pix-fmt", 0, OPTION_TEXT, 0, FIELD(pixel_format), 0, 0, "NAME|source|auto10",
     "pixel format; source: the source's; auto10: 10 bits where video is lifted or has them, if "
     "the encoder takes them [what most players take: 4:2:0; lossless: the source's]"},
    {"vopt", 0, OPTION_LIST, 0, FIELD(encoder_options), 0, 0, "KEY=VALUE",
     "any option of the video encoder; may be given several times"},

    HEADING("Tracks and tags (tracks of a kind count from 0)"),
    {"video-track", 0, OPTION_INTEGER, 0, FIELD(video_track), 0, MAX_TRACK, "N",
     "the video track to process [the longest]"},
    {"audio-track", 0, OPTION_INTEGER, 0, FIELD(audio_track), 0, MAX_TRACK, "N",
     "keep only this audio track [all]"},
    {"sub-track", 0, OPTION_TRACK, 0, FIELD(sub_track), 0, MAX_TRACK, "N|none",
     "keep only this subtitle track, or none [all]"},
    {"acodec", 0, OPTION_TEXT, 0, FIELD(acodec), 0, 0, "copy|NAME|none|help",
     "sound: as it is, with this encoder, or left out [copy]"},
    {"no-subs", 0, OPTION_FLAG, 0, FIELD(no_subs), 0, 0, NULL, "leave out the subtitles"},
    {"no-chapters", 0, OPTION_FLAG, 0, FIELD(no_chapters), 0, 0, NULL, "leave out the chapters"},
    {"no-metadata", 0, OPTION_FLAG, 0, FIELD(no_metadata), 0, 0, NULL, "leave out the tags"},

    HEADING("The window (? in it shows its keys)"),
    {"compare", 0, OPTION_CHOICE, COMMON, FIELD(compare), 0, 0, "off|split|side",
     "show the untouched picture as well: left of a line, or beside; also in OUTPUT [off]"},
    {"histogram", 0, OPTION_CHOICE, 0, FIELD(histogram), 0, 0, "off|panel|overlay",
     "beside the picture, or over it [panel]"},
    {"hist-scale", 0, OPTION_CHOICE, 0, FIELD(hist_scale), 0, 0, "linear|log",
     "how high bars are; log shows rare codes as well [linear]"},
    {"scope", 0, OPTION_CHOICE, 0, FIELD(scope), 0, 0, "histogram|waveform|vectorscope|all",
     "what the panel shows, also that of --overlay [histogram]"},
    {"osd-scale", 0, OPTION_NUMBER, 0, FIELD(osd_scale), 0.5, 4, "X",
     "0.5 .. 4: text and the bar, times the size that suits the window and the screen [1]"},
    {"loop", 0, OPTION_FLAG, 0, FIELD(loop), 0, 0, NULL, "begin again at the end"},
    {"loop-all", 0, OPTION_FLAG, 0, FIELD(loop_all), 0, 0, NULL,
     "of several files: begin again with the first after the last"},
    {"shuffle", 0, OPTION_FLAG, 0, FIELD(shuffle), 0, 0, NULL,
     "of several files: in an order by chance"},
    {"keep-open", 0, OPTION_CHOICE, 0, FIELD(keep_open), 0, 0, "auto|yes|no",
     "the last picture stays at the end; auto: of a file that was dropped on the window, or given "
     "by a person at a terminal [auto]"},
    {"screenshot-dir", 0, OPTION_TEXT, 0, FIELD(screenshot_dir), 0, 0, "DIR",
     "where screenshots go [beside the input]"},
    {"remember", 0, OPTION_FLAG, 0, FIELD(remember), 0, 0, NULL,
     "keep what is set in the window, its size, its volume and where each file was left, for the "
     "next time"},
    {"speed", 0, OPTION_NUMBER, ONCE, FIELD(speed), 0.25, 4, "X",
     "how fast it plays; the sound's pitch is kept [1]"},
    {"fullscreen", 0, OPTION_FLAG, 0, FIELD(fullscreen), 0, 0, NULL, "fill the screen"},
    {"volume", 0, OPTION_INTEGER, 0, FIELD(volume), 0, 100, "N", "in percent [100]"},
    {"mute", 0, OPTION_FLAG, 0, FIELD(mute), 0, 0, NULL, "begin without sound"},
    {"no-audio", 0, OPTION_FLAG, 0, FIELD(no_audio), 0, 0, NULL, "open no sound device"},

    HEADING("The camera"),
    {"camera", 0, OPTION_MAY_TEXT, ONCE, FIELD(camera), 0, 0, "DEV|N",
     "preview a camera: its device, or the number of /dev/videoN; with -o it is recorded, too, "
     "and with -o and --frames without a window [the first]"},
    {"list-devices", 0, OPTION_FLAG, ONCE, FIELD(list_devices), 0, 0, NULL,
     "show the cameras there are"},
    {"list-formats", 0, OPTION_MAY_TEXT, ONCE, FIELD(list_formats), 0, 0, "DEV|N",
     "show what a camera offers: formats, sizes and rates [of the first]"},
    {"video-size", 0, OPTION_SIZE, 0, FIELD(video_size), 1, 32767, "WxH",
     "of the camera's picture [the largest that comes 30 times a second]"},
    {"framerate", 0, OPTION_NUMBER, 0, FIELD(framerate), 1, 1000, "X",
     "of the camera, a second [the highest for the size]"},
    {"input-format", 0, OPTION_TEXT, 0, FIELD(input_format), 0, 0, "NAME",
     "of the camera, such as mjpeg or yuyv422 [what reaches the size at the highest rate]"},
    {"mirror", 0, OPTION_FLAG, 0, FIELD(mirror), 0, 0, NULL,
     "show it as in a mirror, the virtual camera's picture, too; what is recorded stays as it is"},
    {"virtual-camera", 0, OPTION_MAY_TEXT, ONCE, FIELD(virtual_camera), 0, 0, "DEV|N",
     "give the equalized picture, of any INPUT, to other programs as a camera, by v4l2loopback; "
     "with --null without a window [its first device]"},
    {"record-raw", 0, OPTION_FLAG, 0, FIELD(record_raw), 0, 0, NULL,
     "record what the camera sends, untouched, not the equalized picture"},
    {"low-latency", 0, OPTION_FLAG, 0, FIELD(low_latency), 0, 0, NULL,
     "of any live input (a pipe): the newest frame is shown at once; cameras are always; with -o - "
     "nothing is held back either, and a file comes in its own time"},

    HEADING("Where it runs"),
    {"backend", 0, OPTION_CHOICE, COMMON, FIELD(backend), 0, 0, "auto|cpu|cuda",
     "what computes; both give the same picture [auto]"},
    {"hwdec", 0, OPTION_CHOICE, 0, FIELD(hwdec), 0, 0, "auto|nvdec|no",
     "decode on the GPU that equalizes what it can decode, and leave frames there; auto: in the "
     "window, and where few cores would decode; damage inside of pictures is not told then [auto]"},
    {"device", 0, OPTION_INTEGER, 0, FIELD(device), 0, 255, "N", "number of the GPU [0]"},
    {"list-gpus", 0, OPTION_FLAG, ONCE, FIELD(list_gpus), 0, 0, NULL, "show the GPUs there are"},
    {"threads", 0, OPTION_INTEGER, 0, FIELD(threads), 0, 256, "N",
     "CPU threads; 0 = all cores [0]"},

    HEADING("What is let in"),
    {"network", 0, OPTION_FLAG, ONCE, FIELD(network), 0, 0, NULL,
     "let INPUT be a URL, such as http://, rtsp:// or udp://"},
    {"network-timeout", 0, OPTION_NUMBER, 0, FIELD(network_timeout), 1, 3600, "SECONDS",
     "without a byte for so long a URL counts as lost [10]"},
    {"reconnect", 0, OPTION_FLAG, 0, FIELD(reconnect), 0, 0, NULL,
     "open a URL again, after pauses of 1 to 30 s, whenever it ends, fails or is not there yet"},
    {"open-timeout", 0, OPTION_NUMBER, 0, FIELD(open_timeout), 1, 3600, "SECONDS",
     "give up a file that takes longer to open; pipes are waited for, URLs see above [60]"},
    {"allow-playlists", 0, OPTION_FLAG, 0, FIELD(allow_playlists), 0, 0, NULL,
     "open playlists, and the local files that a file refers to"},
    {"force-dolby-vision", 0, OPTION_FLAG, 0, FIELD(force_dovi), 0, 0, NULL,
     "process Dolby Vision profile 5 too, whose first plane is not luma: colours will be wrong"},
    {"max-pixels", 0, OPTION_INTEGER, 0, FIELD(max_pixels), 1, 2147483647, "N",
     "refuse larger frames [67108864 = 8192x8192]"},

    HEADING("Settings and messages"),
    {"config", 0, OPTION_TEXT, ONCE, FIELD(config), 0, 0, "FILE",
     "take settings from this file [$XDG_CONFIG_HOME/lumeq/config, if it is there]"},
    {"no-config", 0, OPTION_FLAG, ONCE, FIELD(no_config), 0, 0, NULL, "read no such file"},
    {"progress", 0, OPTION_CHOICE, 0, FIELD(progress), 0, 0, "auto|bar|json|none",
     "auto: a bar on a terminal; json: one object a line [auto]"},
    {"color", 0, OPTION_CHOICE, 0, FIELD(color), 0, 0, "auto|always|never",
     "auto: on a terminal, unless NO_COLOR is set [auto]"},
    {"quiet", 'q', OPTION_FLAG, 0, FIELD(quiet), 0, 0, NULL, "errors only"},
    {"verbose", 'v', OPTION_FLAG, 0, FIELD(verbose), 0, 0, NULL, "details, FFmpeg's messages too"},
    {"help", 'h', OPTION_HELP, ONCE, FIELD(help), 0, 0, "short|full",
     "the options needed most, or all of them [short]"},
    {"version", 0, OPTION_FLAG, ONCE, FIELD(version), 0, 0, NULL,
     "versions of the program and its libraries"},
    {"doctor", 0, OPTION_FLAG, ONCE, FIELD(doctor), 0, 0, NULL,
     "what lumeq finds on this machine, what is missing, and what to do about it"},
    {"json", 0, OPTION_FLAG, ONCE, FIELD(json), 0, 0, NULL,
     "of --doctor: one object of JSON, for programs"},
};

const int option_count = sizeof(option_table) / sizeof(option_table[0]);

_Static_assert(sizeof(option_table) / sizeof(option_table[0]) <= OPTION_MAX, "OPTION_MAX");

const Option *option_find(const char *name, size_t n)
{
    static const char before[] = "two-pass", now[] = "lookahead";
    if (n == strlen(before) && strncmp(name, before, n) == 0)
        return option_find(now, strlen(now));
    for (int i = 0; i < option_count; i++)
        if (option_table[i].name && strlen(option_table[i].name) == n &&
            strncmp(option_table[i].name, name, n) == 0)
            return &option_table[i];
    return NULL;
}

int option_is_given(const unsigned char *given, const char *name)
{
    return given[option_find(name, strlen(name)) - option_table];
}

const Option *option_nearest(const char *name, size_t n)
{
    Nearest nearest;
    nearest_start(&nearest, name, n);
    for (int i = 0; i < option_count; i++)
        if (option_table[i].name)
            nearest_try(&nearest, option_table[i].name, strlen(option_table[i].name), i);
    return nearest.index < 0 ? NULL : &option_table[nearest.index];
}

int option_may_stand_alone(const Option *option)
{
    return option->type == OPTION_FLAG || option->type == OPTION_HELP ||
           option->type == OPTION_MAY_TEXT || option->type == OPTION_MAY_INTEGER;
}

size_t option_size(const Option *option)
{
    switch (option->type) {
    case OPTION_FLAG:
    case OPTION_HELP:
    case OPTION_CHOICE:
    case OPTION_MODE:
    case OPTION_PROFILE: return sizeof(int);
    case OPTION_NUMBER:
    case OPTION_AUTO_NUMBER:
    case OPTION_LOOKAHEAD:
    case OPTION_ANY_NUMBER:
    case OPTION_OFF_NUMBER: return sizeof(double);
    case OPTION_TILES: return sizeof(OptionsTiles);
    case OPTION_SIZE: return sizeof(OptionsSize);
    case OPTION_PART: return sizeof(LumeqRect);
    case OPTION_INTEGER:
    case OPTION_MAY_INTEGER:
    case OPTION_TRACK:
    case OPTION_RATE:
    case OPTION_TIME: return sizeof(int64_t);
    case OPTION_MAY_TEXT:
    case OPTION_TEXT: return sizeof(const char *);
    case OPTION_LIST: return sizeof(((Options *)0)->encoder_options);
    }
    return 0;
}

void option_copy(const Option *option, Options *to, const Options *from)
{
    memcpy((char *)to + option->offset, (const char *)from + option->offset, option_size(option));
    if (option->offset == offsetof(Options, strength))
        to->is_profile_strength = from->is_profile_strength;
}
