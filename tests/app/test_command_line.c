/* Parsing of the command line: messages for wrong names and options, and effects of valid ones. */
#include <sched.h>
#include <stddef.h>

#include "app/engine.h"
#include "app/job_run.h"
#include "app/options/option_arguments.h"
#include "app/options/option_table.h"
#include "app/setup.h"
#include "folder.h"

#define MAX_WORDS 8

/* A command line, and a part of the message that refuses it, or NULL if it is accepted. */
typedef struct Line {
    const char *words[MAX_WORDS], *says;
} Line;

static void check_line(const Line *line)
{
    char *argv[MAX_WORDS + 2] = {(char *)"lumeq", (char *)"--no-config"};
    char text[1400] = "", typed[400] = "";
    Options options;
    int argc = 2;
    for (const char *const *word = line->words; *word; word++) {
        argv[argc++] = (char *)*word;
        strcat(strcat(typed, " "), *word);
    }
    const int ret = options_parse(&options, argc, argv, text, sizeof(text));
    if (line->says)
        CHECK(ret < 0 && strstr(text, line->says), "%s: '%s' lacks '%s'", typed, text, line->says);
    else
        CHECK(ret == 0, "%s is refused: '%s'", typed, text);
    options_free(&options);
}

static void check_lines(const Line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_line(&lines[i]);
}

#define CHECK_LINES(lines) check_lines(lines, sizeof(lines) / sizeof((lines)[0]))

TEST(several_names)
{
    static const char *const there[] = {"in.mp4", "b.mp4", "c.mp4"};
    static const Line lines[] = {
        {{"in.mp4", "out.mp4"},
         "2 names, 'in.mp4' to 'out.mp4', but lumeq takes one INPUT at a time; name the OUTPUT"},
        {{"in.mp4", "my out.mp4"}, "at a time; name the OUTPUT with -o"},
        {{"none.mp4", "out.mp4"}, "at a time; name the OUTPUT with -o"},
        {{"--mode", "clahe", "in.mp4", "--crf", "20", "out.mp4"},
         "at a time; name the OUTPUT with -o"},
        {{"in.mp4", "it's.mp4"}, "at a time; name the OUTPUT with -o"},
        {{"in.mp4", "two\nlines.mp4"}, "name the OUTPUT with -o"},
        {{"in.mp4", "-"}, "at a time; name the OUTPUT with -o"},
        {{"in.mp4", "--", "-out.mp4"}, "at a time; name the OUTPUT with -o"},
        {{"in.mp4", "b.mp4"}, NULL},
        {{"in.mp4", "b.mp4", "--shuffle", "--loop-all"}, NULL},
        {{"in.mp4", "-", "b.mp4"},
         "standard input is not a file; several INPUTs must be files or URLs"},
        {{"in.mp4", "http://h/x.mkv", "--network-timeout", "5"}, NULL},
        {{"http://h/x.mkv", "in.mp4", "rtsp://h/y"}, NULL},
        {{"http://h/x.mkv", "http://h/y.mkv", "--null"}, "lumeq takes one INPUT at a time"},
        {{"in.mp4", "b.mp4", "--network-timeout", "5"}, "--network-timeout needs a URL"},
        {{"in.mp4", "b.mp4", "--camera"}, "lumeq takes one INPUT"},
        {{"in.mp4", "b.mp4", "-o", "x.mp4"}, "lumeq takes one INPUT at a time"},
        {{"in.mp4", "none.mp4", "--null"}, "lumeq takes one INPUT at a time"},
        {{"in.mp4", "b.mp4", "out.mp4"},
         "3 names, 'in.mp4' to 'out.mp4', but lumeq takes one INPUT at a time; name the OUTPUT"},
        {{"in.mp4", "b.mp4", "c.mp4"}, NULL},
        {{"in.mp4", "b.mp4", "c.mp4", "--null"},
         "3 names, 'in.mp4' to 'c.mp4', but lumeq takes one INPUT"},
        {{"--camera", "out.mp4"},
         "--camera and the input 'out.mp4' contradict each other; name a device with ="},
        {{"--camera", "in.mp4"}, "name a device with =, as in --camera=/dev/video0"},
        {{"--camera", "/dev/video9"}, "name a device with =, as in --camera=/dev/video0"},
        {{"--camera", "0"}, "name a device with =, as in --camera=/dev/video0"},
        {{"--camera", "in2.mp4", "-o", "out.mp4"}, "name a device with ="},
        {{"--camera", "-"}, "--camera and standard input contradict each other"},
        {{"in.mp4", "-o", "out.mp4"}, NULL},
        {{"in.mp4", "out.mp4", "--help"}, NULL},
    };
    for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
        write_file(there[i], "", 0);
    CHECK(chdir(folder) == 0, "no folder");
    CHECK_LINES(lines);
}

