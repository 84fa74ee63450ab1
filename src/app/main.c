#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/complete.h"
#include "app/doctor/doctor.h"
#include "app/headless.h"
#include "app/headless_many.h"
#include "app/job_run.h"
#include "app/options/option_table.h"
#include "app/options/options.h"
#include "app/play.h"
#include "app/recording.h"
#include "app/sample.h"
#include "app/sandbox.h"
#include "app/signals.h"
#include "app/terminal.h"
#include "media/error.h"
#include "media/input/source.h"
#include "media/input/url.h"
#include "media/log.h"
#include "media/output/codec_list.h"
#include "media/text_list.h"
#include "player/sound/microphone.h"

static atomic_int stop = RUN_ON;
static TextList own; /* URLs of the command line, with their secrets */

static int print_gpus(void)
{
    LumeqGpu gpus[16] = {{.size = sizeof(gpus[0])}};
    const int room = (int)(sizeof(gpus) / sizeof(gpus[0]));
    char why[256];
    const int count = lumeq_list_gpus(gpus, room, why, sizeof(why));
    if (count < 0) {
        say(count == LUMEQ_ERR_UNAVAILABLE ? SAY_NORMAL : SAY_ERRORS, "no usable GPU: %s", why);
        return count == LUMEQ_ERR_UNAVAILABLE ? EXIT_DONE : EXIT_USAGE;
    }
    for (int i = 0; i < count && i < room; i++)
        say_answer("%d: %s, %.0f GiB, %d multiprocessors, compute capability %d.%d", i,
                   gpus[i].name, (double)gpus[i].memory / (1 << 30), gpus[i].processors,
                   gpus[i].major, gpus[i].minor);
    return EXIT_DONE;
}

static int print_cameras(void)
{
    MediaError error = {0};
    CameraDevice *devices = NULL;
    const int count = camera_list_devices(&devices, &error);
    if (count < 0) {
        say(SAY_ERRORS, "%s", error.text);
        return -error.fault;
    }
    for (int i = 0; i < count; i++) {
        const CameraDevice *d = &devices[i];
        say_answer("%s: %s%s%s", d->path, *d->name ? d->name : "?", *d->bus ? ", " : "", d->bus);
        if (*d->problem)
            say_answer("   %s", d->problem);
    }
    camera_free(&devices);
    if (!count)
        say(SAY_NORMAL, "no camera found");
    return EXIT_DONE;
}

static int print_formats(const char *camera)
{
    MediaError error = {0};
    CameraDevice device, *devices = NULL;
    CameraMode *modes = NULL;
    if (!*camera && camera_list_devices(&devices, &error) <= 0)
        return print_cameras(); /* prints why */
    camera_free(&devices);
    const int count = camera_list_modes(*camera ? camera : NULL, &device, &modes, &error);
    if (count < 0) {
        say(SAY_ERRORS, "%s", error.text);
        return -error.fault;
    }
    say_answer("%s%s%s", device.path, *device.name ? ", " : "", device.name);
    for (int i = 0; i < count; i++) {
        const CameraMode *mode = &modes[i];
        char code[8], text[256];
        if (!i || modes[i - 1].fourcc != mode->fourcc) {
            camera_fourcc_text(mode->fourcc, code);
            if (mode->format)
                say_answer("%s (%s, %s)", mode->format, code, mode->description);
            else
                say_answer("%s (%s): not supported", code, mode->description);
            if (*camera_mode_advice(mode))
                say_answer("   %s", camera_mode_advice(mode));
        }
        camera_mode_text(mode, text, sizeof(text));
        say_answer("   %s", text);
    }
    camera_free(&modes);
    return EXIT_DONE;
}

static void print_microphones(void)
{
    MediaError error = {0};
    TextList names = {0};
    const int ret = microphone_list(&names, &error);
    for (int i = 0; i < names.count; i++)
        say_answer("%s", names.all[i]);
    if (!names.count)
        say(SAY_NORMAL, "%s", ret < 0 ? error.text : "no microphone found");
    text_list_free(&names);
}

static void print_encoders(void)
{
    for (int hardware = 1; hardware >= 0; hardware--) {
        void *at = NULL;
        for (const AVCodec *codec; (codec = codec_list_next(&at, hardware));)
            codec_list_encoder(codec, say_answer_line);
    }
}

