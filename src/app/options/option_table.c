#include "app/options/option_table.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_TRACK 9999
#define MAX_JOBS 256     /* processes at once */
#define MAX_PARTS 99999  /* the same as JOB_MAX_PARTS */
#define MIN_BITRATE 10e3 /* a smaller number probably lacks its K or M */

#define FIELD(name) offsetof(Options, name)
#define HEADING(text)                                                                              \
    {                                                                                              \
        NULL, 0, OPTION_FLAG, 0, 0, 0, 0, NULL, text                                               \
    }
#define COMMON OPTION_COMMON
#define ONCE OPTION_ONCE
#define WINDOW OPTION_WINDOW
#define UNPLANNED OPTION_UNPLANNED
#define MACHINE OPTION_MACHINE

const Option option_table[] = {
    HEADING("Output"),
    {"output", 'o', OPTION_TEXT, COMMON | ONCE | UNPLANNED, FIELD(output), 0, 0, "OUTPUT",
     "processed video, or DIR/; - is standard output"},
    {"recursive", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(recursive), 0, 0, NULL,
     "include subfolders of an INPUT folder"},
    {"sequence", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(sequence), 0, 0, NULL,
     "treat a name like frame%04d.png as numbered pictures of one video"},
    {"sequence-rate", 0, OPTION_NUMBER, UNPLANNED, FIELD(sequence_rate), 0.01, 1000, "X",
     "frame rate of numbered pictures or of a folder of pictures [25]"},
    {"null", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(null_output), 0, 0, NULL,
     "process without writing video: for timing, --stats or --report"},
    {"overwrite", 'y', OPTION_FLAG, COMMON | ONCE | MACHINE, FIELD(overwrite), 0, 0, NULL,
     "replace existing files"},
    {"segment-time", 0, OPTION_NUMBER, ONCE | UNPLANNED, FIELD(segment_time), 1, 1e6, "SECONDS",
     "split output into pieces of this length; OUTPUT has to contain the time, as in "
     "cam-%Y%m%d-%H%M%S.mkv"},
    {"keep", 0, OPTION_BYTES, ONCE | UNPLANNED, FIELD(keep), 1e6, 1e15, "N[M|G|T]",
     "with --segment-time: delete the oldest pieces of OUTPUT when all together exceed this many "
     "bytes; counts only pieces recorded with --keep [keep all]"},
    {"sample", 0, OPTION_MAY_INTEGER, ONCE | UNPLANNED, FIELD(sample), 1, OPTIONS_SAMPLE_MAX, "N",
     "try N pieces of 6 s, estimate time and size of the whole run, and draw before and after into "
     "OUTPUT.sample.png; write nothing else [8]"},
    {"overlay", 0, OPTION_FLAG, 0, FIELD(overlay), 0, 0, NULL,
     "draw the histogram panel into the written video"},
    {"stats", 0, OPTION_TEXT, ONCE | UNPLANNED, FIELD(stats), 0, 0, "FILE.csv|FILE.jsonl",
     "write statistics, one row per frame; jsonl includes the histograms"},
    {"report", 0, OPTION_TEXT, ONCE | UNPLANNED, FIELD(report), 0, 0, "FILE.html|FILE.json",
     "write a quality report: figures, plots, pictures of each shot; needs -o or --null"},

    HEADING("Picture"),
    {"mode", 0, OPTION_CHOICE, COMMON, FIELD(mode), 0, 0, "global|off|clahe|stretch|haze",
     "global: one curve; off: no equalization; clahe: a curve per tile; stretch: a linear curve; "
     "haze: like global, but always clears haze [global]"},
    {"profile", 0, OPTION_PROFILE, COMMON, FIELD(profile), 0, 0, "NAME|help",
     "settings for a kind of video [none]"},
    {"strength", 0, OPTION_AUTO_NUMBER, COMMON, FIELD(strength), 0, 1, "auto|X",
     "0: unchanged, 1: fully equalized; auto: chosen for each scene; lifts dark scenes [auto]"},
    {"clip", 0, OPTION_ANY_NUMBER, 0, FIELD(clip), 1, LUMEQ_MAX_CLIP, "auto|X",
     "limit each bin of the histogram to X times the mean, 1 or more; 0: no limit; auto: depends "
     "on the noise [auto]"},
    {"denoise", 0, OPTION_OFF_NUMBER, 0, FIELD(denoise), 0, 1, "auto|off|X",
     "filter noise where dark video is lifted, across a few frames; X: strength from 0 (off) to 1; "
     "auto: 1 [auto]"},
    {"tiles", 0, OPTION_TILES, 0, FIELD(tiles), 1, LUMEQ_MAX_TILES, "CxR",
     "columns and rows of tiles, for --mode clahe [8x8]"},
    {"brightness", 0, OPTION_NUMBER, 0, FIELD(brightness), -1, 1, "X",
     "-1 to 1: darken or lighten midtones before equalizing; black and white stay [0]"},
    {"gamma", 0, OPTION_NUMBER, 0, FIELD(gamma), LUMEQ_MIN_GAMMA, LUMEQ_MAX_GAMMA, "X",
     "0.1 to 10: map midtones x to x^(1/X) before equalizing; above 1 is lighter [1]"},
    {"limit", 0, OPTION_CHOICE, 0, FIELD(limit), 0, 0, "none|darken|lighten",
     "only darken, or only lighten, the picture [none]"},
    {"smooth", 0, OPTION_NUMBER, COMMON, FIELD(smooth), 0, LUMEQ_MAX_SMOOTH, "SECONDS",
     "time constant of changes; 0: at once [0.5]"},
    {"scene-cut", 0, OPTION_CHOICE, 0, FIELD(scene_cut), 0, 0, "off|on",
     "switch to the new curve at once after a cut [on]"},
    {"chroma", 0, OPTION_CHOICE, 0, FIELD(chroma), 0, 0, "scale|keep",
     "scale saturation with luma, or keep it [scale]"},
    {"dither", 0, OPTION_CHOICE, 0, FIELD(dither), 0, 0, "auto|on|off",
     "dither fractions of codes; auto: in the window and for lossless or deeper output [auto]"},
    {"meter", 0, OPTION_PART, 0, FIELD(meter), 0, 0, "X,Y,W,H|centre",
     "make the curve from this part of the picture, in pixels from the top left; centre: the "
     "middle half of its columns and rows [all of it]"},
    {"bars", 0, OPTION_CHOICE, 0, FIELD(bars), 0, 0, "auto|ignore",
     "auto: leave black bars unchanged and out of the histogram; ignore: treat them as picture "
     "[auto]"},
    {"deflicker", 0, OPTION_NUMBER, 0, FIELD(deflicker), 0, 1, "X",
     "0 to 1: even out flickering light of the source; needs a lookahead [0]"},
    {"lookahead", 0, OPTION_LOOKAHEAD, 0, FIELD(lookahead), 0, 10, "auto|off|SECONDS",
     "let curves see up to 10 s ahead, measured by a second decoder; auto: 10 s when writing video "
     "from a file [auto]"},
    {"range", 0, OPTION_CHOICE, 0, FIELD(range), 0, 0, "auto|limited|full",
     "override the luma range of the stream [auto]"},
    {"code-range", 0, OPTION_CHOICE, 0, FIELD(code_range), 0, 0, "auto|used|full",
     "first stretch gray video of more than 8 bits; auto: if it uses few codes, as thermal "
     "cameras do; used: always; full: never [auto]"},
    {"deinterlace", 0, OPTION_CHOICE, 0, FIELD(deinterlace), 0, 0, "auto|on|off",
     "turn fields into whole frames; auto: frames marked as interlaced, in the window only; on: "
     "all frames [auto]"},
    {"reference", 0, OPTION_FLAG, 0, FIELD(reference), 0, 0, NULL,
     "textbook arithmetic, bit-exact with OpenCV's equalizeHist or, with --mode clahe, its CLAHE; "
     "8-bit only; strength, smoothing, chroma, dither and bars are ignored"},

    HEADING("Part of the input"),
    {"ss", 0, OPTION_TIME, COMMON | ONCE, FIELD(from_us), 0, 0, "TIME",
     "start here ([[HH:]MM:]SS[.m], or 90s, 1500ms)"},
    {"to", 0, OPTION_TIME, ONCE, FIELD(to_us), 0, 0, "TIME", "end here (a position in the input)"},
    {"frames", 0, OPTION_INTEGER, ONCE, FIELD(frames), 1, 1e12, "N", "stop after N frames"},

    HEADING("Long films in parts; many files"),
    {"jobs", 0, OPTION_AUTO_NUMBER, ONCE | UNPLANNED, FIELD(jobs), 1, MAX_JOBS, "auto|N",
     "encode N parts at once, or N files into DIR/; auto: by the number of cores [no parts, one "
     "file at a time]"},
    {"devices", 0, OPTION_TEXT, UNPLANNED, FIELD(devices), 0, 0, "all|N,N...",
     "with --jobs: spread the parts or files over these GPUs [--device]"},
    {"resume", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(resume), 0, 0, NULL,
     "continue an interrupted run of --jobs or into DIR/; keep finished parts and files"},
    {"parts", 0, OPTION_INTEGER, ONCE | UNPLANNED, FIELD(parts), 1, MAX_PARTS, "N",
     "number of parts of the film [by --part-seconds]"},
    {"part-seconds", 0, OPTION_NUMBER, ONCE | UNPLANNED, FIELD(part_seconds), 0.1, 1e6, "S",
     "length of each part, in seconds [60]"},
    {"no-measure", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(no_measure), 0, 0, NULL,
     "for lumeq plan: list the parts but leave measuring to lumeq measure"},

    HEADING("Container and encoder"),
    {"format", 0, OPTION_TEXT, 0, FIELD(format), 0, 0, "NAME|help",
     "container; help lists them [by OUTPUT's name]"},
    {"vcodec", 0, OPTION_TEXT, COMMON, FIELD(vcodec), 0, 0, "NAME|help",
     "video encoder; help lists them [the container's usual one]"},
    {"crf", 0, OPTION_NUMBER, COMMON, FIELD(crf), 0, 63, "X",
     "constant quality; lower is better [18; HEVC: 20]"},
    {"preset", 0, OPTION_TEXT, 0, FIELD(preset), 0, 0, "NAME",
     "encoder speed [libx264, libx265: medium]"},
    {"bitrate", 0, OPTION_RATE, 0, FIELD(bitrate), MIN_BITRATE, 1e12, "N[K|M]",
     "bits per second, instead of --crf; at least 10K"},
    {"pix-fmt", 0, OPTION_TEXT, 0, FIELD(pixel_format), 0, 0, "NAME|source|auto10",
     "pixel format; source: that of the input; auto10: 10 bits if video is lifted or has more "
     "than 8 bits, and if the encoder can [4:2:0, which most players need; lossless: source]"},
    {"vopt", 0, OPTION_LIST, 0, FIELD(encoder_options), 0, 0, "KEY=VALUE",
     "any option of the video encoder; may be repeated"},

    HEADING("Tracks and tags (tracks of each kind count from 0)"),
    {"video-track", 0, OPTION_INTEGER, 0, FIELD(video_track), 0, MAX_TRACK, "N",
     "video track to process [the default one, else the largest]"},
    {"audio-track", 0, OPTION_INTEGER, 0, FIELD(audio_track), 0, MAX_TRACK, "N",
     "keep only this audio track [all]"},
    {"sub-track", 0, OPTION_TRACK, 0, FIELD(sub_track), 0, MAX_TRACK, "N|none",
     "keep only this subtitle track, or none [all]"},
    {"sub-file", 0, OPTION_TEXT, ONCE | WINDOW, FIELD(sub_file), 0, 0, "FILE",
     "subtitles for the window [files named like the video, such as film.srt or film.en.ass]"},
    {"acodec", 0, OPTION_TEXT, 0, FIELD(acodec), 0, 0, "copy|NAME|none|help",
     "copy sound, encode it with NAME, or drop it; help lists encoders [copy]"},
    {"no-subs", 0, OPTION_FLAG, 0, FIELD(no_subs), 0, 0, NULL, "drop subtitles"},
    {"no-chapters", 0, OPTION_FLAG, 0, FIELD(no_chapters), 0, 0, NULL, "drop chapters"},
    {"no-metadata", 0, OPTION_FLAG, 0, FIELD(no_metadata), 0, 0, NULL, "drop tags"},

    HEADING("Window (press ? in it for its keys)"),
    {"compare", 0, OPTION_CHOICE, COMMON, FIELD(compare), 0, 0, "off|split|side",
     "show the original too: left of a line, or side by side; also in OUTPUT [off]"},
    {"histogram", 0, OPTION_CHOICE, WINDOW, FIELD(histogram), 0, 0, "off|panel|overlay",
     "show the histogram, also in fullscreen; panel: beside the picture; overlay: over it [panel; "
     "fullscreen: off]"},
    {"hist-scale", 0, OPTION_CHOICE, 0, FIELD(hist_scale), 0, 0, "linear|log",
     "height of bars; log also shows rare codes [linear]"},
    {"scope", 0, OPTION_CHOICE, 0, FIELD(scope), 0, 0, "histogram|waveform|vectorscope|all",
     "what the panel shows, also with --overlay [histogram]"},
    {"osd-scale", 0, OPTION_NUMBER, WINDOW, FIELD(osd_scale), 0.5, 4, "X",
     "0.5 to 4: size of text and seek bar, times the automatic size [1]"},
    {"idle", 0, OPTION_FLAG, WINDOW, FIELD(idle), 0, 0, NULL,
     "if INPUT is missing or cannot be played, open the window and wait for a file"},
    {"loop", 0, OPTION_FLAG, WINDOW, FIELD(loop), 0, 0, NULL, "repeat the file"},
    {"loop-all", 0, OPTION_FLAG, WINDOW, FIELD(loop_all), 0, 0, NULL, "repeat the list of files"},
    {"shuffle", 0, OPTION_FLAG, WINDOW, FIELD(shuffle), 0, 0, NULL, "play files in random order"},
    {"keep-open", 0, OPTION_CHOICE, WINDOW, FIELD(keep_open), 0, 0, "auto|yes|no",
     "keep the last picture at the end; auto: if the file was dropped on the window or opened from "
     "a terminal [auto]"},
    {"screenshot-dir", 0, OPTION_TEXT, WINDOW, FIELD(screenshot_dir), 0, 0, "DIR",
     "folder for screenshots [beside the input]"},
    {"remember", 0, OPTION_FLAG, WINDOW, FIELD(remember), 0, 0, NULL,
     "remember the window's settings, size and volume, and each file's position"},
    {"speed", 0, OPTION_NUMBER, ONCE | WINDOW, FIELD(speed), 0.25, 4, "X",
     "playback speed; the pitch of sound is kept [1]"},
    {"fullscreen", 0, OPTION_FLAG, WINDOW, FIELD(fullscreen), 0, 0, NULL, "fill the screen"},
    {"volume", 0, OPTION_INTEGER, WINDOW, FIELD(volume), 0, 100, "N", "volume in percent [100]"},
    {"mute", 0, OPTION_FLAG, WINDOW, FIELD(mute), 0, 0, NULL, "start muted"},
    {"no-audio", 0, OPTION_FLAG, WINDOW, FIELD(no_audio), 0, 0, NULL, "open no sound device"},

    HEADING("Camera"),
    {"camera", 0, OPTION_MAY_TEXT, ONCE | UNPLANNED, FIELD(camera), 0, 0, "DEV|N",
     "preview a camera, by device or by the number of /dev/videoN; -o also records it, and -o with "
     "--frames opens no window [the first]"},
    {"list-devices", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(list_devices), 0, 0, NULL,
     "list cameras"},
    {"list-formats", 0, OPTION_MAY_TEXT, ONCE | UNPLANNED, FIELD(list_formats), 0, 0, "DEV|N",
     "list a camera's formats, sizes and frame rates [the first camera]"},
    {"video-size", 0, OPTION_SIZE, UNPLANNED, FIELD(video_size), 1, 32767, "WxH",
     "size of the camera's picture [the largest with 30 frames per second]"},
    {"framerate", 0, OPTION_NUMBER, UNPLANNED, FIELD(framerate), 1, 1000, "X",
     "frames per second of the camera [the highest for the size]"},
    {"input-format", 0, OPTION_TEXT, UNPLANNED, FIELD(input_format), 0, 0, "NAME",
     "format of the camera, such as mjpeg, yuyv422 or y16 (16-bit gray) [the one with the highest "
     "rate]"},
    {"mirror", 0, OPTION_FLAG, UNPLANNED, FIELD(mirror), 0, 0, NULL,
     "mirror the window and the virtual camera, but not recordings"},
    {"virtual-camera", 0, OPTION_MAY_TEXT, ONCE | UNPLANNED, FIELD(virtual_camera), 0, 0, "DEV|N",
     "offer the equalized picture of any INPUT to other programs as a camera, through PipeWire or, "
     "with DEV, v4l2loopback; with --null, no window opens [PipeWire if it runs, else the first "
     "v4l2loopback]"},
    {"record-raw", 0, OPTION_FLAG, UNPLANNED, FIELD(record_raw), 0, 0, NULL,
     "record the camera's stream untouched, not the equalized picture"},
    {"microphone", 0, OPTION_TEXT, UNPLANNED, FIELD(microphone), 0, 0, "NAME|off|help",
     "microphone whose sound is recorded with a camera; help lists them [the default one]"},
    {"low-latency", 0, OPTION_FLAG, UNPLANNED, FIELD(low_latency), 0, 0, NULL,
     "for live input from a pipe: show the newest frame at once, as cameras always do; with -o -: "
     "hold nothing back, and read files in real time"},

    HEADING("Hardware"),
    {"backend", 0, OPTION_CHOICE, COMMON | MACHINE, FIELD(backend), 0, 0, "auto|cpu|cuda",
     "where to compute; the picture is the same [auto]"},
    {"hwdec", 0, OPTION_CHOICE, MACHINE, FIELD(hwdec), 0, 0, "auto|nvdec|no",
     "decode on the GPU that equalizes, and keep frames there; corrupt frames are then not "
     "reported; auto: in the window, and if the CPU has few cores [auto]"},
    {"device", 0, OPTION_INTEGER, MACHINE, FIELD(device), 0, 255, "N", "GPU number [0]"},
    {"list-gpus", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(list_gpus), 0, 0, NULL, "list GPUs"},
    {"threads", 0, OPTION_INTEGER, MACHINE, FIELD(threads), 0, 256, "N",
     "CPU threads; 0: all cores [0]"},

    HEADING("Network and limits"),
    {"network", 0, OPTION_FLAG, MACHINE, FIELD(network), 0, 0, NULL,
     "open an INPUT that is a URL, such as http://, rtsp:// or udp:// [yes]"},
    {"no-network", 0, OPTION_FLAG, ONCE | MACHINE, FIELD(no_network), 0, 0, NULL,
     "refuse URLs; so does network = off in the settings file"},
    {"password-file", 0, OPTION_TEXT, ONCE | UNPLANNED, FIELD(password_file), 0, 0, "FILE",
     "read the password of a URL's USER@ from the first line of FILE, where other users cannot see "
     "it"},
    {"network-timeout", 0, OPTION_NUMBER, UNPLANNED, FIELD(network_timeout), 1, 3600, "SECONDS",
     "treat a URL as lost after this long without data [10]"},
    {"reconnect", 0, OPTION_FLAG, UNPLANNED, FIELD(reconnect), 0, 0, NULL,
     "reopen a URL that ends, fails or is not up yet, after pauses of 1 to 30 s; off: never, and "
     "end if the camera is lost [only live streams that have begun]"},
    {"no-reconnect", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(no_reconnect), 0, 0, NULL,
     "same as --reconnect=off"},
    {"open-timeout", 0, OPTION_NUMBER, MACHINE, FIELD(open_timeout), 1, 3600, "SECONDS",
     "give up on a file that takes longer to open; pipes may take any time; for URLs, see "
     "--network-timeout [60]"},
    {"allow-playlists", 0, OPTION_FLAG, 0, FIELD(allow_playlists), 0, 0, NULL,
     "open playlists, and other local files that a file refers to"},
    {"force-dolby-vision", 0, OPTION_FLAG, 0, FIELD(force_dovi), 0, 0, NULL,
     "process Dolby Vision profile 5 anyway; its first plane is not luma, so colours will be "
     "wrong"},
    {"max-pixels", 0, OPTION_INTEGER, 0, FIELD(max_pixels), 1, 2147483647, "N",
     "refuse larger frames [67108864 = 8192x8192]"},
    {"sandbox", 0, OPTION_CHOICE, MACHINE, FIELD(sandbox), 0, 0, "auto|on|off",
     "for runs without a window: give up the rights to other files, programs and sockets before "
     "the input is opened; auto: as far as the kernel can; on: fail if the kernel cannot [auto]"},

    HEADING("Settings and messages"),
    {"config", 0, OPTION_TEXT, ONCE | UNPLANNED, FIELD(config), 0, 0, "FILE",
     "read settings from this file [$XDG_CONFIG_HOME/lumeq/config, if it exists]"},
    {"no-config", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(no_config), 0, 0, NULL,
     "read no settings file"},
    {"progress", 0, OPTION_CHOICE, MACHINE, FIELD(progress), 0, 0, "auto|bar|json|none",
     "auto: a bar on a terminal; json: one object per line [auto]"},
    {"color", 0, OPTION_CHOICE, MACHINE, FIELD(color), 0, 0, "auto|always|never",
     "auto: on a terminal, unless NO_COLOR is set [auto]"},
    {"quiet", 'q', OPTION_FLAG, MACHINE, FIELD(quiet), 0, 0, NULL, "errors only"},
    {"verbose", 'v', OPTION_FLAG, MACHINE, FIELD(verbose), 0, 0, NULL,
     "details, including FFmpeg's messages"},
    {"help", 'h', OPTION_HELP, ONCE | UNPLANNED, FIELD(help), 0, 0, "short|full",
     "show the most common options, or all of them [short]"},
    {"version", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(version), 0, 0, NULL,
     "show the versions of lumeq and its libraries"},
    {"doctor", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(doctor), 0, 0, NULL,
     "show what this machine offers and lacks, and how to fix it"},
    {"json", 0, OPTION_FLAG, ONCE | UNPLANNED, FIELD(json), 0, 0, NULL,
     "with --doctor: print one JSON object"},
};