TEST(options_of_other_programs)
{
    static const Line lines[] = {
        {{"-i", "in.mp4", "-o", "out.mp4"}, "-i is not needed: give INPUT alone"},
        {{"--input=in.mp4"}, "--input is not needed: "},
        {{"in.mp4", "-t", "5"}, "-t: use --to TIME, a position in the input, or --frames"},
        {{"in.mp4", "--length=5"}, "--length: use --to TIME"},
        {{"in.mp4", "-c:v", "libx264"}, "-c:v: use --vcodec NAME"},
        {{"in.mp4", "-vcodec", "libx264"}, "did you mean --vcodec?"},
        {{"in.mp4", "-an"}, "-an: use --vcodec NAME for the picture and --acodec copy|NAME|none"},
        {{"in.mp4", "-b:v", "2M"}, "-b:v: use --bitrate N"},
        {{"in.mp4", "--vf=eq"}, "--vf: there are no filters; use --mode"},
        {{"in.mp4", "-crf", "20"}, "did you mean --crf?"},
        {{"in.mp4", "-pix_fmt", "yuv420p"}, "did you mean --pix-fmt?"},
        {{"in.mp4", "-tune", "film"}, "-tune: use --crf X, or --vopt KEY=VALUE"},
        {{"in.mp4", "-hide_banner"}, "-hide_banner is not needed here"},
        {{"-?"}, "-?: use --help=full"},
        {{"in.mp4", "--mode=fog"},
         "--mode 'fog': must be one of global|off|clahe|stretch|haze; did you mean --profile fog?"},
        {{"in.mp4", "--mode", "night"}, "did you mean --profile night?"},
        {{"in.mp4", "--mode", "claeh"}, "did you mean clahe?"},
        {{"--camera", "--reconnect", "off", "--no-reconnect", "--network-timeout", "3"},
         "--network-timeout needs a URL"},
        {{"in.mp4", "-c:", "x"}, "unknown option '-c:'"},
        {{"in.mp4", "-9", "x"}, "unknown option '-9'"},
        {{"in.mp4", "-c9", "x"}, "unknown option '-c9'"},
    };
    CHECK_LINES(lines);
}

/* ---- a film in parts ---- */

/* Options that a step of a job sets itself, and those that a run with --jobs sets itself. */
static const char *const own[] = {"output", "stats",        "config",    "no-config",
                                  "parts",  "part-seconds", "no-measure"};
static const char *const own_of_run[] = {"jobs", "devices", "resume"};

#define IS_AMONG(list, name) is_among(list, sizeof(list) / sizeof((list)[0]), name)

static int is_among(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return 1;
    return 0;
}