/* Executes options such as --help and --version. Returns the exit code. */
static int print_information(const Options *options)
{
    const int version = lumeq_version();
    const char *list = options_with_help(options);
    char versions[256];
    int code = EXIT_DONE;
    media_versions(versions, sizeof(versions));
    if (options->help)
        options_print_help((OptionsHelp)options->help);
    else if (options->version)
        printf("lumeq %d.%d.%d\n%s\n%s\ncameras: V4L2\n", version / 1000000, version / 1000 % 1000,
               version % 1000, lumeq_build_info(), versions);
    else if (options->doctor)
        code = doctor_run(options->json, options->color == SAY_COLOR_ALWAYS);
    else if (list && strcmp(list, "microphone") == 0)
        print_microphones();
    else if (list && strcmp(list, "profile") == 0)
        profile_print_all();
    else if (list && strcmp(list, "vcodec") == 0)
        print_encoders();
    else if (list && strcmp(list, "acodec") == 0)
        codec_list_sound(say_answer_line);
    else if (list)
        codec_list_containers(say_answer_line);
    else if (options->list_devices)
        code = print_cameras();
    else if (options->list_formats)
        code = print_formats(options->list_formats);
    else
        code = print_gpus();
    if (fflush(stdout) == 0)
        return code;
    say(SAY_ERRORS, "cannot write to standard output: %s", strerror(errno));
    return EXIT_OUTPUT;
}

/* Overwrites secrets of URLs in the program's arguments, which `ps` shows to everybody. */
static void hide_secrets(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *shown = argv[i];
        if (!url_scheme_length(shown) || text_list_add(&own, shown) < 0)
            continue;
        argv[i] = own.all[own.count - 1];
        for (size_t at = 0, from = 0, n; (n = url_secret(argv[i], from, &at)); from = at + n)
            memset(shown + at, '*', n);
    }
}

/* Returns the first line of --password-file. The caller frees it, even after an error. */
static char *read_password(const char *path, MediaError *error)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    const ssize_t n = file ? getline(&line, &room, file) : -1;
    if (!file || ferror(file))
        media_fail(error, MEDIA_USAGE, "cannot read --password-file %s: %s", media_quote(path),
                   strerror(errno));
    else if (n <= 0 || strcspn(line, "\r\n") == 0)
        media_fail(error, MEDIA_USAGE, "--password-file %s: its first line is empty",
                   media_quote(path));
    if (file)
        (void)fclose(file);
    if (!error->fault)
        line[strcspn(line, "\r\n")] = '\0';
    return line;
}

/* Adds the password of --password-file to the URLs with a user. */
static int add_password(Options *o, MediaError *error)
{
    int added = 0;
    char *password = read_password(o->password_file, error);
    for (int i = 0; !error->fault && i < o->input_count; i++) {
        char *url =
            options_opens_url(o, o->inputs[i]) ? url_add_password(o->inputs[i], password) : NULL;
        if (url && text_list_add(&own, url) == 0)
            o->inputs[i] = own.all[own.count - 1], added++;
        free(url);
    }
    free(password);
    o->input = o->inputs[0];
    if (!error->fault && !added)
        media_fail(error, MEDIA_USAGE,
                   "--password-file needs a URL with a user and without a password, such as "
                   "rtsp://user@camera.lan/stream");
    return error->fault;
}

static int run(Options *options)
{
    MediaError error = {0};
    if (options_is_query(options))
        return print_information(options);
    say_set_verbosity(options_verbosity(options));
    media_log_install(options->verbose, say_detail, say_error);
    if (options->config_path)
        say(SAY_DETAILS, "settings file: %s", media_quote(options->config_path));
    if (options->password_file && add_password(options, &error) < 0) {
        say(SAY_ERRORS, "%s", error.text);
        return EXIT_USAGE;
    }
    signals_install(&stop);
    if (options_many(options))
        return headless_many_run(options, &stop);
    if (!options_headless(options)) {
        sandbox_enter_window(options);
        return play_run(options, &stop);
    }
    if (options->jobs != 0 || options->resume)
        return job_run(options, &stop);
    if (sandbox_enter(options, SANDBOX_RUN, &error) < 0) {
        say(SAY_ERRORS, "%s", error.text);
        return EXIT_USAGE;
    }
    if (options->sample)
        return sample_run(options, &stop);
    return options->camera ? recording_camera_run(options, &stop)
                           : headless_run(options, &stop, NULL);
}

/* If a thread is still opening a file, skips exit handlers, which free what the thread uses. */
static int end_program(int code)
{
    if (source_opening_is_abandoned()) {
        (void)fflush(NULL);
        _exit(code);
    }
    return code;
}

int main(int argc, char **argv)
{
    Options options;
    char text[1400];
    int code = EXIT_USAGE;
    signals_install(NULL);
    hide_secrets(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--complete") == 0) {
        complete(argc - 2, argv + 2);
        return EXIT_DONE;
    }
    if (job_is_command(argc, argv))
        return end_program(job_command(argc, argv, &stop));
    const int ret = options_parse(&options, argc, argv, text, sizeof(text));
    say_set_color((SayColor)options.color);
    if (ret < 0)
        say(SAY_ERRORS, "%s", text);
    else
        code = run(&options);
    options_free(&options);
    return end_program(code);
}