const int option_count = sizeof(option_table) / sizeof(option_table[0]);

_Static_assert(sizeof(option_table) / sizeof(option_table[0]) <= OPTION_MAX, "OPTION_MAX");

const Option *option_find(const char *name, size_t n)
{
    static const char old_name[] = "two-pass", new_name[] = "lookahead";
    if (n == strlen(old_name) && strncmp(name, old_name, n) == 0)
        return option_find(new_name, strlen(new_name));
    for (int i = 0; i < option_count; i++)
        if (option_table[i].name && strlen(option_table[i].name) == n &&
            strncmp(option_table[i].name, name, n) == 0)
            return &option_table[i];
    return NULL;
}

bool option_is_given(const unsigned char *given, const char *name)
{
    return given[option_find(name, strlen(name)) - option_table];
}

const Option *option_find_letter(char letter)
{
    for (int i = 0; i < option_count; i++)
        if (letter && option_table[i].letter == letter)
            return &option_table[i];
    return NULL;
}

const Option *option_nearest(const char *name, size_t n)
{
    const Option *nearest = NULL;
    int best = NOT_SIMILAR;
    for (const Option *o = option_table; o < option_table + option_count; o++) {
        const int distance = o->name ? name_distance(name, n, o->name, strlen(o->name)) : best;
        if (distance < best) {
            best = distance;
            nearest = o;
        }
    }
    return nearest;
}