/* Prints a valid value that is not the default. */
static void print_value(const Option *o, char *text, size_t size)
{
    static const char *const texts[][2] = {{"stats", "x.csv"}, {"devices", "0"}};
    const char *last = o->choices ? strrchr(o->choices, '|') : NULL;
    snprintf(text, size, "x");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(o->name, texts[i][0]) == 0)
            snprintf(text, size, "%s", texts[i][1]);
    switch (o->type) {
    case OPTION_FLAG: snprintf(text, size, "yes"); break;
    case OPTION_CHOICE: {
        const char *off = strstr(o->choices, "off|on") == o->choices ? "off" : last + 1;
        snprintf(text, size, "%s", off);
        break;
    }
    case OPTION_PROFILE: snprintf(text, size, "fog"); break;
    case OPTION_TILES:
    case OPTION_SIZE: snprintf(text, size, "4x4"); break;
    case OPTION_PART: snprintf(text, size, "0,0,8,8"); break;
    case OPTION_INTEGER:
    case OPTION_TRACK: snprintf(text, size, "%.0f", o->min + 1); break;
    case OPTION_BYTES: snprintf(text, size, "5M"); break;
    case OPTION_RATE: snprintf(text, size, "20K"); break;
    case OPTION_TIME: snprintf(text, size, "1"); break;
    case OPTION_LIST: snprintf(text, size, "a=b"); break;
    case OPTION_HELP:
    case OPTION_TEXT:
    case OPTION_MAY_TEXT: break;
    default: snprintf(text, size, "%g", o->max);
    }
}

/* Sets *name to NULL if the argument is --NAME=VALUE. */
static int note_argument(void *name, const char *argument)
{
    const char **left = name;
    const size_t n = *left ? strlen(*left) : 0;
    if (*left && strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, *left, n) == 0 &&
        argument[2 + n] == '=')
        *left = NULL;
    return 0;
}

/* Checks that the option is stored in the plan, may differ between steps, is set by the steps, or
 * is refused. */
static void check_in_parts(const Option *option, int is_plan)
{
    char value[64], argument[128], text[1400] = "";
    const char *left = option->name;
    Options options;
    print_value(option, value, sizeof(value));
    snprintf(argument, sizeof(argument), "--%s=%s", option->name, value);
    char *argv[] = {(char *)(is_plan ? "plan" : "lumeq"),
                    (char *)"in.mkv",
                    (char *)"-o",
                    (char *)"out.mkv",
                    (char *)"--no-config",
                    argument,
                    (char *)"--jobs=2"};
    const int argc = (int)(sizeof(argv) / sizeof(argv[0])) - is_plan;
    const int ret = is_plan ? options_parse_plan(&options, argc, argv, text, sizeof(text))
                            : options_parse(&options, argc, argv, text, sizeof(text));
    if (ret < 0)
        CHECK(strstr(text, left) && !option_arguments_may_differ(left, strlen(left)), "%s: %s",
              argument, text);
    if (ret == 0 && !option_arguments_may_differ(left, strlen(left)) && !IS_AMONG(own, left) &&
        (is_plan || !IS_AMONG(own_of_run, left))) {
        (void)option_arguments(&options, note_argument, &left);
        CHECK(!left, "%s has no effect in parts, and is not refused", argument);
    }
    options_free(&options);
}

TEST(options_in_parts)
{
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        const int is_question =
            o->name && (o->type == OPTION_HELP || !strncmp(o->name, "list-", 5) ||
                        !strcmp(o->name, "version") || !strcmp(o->name, "doctor"));
        if (!o->name || is_question)
            continue;
        check_in_parts(o, 0);
        check_in_parts(o, 1);
    }
}

/* ---- options that change the picture ---- */

static const char *const picture_options[] = {
    "mode",   "reference", "strength", "clip",  "denoise",    "smooth", "scene-cut", "tiles",
    "chroma", "dither",    "bars",     "meter", "brightness", "gamma",  "limit",     "deflicker"};

