#include "player/playlist.h"

#include <stdio.h>
#include <string.h>

#include "player/status.h"

/* Decoded frames in GPU memory: waiting frames, frames in the equalizer, and the current frame. */
#define GPU_FRAMES 16

/* Switch to the next file after this time even if its first frame is not ready. */
#define FIRST_FRAME_US 3000000

/* Called by the decoding threads. */
static void wake_for_decoded(void *opaque)
{
    equalize_stage_wake(((const Player *)opaque)->stage);
    window_wake(NULL);
}

/* Track numbers apply only to the first file; "none" applies to all files. */
static PlaybackOptions playback_options(Player *p, const Source *source, const char *path,
                                        int first)
{
    const int part = !p->dropped.count; /* --ss, --to and --frames are not for dropped files */
    return (PlaybackOptions){
        .video = {.decoder = {.memory = p->options.stage.memory,
                              .threads = p->options.threads,
                              .gpu = p->options.gpu,
                              .gpu_frames = GPU_FRAMES,
                              .budget = p->options.gpu_budget,
                              .codes = {.mode = p->options.codes, .levels = p->options.range}},
                  .range = p->options.range,
                  .deinterlace = p->options.deinterlace,
                  .from_us = -1,
                  .to_us = part ? p->options.to_us : -1,
                  .frames = part ? p->options.frames : -1,
                  .shown = 1,
                  .wake = wake_for_decoded,
                  .opaque = p},
        .audio_track = first ? p->options.audio_track : FFMIN(p->options.audio_track, 0),
        .sub_track = first ? p->options.sub_track : FFMIN(p->options.sub_track, 0),
        .path = S_ISREG(source->file.st_mode) && strcmp(path, "-") != 0 && p->options.sub_track >= 0
                    ? path
                    : NULL,
        .sub_file = first ? p->options.sub_file : NULL,
        .no_audio = p->options.no_audio,
        .sound_later = !first,
        .speed = first ? p->options.speed : played(p)->speed,
        .packet = first ? p->host->packet : NULL,
        .opaque = p->host->opaque,
    };
}

bool playlist_is_part(const Player *p)
{
    return p->options.from_us >= 0 || p->options.to_us >= 0 || p->options.frames >= 0;
}

static int open_playback(Player *p, Playback **next, Source *source, const char *path,
                         MediaError *error)
{
    const int first = !p->playback;
    const PlaybackOptions options = playback_options(p, source, path, first);
    InputStart start = {.position = AV_NOPTS_VALUE};
    char at[32];
    if (!p->dropped.count && p->options.from_us > 0) {
        start.position = p->options.from_us;
    } else if (!source->live && !(first && playlist_is_part(p))) {
        const int64_t left = p->host->where_left(p->host->opaque, path, source);
        if (left > 0) {
            start.position = left;
            status_position(left, 0, at, sizeof(at));
            screen_say(p->screen, "Resuming at %s; press Home to start over", at);
        }
    }
    *next = playback_open(source, &options, &start);
    return *next ? 0 : media_fail(error, MEDIA_INPUT, "out of memory");
}

void playlist_set_title(Player *p)
{
    char title[PATH_MAX + 96];
    status_title(played(p)->source, p->path, &p->files, p->titled * 1000000,
                 playback_duration(p->playback), title, sizeof(title));
    window_set_title(p->seen->window, title);
}

void player_show_subtitles(Player *p)
{
    const PlaybackState *b = played(p);
    subtitle_thread_select(p->subtitles, b->file ? b->file->source : b->source, b->subtitle);
    p->kept = 0;
    p->kept_end = playback_subtitles(p->playback)->count;
}

static void show_playback(Player *p, const char *path)
{
    snprintf(p->path, sizeof(p->path), "%s", path);
    playback_equalize(p->playback, p->stage);
    playback_set_volume(p->playback, p->options.volume, p->options.mute);
    playback_set_sound_delay(p->playback, p->wanted.sound_delay);
    player_show_subtitles(p);
    p->titled = 0;
    playlist_set_title(p);
}

int playlist_open(Player *p, Source *source, const char *path, MediaError *error)
{
    int ret = open_playback(p, &p->playback, source, path, error);
    if (ret >= 0)
        ret = playback_wait(p->playback, error);
    if (ret < 0)
        playback_give_back(&p->playback);
    else
        show_playback(p, path);
    return ret;
}

void playlist_note_position(const Player *p)
{
    if (p->shown && p->shown->count)
        p->host->note_left(p->host->opaque, p->path, played(p)->source, player_position(p),
                           p->ended);
}

static FileList *next_list(Player *p)
{
    return p->dropped.count ? &p->dropped : &p->files;
}

static void drop_next(Player *p)
{
    playback_close_later(p->playback, &p->next.playback);
    p->next.path[0] = '\0';
}