int option_may_stand_alone(const Option *option)
{
    return option->type == OPTION_FLAG || option->type == OPTION_HELP ||
           option->type == OPTION_MAY_TEXT || option->type == OPTION_MAY_INTEGER;
}

/* ---- typos ---- */

#define LONGEST 40   /* letters of a name; longer names are not compared */
#define MIN_PREFIX 2 /* fewest letters that may abbreviate a name */
#define WRONG_PART 3 /* one letter in three may be wrong; in a short name, one letter */

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance, ignoring case: number of letters to insert, remove, replace or
 * swap with their neighbour. Both names have at most LONGEST letters. */
static int edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            now[j] = min(min(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                now[j] = min(now[j], before[j - 2] + 1);
        }
        int *const free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

int name_distance(const char *typed, size_t n, const char *name, size_t length)
{
    const int allowed = n < 2 * WRONG_PART ? 1 : (int)n / WRONG_PART;
    if (n == 0 || n > LONGEST || length > LONGEST)
        return NOT_SIMILAR;
    int distance = edit_distance(typed, n, name, length);
    if (n >= MIN_PREFIX && n < length && strncasecmp(typed, name, n) == 0)
        distance = min(distance, 1);
    return distance > allowed ? NOT_SIMILAR : distance;
}

/* ---- profiles ---- */

const Profile profiles[] = {
    {"fog",
     "fog, haze, smoke: removes the veil, near and far, and brings out some grain",
     {{"mode", "haze"}, {"strength", "1"}}},
    {"medical-gray",
     "X-ray, ultrasound and the like: mild local contrast, little smoothing over time",
     {{"mode", "clahe"},
      {"strength", "1"},
      {"clip", "2"},
      {"tiles", "4x4"},
      {"smooth", "0.1"},
      {"chroma", "keep"},
      {"bars", "ignore"}}},
    {"night",
     "rooms, roads and faces in the dark: lighter than the default",
     {{"brightness", "0.13"}}},
    {"screen",
     "screen recordings: more contrast, and flat colours stay flat",
     {{"mode", "stretch"}, {"strength", "0.8"}, {"dither", "off"}}},
    {"surveillance",
     "fixed cameras: makes every part of the picture readable, with slow changes",
     {{"mode", "clahe"}, {"strength", "0.9"}, {"clip", "2.8"}, {"tiles", "4x3"}, {"smooth", "2"}}},
    {"thermal",
     "thermal cameras: stretches the used codes and adds local contrast, with slow changes",
     {{"code-range", "used"},
      {"mode", "clahe"},
      {"strength", "0.8"},
      {"clip", "4"},
      {"tiles", "4x3"},
      {"smooth", "2"}}},
    {"water",
     "under water: removes the veil of the water, like fog, and some of its colour",
     {{"mode", "haze"}, {"strength", "1"}}},
};

const int profile_count = sizeof(profiles) / sizeof(profiles[0]);