/* The parameters with this argument, or the defaults if it is NULL. */
static LumeqParams params_of(char *argument)
{
    char *argv[] = {(char *)"lumeq", (char *)"in.mkv", (char *)"--null", (char *)"--no-config",
                    argument};
    char text[1400] = "";
    Options options;
    const int ret = options_parse(&options, argument ? 5 : 4, argv, text, sizeof(text));
    CHECK(ret == 0, "%s: %s", argument ? argument : "no argument", text);
    const LumeqParams params = options_params(&options, (OptionsInput){.fine = 1, .ahead = 1});
    options_free(&options);
    return params;
}

#define MEMBER(name)                                                                               \
    {                                                                                              \
        offsetof(LumeqParams, name), sizeof(((LumeqParams *)0)->name)                              \
    }

/* Compares member by member, because padding may differ. */
static int is_same(const LumeqParams *a, const LumeqParams *b)
{
    static const struct {
        size_t offset, size;
    } members[] = {MEMBER(mode),       MEMBER(reference), MEMBER(strength),  MEMBER(adaptive),
                   MEMBER(clip),       MEMBER(smooth),    MEMBER(scene_cut), MEMBER(tiles_x),
                   MEMBER(tiles_y),    MEMBER(chroma),    MEMBER(dither),    MEMBER(bars),
                   MEMBER(deflicker),  MEMBER(meter),     MEMBER(lift),      MEMBER(denoise),
                   MEMBER(brightness), MEMBER(gamma),     MEMBER(limit),     MEMBER(await_noise)};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (memcmp((const char *)a + members[i].offset, (const char *)b + members[i].offset,
                   members[i].size) != 0)
            return 0;
    return 1;
}

TEST(options_reach_the_library)
{
    const LumeqParams usual = params_of(NULL), same = params_of(NULL);
    CHECK(is_same(&usual, &same), "two parses give different defaults");
    for (size_t i = 0; i < sizeof(picture_options) / sizeof(picture_options[0]); i++) {
        const char *name = picture_options[i];
        const Option *option = option_find(name, strlen(name));
        char value[64], argument[128];
        print_value(option, value, sizeof(value));
        snprintf(argument, sizeof(argument), "--%s=%s", name, value);
        const LumeqParams params = params_of(argument);
        CHECK(!is_same(&params, &usual), "%s changes nothing", argument);
    }
}

TEST(profiles_are_the_librarys)
{
    CHECK(!lumeq_profile_name(-1) && !lumeq_profile_name(profile_count),
          "numbers without a profile have names");
    for (int i = 0; i < profile_count; i++) {
        char argument[64], text[1400] = "";
        char *argv[] = {(char *)"lumeq", (char *)"in.mkv", (char *)"--null", (char *)"--no-config",
                        argument};
        Options options;
        LumeqParams p = {.size = sizeof(p)};
        const char *name = lumeq_profile_name(i);
        CHECK(name && lumeq_params_profile(&p, name) == 0, "%d: %s", i, lumeq_last_error(NULL));
        snprintf(argument, sizeof(argument), "--profile=%s", name);
        CHECK(options_parse(&options, 5, argv, text, sizeof(text)) == 0, "%s", text);
        const LumeqParams got = options_params(&options, (OptionsInput){0});
        CHECK(got.mode == p.mode && got.strength == p.strength && got.clip == p.clip &&
                  got.tiles_x == p.tiles_x && got.tiles_y == p.tiles_y && got.smooth == p.smooth &&
                  got.chroma == p.chroma && got.bars == p.bars && got.dither == p.dither &&
                  got.brightness == p.brightness && got.gamma == p.gamma && got.limit == p.limit &&
                  got.denoise == p.denoise && got.scene_cut == p.scene_cut &&
                  got.reference == p.reference,
              "--profile %s differs from the library's profile", name);
        CHECK((options.code_range == OPTIONS_CODE_RANGE_USED) ==
                  (p.code_range == LUMEQ_CODE_RANGE_USED),
              "--profile %s: the code range differs", name);
        options_free(&options);
    }
}

