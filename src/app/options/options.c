#include "app/options/options.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "app/terminal.h"
#include "media/input/network.h"
#include "media/picture_pattern.h"

Options options_default(void)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    return (Options){
        .mode = params.mode,
        .scene_cut = params.scene_cut,
        .strength = -1,
        .clip = params.clip,
        .denoise = params.denoise,
        .lookahead = -1,
        .gamma = params.gamma,
        .smooth = params.smooth,
        .tiles = {params.tiles_x, params.tiles_y},
        .from_us = -1,
        .to_us = -1,
        .frames = -1,
        .max_pixels = INT64_C(8192) * 8192,
        .video_track = -1,
        .audio_track = -1,
        .sub_track = -1,
        .crf = -1,
        .bitrate = -1,
        .histogram = 1,
        .volume = 100,
        .speed = 1,
        .osd_scale = 1,
        .sequence_rate = 25,
        .framerate = -1,
        .network = 1,
        .reconnect = -1,
        .network_timeout = 10,
        .open_timeout = 60,
#ifdef LUMEQ_SANDBOX_OFF
        .sandbox = OPTIONS_OFF,
#endif
    };
}

const char *options_with_help(const Options *o)
{
    const struct {
        const char *name, *value;
    } lists[] = {{"vcodec", o->vcodec},
                 {"acodec", o->acodec},
                 {"format", o->format},
                 {"microphone", o->microphone}};
    if (o->profile == PROFILE_HELP)
        return "profile";
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (lists[i].value && strcmp(lists[i].value, "help") == 0)
            return lists[i].name;
    return NULL;
}

int options_verbosity(const Options *o)
{
    if (o->quiet)
        return SAY_ERRORS;
    return o->verbose ? SAY_DETAILS : SAY_NORMAL;
}

bool options_is_query(const Options *o)
{
    return o->help || o->version || o->list_gpus || o->list_devices || o->list_formats ||
           o->doctor || options_with_help(o);
}

const char *options_input(const Options *o)
{
    if (o->input)
        return o->input;
    return o->camera && o->camera[0] ? o->camera : "the camera";
}

bool options_many(const Options *o)
{
    const size_t n = o->output ? strlen(o->output) : 0;
    return o->input && n > 0 && o->output[n - 1] == '/';
}

bool options_headless(const Options *o)
{
    return o->null_output || (o->output && (!o->camera || o->frames >= 0));
}

bool options_opens_url(const Options *o, const char *path)
{
    struct stat file;
    return o->network && !o->no_network && path && network_scheme(path) && stat(path, &file) < 0;
}

bool options_is_url(const Options *o)
{
    return options_opens_url(o, o->input);
}

int options_stat(const char *path, int standard, struct stat *file)
{
    return strcmp(path, "-") == 0 ? fstat(standard, file) : stat(path, file);
}

bool options_is_piped(const char *path)
{
    struct stat file;
    return path && (strcmp(path, "-") == 0 || (stat(path, &file) == 0 && !S_ISREG(file.st_mode)));
}

bool options_is_pictures(const Options *o, const char *path)
{
    struct stat file;
    if (!path || strcmp(path, "-") == 0)
        return 0;
    return (o->sequence && picture_pattern_is(path)) ||
           (stat(path, &file) == 0 && S_ISDIR(file.st_mode));
}

void options_free(Options *options)
{
    free(options->config_path);
    free(options->config_text);
    free(options->inputs);
    free(options->output_folder);
    *options = options_default();
}

int64_t options_lookahead(const Options *o)
{
    return o->lookahead > 0 ? llrint(o->lookahead * 1e9) : LUMEQ_MAX_LOOKAHEAD;
}

LumeqParams options_params(const Options *o, OptionsInput input)
{
    const int is_auto = o->strength < 0;
    return (LumeqParams){
        .size = sizeof(LumeqParams),
        .mode = o->mode,
        .reference = o->reference,
        .strength = is_auto ? LUMEQ_STRENGTH_AUTO : o->strength,
        .adaptive = is_auto,
        .clip = o->clip,
        .smooth = o->smooth,
        .scene_cut = o->scene_cut,
        .tiles_x = o->tiles.x,
        .tiles_y = o->tiles.y,
        .chroma = o->chroma,
        .dither = o->dither == OPTIONS_ON || (o->dither == OPTIONS_AUTO && input.fine),
        .bars = o->bars,
        .meter = o->meter,
        .lift = is_auto,
        .denoise = o->denoise,
        .brightness = o->brightness,
        .gamma = o->gamma,
        .limit = o->limit,
        .transfer = input.transfer,
        .await_noise = !input.still,
        .deflicker = input.ahead ? o->deflicker : 0,
    };
}