static int replace_playback(Player *p)
{
    LumeqParams params;
    const int ret = p->host->replace(p->host->opaque, &params);
    if (ret < 0)
        return ret;
    playlist_note_position(p);
    showing_drop(p->showing);
    equalize_stage_set(p->stage, &params);
    playback_set_speed(p->next.playback, played(p)->speed, clock_now());
    playback_close_later(p->next.playback, &p->playback);
    p->playback = p->next.playback;
    p->next.playback = NULL;
    p->steps = p->steps_back = 0;
    if (p->dropped.count) { /* dropped files replace the playlist */
        const int round = p->files.round;
        file_list_clear(&p->files);
        p->files = p->dropped;
        p->dropped = (FileList){.at = -1, .round = round};
        p->options.from_us = p->options.to_us = p->options.frames = -1;
        p->options.keep_open = p->options.keep_dropped;
    }
    p->files.at = p->next.at;
    p->wanted.from = p->wanted.to = -1;
    p->wanted.subtitle_delay = 0; /* belongs to the file; sound_delay belongs to the device */
    p->ended = 0;
    p->broken = (MediaError){0};
    show_playback(p, p->next.path);
    return 0;
}

static int take_next(Player *p, MediaError *error)
{
    int ret = playback_poll(p->next.playback, error);
    if (ret == AVERROR(EAGAIN))
        return ret;
    if (ret >= 0)
        ret = input_look(playback_state(p->next.playback)->input, error);
    if (ret == AVERROR_EOF)
        ret = media_fail(error, MEDIA_INPUT, "no frame could be decoded");
    else if (ret == AVERROR(EAGAIN))
        ret = clock_now() - p->next.since < FIRST_FRAME_US ? ret : 0;
    if (ret >= 0)
        ret = p->next.waits ? AVERROR(EAGAIN) : replace_playback(p);
    return ret;
}

/* Continues to open the next file. Returns AVERROR(EAGAIN) while the file is not ready. */
static int poll_file(Player *p, MediaError *error)
{
    MediaError why = {0};
    Source *source = NULL;
    int ret = p->next.playback ? 0 : p->host->take_opened(p->host->opaque, &source, error);
    if (ret < 0)
        return ret;
    if (source) {
        p->next.since = clock_now();
        ret = open_playback(p, &p->next.playback, source, p->next.path, &why);
    }
    if (ret < 0)
        source_close(&source);
    else
        ret = take_next(p, &why);
    if (ret < 0 && ret != AVERROR(EAGAIN))
        media_fail(error, why.fault, "cannot play %s: %s", media_quote(p->next.path), why.text);
    return ret;
}

void playlist_say_failed(Player *p, const char *why)
{
    screen_say(p->screen, "%s", why);
    if (next_list(p)->count > 1)
        p->host->note(why);
}

void playlist_start(Player *p, int at, int step, int waits)
{
    FileList *list = next_list(p);
    drop_next(p);
    while (at >= 0 && at != list->at) {
        MediaError why = {0};
        p->next.at = at;
        p->next.step = step;
        p->next.waits = waits;
        snprintf(p->next.path, sizeof(p->next.path), "%s", list->entries[at].name);
        if (p->host->start_opening(p->host->opaque, list->entries[at].path, &why) >= 0)
            return;
        playlist_say_failed(p, why.text);
        list->entries[at].failed = 1;
        at = file_list_find(list, at, step);
    }
    p->next.path[0] = '\0';
    file_list_clear(&p->dropped);
}

void playlist_poll(Player *p)
{
    MediaError error = {0};
    FileList *list = next_list(p);
    const Next tried = p->next;
    const int ret = poll_file(p, &error);
    if (ret == AVERROR(EAGAIN))
        return;
    drop_next(p);
    if (ret >= 0)
        return;
    playlist_say_failed(p, error.text);
    list->entries[tried.at].failed = 1;
    playlist_start(p, file_list_find(list, tried.at, tried.step), tried.step, tried.waits);
}

void playlist_change(Player *p, int at, int step)
{
    file_list_clear(&p->dropped);
    if (p->next.path[0] && p->next.playback && p->next.at == at && p->next.waits)
        p->next.waits = 0;
    else
        playlist_start(p, at, step, 0);
}

void playlist_drop(Player *p, const char *path, int adds)
{
    if (subtitle_file_is_name(path)) {
        if (!adds) /* subtitles dropped with their video are found beside it */
            playback_add_file(p->playback, path);
        return;
    }
    if (!adds)
        file_list_clear(&p->dropped);
    FileList *list = adds ? next_list(p) : &p->dropped;
    if (p->host->list_files(p->host->opaque, path, list) < 0)
        screen_say(p->screen, "out of memory");
    if (adds || !p->dropped.count)
        return;
    playlist_start(p, 0, 1, 0);
    if (p->dropped.count)
        p->dropped.at = 0; /* files added later follow this file */
}

int playlist_following(const Player *p)
{
    const int at = file_list_find(&p->files, p->files.at, 1);
    return at == p->files.at ? -1 : at;
}