static int cores; /* number of cores that sched_getaffinity() reports */

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    CPU_ZERO_S(size, set);
    for (int i = 0; i < cores; i++)
        CPU_SET_S(i, size, set);
    return 0;
}

static void check_auto(int count, const char *encoder, int rows, int threads, int expected)
{
    Options o = options_default();
    o.output = "out.mkv";
    o.jobs = -1;
    o.vcodec = encoder;
    o.threads = threads;
    cores = count;
    const int jobs = job_run_at_a_time(&o, rows);
    CHECK(!setup_find_encoder(&o) || jobs == expected,
          "%s on %d cores, %d rows: %d at a time, not %d", encoder, count, rows, jobs, expected);
    o.jobs = 3;
    CHECK(job_run_at_a_time(&o, rows) == 3, "--jobs 3 is %d", job_run_at_a_time(&o, rows));
}

/* --jobs auto encodes several parts at once if one encoder does not use all cores. */
TEST(jobs_auto)
{
    static const struct {
        int cores;
        const char *encoder;
        int rows, threads, expected;
    } all[] = {
        {2, "mpeg4", 0, 0, 1},       {16, "mpeg4", 0, 0, 4},     {16, "ffv1", 0, 0, 4},
        {16, "libvpx-vp9", 0, 0, 4}, {16, "libx264", 0, 0, 1},   {16, "libx265", 0, 0, 1},
        {16, NULL, 0, 0, 1}, /* the default encoder: x264, if FFmpeg has it */
        {64, "libx264", 0, 0, 4},    {16, "libx264", 0, 8, 2},   {16, "libx264", 360, 0, 2},
        {16, "libx264", 144, 0, 4},  {16, "libx264", 720, 0, 1}, {64, "libx264", 720, 0, 5},
        {64, "libx264", 2160, 0, 4}, {16, "ffv1", 2160, 0, 4},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_auto(all[i].cores, all[i].encoder, all[i].rows, all[i].threads, all[i].expected);
}

/* ---- the decoder that --hwdec chooses (src/app/README.md) ---- */

static Options options_of(int hwdec, int headless, int threads)
{
    Options options = {.hwdec = hwdec, .null_output = headless, .threads = threads};
    return options;
}

TEST(hwdec_auto)
{
    static const struct {
        enum AVCodecID codec;
        int most; /* the GPU decodes for a file up to this number of cores */
    } rows[] = {{AV_CODEC_ID_H264, 4}, {AV_CODEC_ID_HEVC, 4}, {AV_CODEC_ID_VP9, 4},
                {AV_CODEC_ID_VP8, 3},  {AV_CODEC_ID_AV1, 3},  {AV_CODEC_ID_MPEG2VIDEO, 0},
                {AV_CODEC_ID_NONE, 4}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int threads = 1; threads < 17; threads++) {
            const Options written = options_of(OPTIONS_HWDEC_AUTO, 1, threads);
            const Options shown = options_of(OPTIONS_HWDEC_AUTO, 0, threads);
            CHECK(hwdec_choice(&written, rows[i].codec) == (threads <= rows[i].most),
                  "%s, %d cores: wrong choice", avcodec_get_name(rows[i].codec), threads);
            CHECK(hwdec_choice(&shown, rows[i].codec), "the CPU decodes for a window, %d cores",
                  threads);
        }
}

TEST(hwdec_forced)
{
    for (int i = 0; i < 4; i++) {
        const Options nvdec = options_of(OPTIONS_HWDEC_NVDEC, i & 1, i & 2 ? 16 : 1);
        const Options no = options_of(OPTIONS_HWDEC_NO, i & 1, i & 2 ? 16 : 1);
        CHECK(hwdec_choice(&nvdec, AV_CODEC_ID_H264), "the CPU decodes in spite of --hwdec nvdec");
        CHECK(!hwdec_choice(&no, AV_CODEC_ID_H264), "the GPU decodes in spite of --hwdec no");
    }
}

TEST_MAIN
