#include "player/playback.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "media/input/damage.h"
#include "media/input/track_choice.h"

/* For a step back, sound is decoded from this long before the position: longer than a frame. */
#define BEFORE_US 500000

/* Frames that are later than this are not equalized if newer ones are available. */
#define LATE_US 5000

/* After the last live picture, buffered sound plays for at most this long. A sender faster than
 * real time may have sent much more. */
#define PLAY_OUT_US 500000

/* Maximum number of fetched frames. The second frame's position decides whether a late first frame
 * is dropped. */
#define AHEAD 2

/* Work that can block on threads, the input or the sound device; the worker thread does it. */
typedef struct PlaybackWork {
    pthread_t thread;
    int running;
    atomic_int done;      /* the thread is done, and the loop may use the members below */
    atomic_int overtaken; /* the loop has requested another start */
    int starts;           /* true: restarts all threads at `start` */
    int sounds;           /* true: starts the sound */
    InputStart start;
    const AVStream *asked, *sound; /* the requested track; the playing track, or NULL */
    double speed;
    int64_t sound_delay; /* as in Playback */
    Audio *audio;        /* of the playback; NULL: not opened yet */
    char trouble[320];   /* see Playback */
    char add[PATH_MAX];  /* the subtitle file to open, or "" */
    SubtitleFile *added; /* the opened file, or NULL */
    Playback *to_close;  /* playbacks to close first, because only one can use the sound device */
    MediaError error;
} PlaybackWork;

/* While the worker thread runs, only it opens, starts and stops the input and its demuxer. */
struct Playback {
    PlaybackOptions options;
    PlaybackState state;  /* owns its source */
    Demuxer *demuxer;     /* of state.input */
    EqualizeStage *stage; /* borrowed; NULL before playback_equalize() */
    Audio *audio;         /* NULL: no sound */
    char trouble[320]; /* why there is no sound or subtitle, until playback_take_trouble(); or "" */
    char *path;        /* options.path */
    char add[PATH_MAX];        /* the subtitle file to open next, or "" */
    const SubtitleFile *added; /* the next result of playback_take_file(), or NULL */
    PacketStore subtitles;     /* packets of all subtitle tracks so far */

    PlaybackWork work;
    int wants_start, wants_sound; /* work to start after the current work */
    Playback *to_close, *next_to_close;

    Frame *ahead[AHEAD];
    Frame *redone;    /* the shown frame, equalized again with other settings, or NULL */
    int64_t ended_at; /* when the end of a live source was noticed; 0: not yet, or paused */
    int64_t skipped;  /* frames that the decoder skipped to catch up */

    Clock clock;
    Sync sync;
    int64_t stopped_at;  /* position of the paused sound */
    int volume, muted;   /* as in audio.h */
    int64_t sound_delay; /* see playback_set_sound_delay() */
};

const PlaybackState *playback_state(const Playback *p)
{
    return &p->state;
}

/* ---- the worker thread ---- */

/* `number`: the track's number plus 1; 0: the best track; -1: none. */
static int choose(const Playback *p, enum AVMediaType type, int number, const AVStream **stream,
                  MediaError *error)
{
    *stream =
        number ? track_find(p->state.source, type, number - 1) : track_best(p->state.source, type);
    if (number > 0 && !*stream)
        return media_fail(error, MEDIA_USAGE,
                          "there is no %s track %d; the input has %d, counted from 0",
                          type == AVMEDIA_TYPE_AUDIO ? "audio" : "subtitle", number - 1,
                          track_count(p->state.source, type));
    return 0;
}

static bool has_file(const Playback *p, const char *path)
{
    for (int i = 0; i < p->state.file_count; i++)
        if (strcmp(p->state.files[i]->source->format->url, path) == 0)
            return 1;
    return 0;
}

/* Fails only if options.sub_file cannot be opened. Errors of other files are only shown. */
static int open_files(Playback *p)
{
    const PlaybackOptions *o = &p->options;
    PlaybackWork *w = &p->work;
    char *paths[PLAYBACK_FILES];
    SubtitleFile *file;
    if (o->sub_file) {
        if (subtitle_file_open(&file, o->sub_file, &w->error) < 0)
            return w->error.fault;
        p->state.files[p->state.file_count++] = file;
    }
    const int count = o->path ? subtitle_file_find(o->path, paths, PLAYBACK_FILES - 1) : 0;
    for (int i = 0; i < count; i++) {
        MediaError why = {0};
        if (!has_file(p, paths[i]) && subtitle_file_open(&file, paths[i], &why) >= 0)
            p->state.files[p->state.file_count++] = file;
        else if (why.fault)
            snprintf(w->trouble, sizeof(w->trouble), "%.300s", why.text);
        free(paths[i]);
    }
    if (p->state.file_count && (o->sub_file || o->sub_track == 0))
        playback_select_file(p, p->state.files[0]);
    return 0;
}

static int open_all(Playback *p)
{
    const PlaybackOptions *o = &p->options;
    MediaError *error = &p->work.error;
    const int track = o->no_audio ? -1 : o->audio_track;
    if (choose(p, AVMEDIA_TYPE_AUDIO, track, &p->work.sound, error) < 0 ||
        choose(p, AVMEDIA_TYPE_SUBTITLE, o->sub_track, &p->state.subtitle, error) < 0 ||
        open_files(p) < 0 || input_open(&p->state.input, p->state.source, &o->video, error) < 0)
        return error->fault;
    p->demuxer = input_demuxer(p->state.input);
    demuxer_tap(p->demuxer, o->packet, o->opaque);
    return 0;
}

static void stop_threads(Playback *p, Audio *audio)
{
    if (p->state.input)
        input_stop(p->state.input);
    if (audio)
        audio_stop(audio);
}

static int start_pictures(Playback *p)
{
    PlaybackWork *w = &p->work;
    demuxer_select(p->demuxer, DEMUX_AUDIO, w->sound);
    return input_start(p->state.input, &w->start, &w->error);
}

static int open_and_start_sound(Playback *p, MediaError *error)
{
    PlaybackWork *w = &p->work;
    int64_t position = w->start.position;
    if (position != AV_NOPTS_VALUE && w->start.before)
        position -= BEFORE_US; /* playback_arrived() skips to the exact position */
    if (!w->audio) {
        if (audio_open(&w->audio, w->sound, error) < 0)
            return -1;
        /* paused until playback_arrived() */
        audio_queue_pause(audio_queue(w->audio), 1, clock_now());
    }
    if (position != AV_NOPTS_VALUE)
        position -= w->sound_delay;
    return audio_start(w->audio, p->demuxer, source_start(p->state.source), position, w->speed,
                       error);
}

/* Without a sound device, or if the track cannot be decoded, only pictures are played. */
static void start_sound(Playback *p)
{
    PlaybackWork *w = &p->work;
    MediaError why = {0};
    if (!w->sound || p->options.sound_later || open_and_start_sound(p, &why) >= 0)
        return;
    demuxer_give_up(p->demuxer, DEMUX_AUDIO);
    w->sound = NULL;
    snprintf(w->trouble, sizeof(w->trouble), "No sound: %.256s", why.text);
}

static void close_others(Playback *first)
{
    while (first) {
        Playback *next = first->next_to_close;
        playback_close(&first);
        first = next;
    }
}

static void *work_main(void *arg)
{
    Playback *p = arg;
    PlaybackWork *w = &p->work;
    close_others(w->to_close);
    int ret = p->state.input ? 0 : open_all(p);
    if (ret >= 0 && w->starts) {
        stop_threads(p, w->audio);
        if (!atomic_load(&w->overtaken))
            ret = start_pictures(p);
    }
    if (ret >= 0 && w->sounds && !atomic_load(&w->overtaken))
        start_sound(p);
    MediaError why = {0};
    if (w->add[0] && subtitle_file_open(&w->added, w->add, &why) < 0)
        snprintf(w->trouble, sizeof(w->trouble), "%.300s", why.text);
    atomic_store(&w->done, 1);
    p->options.video.wake(p->options.video.opaque);
    SDL_TLSCleanup(); /* frees SDL's last error, which SDL does only in threads that it started */
    return NULL;
}

/* ---- the loop ---- */

static void begin_work(Playback *p)
{
    PlaybackWork *w = &p->work;
    *w = (PlaybackWork){
        .starts = p->wants_start,
        .sounds = p->wants_start || p->wants_sound,
        .start = p->state.start,
        .asked = p->state.sound,
        .sound = p->state.sound,
        .speed = p->state.speed,
        .sound_delay = p->sound_delay,
        .audio = p->audio,
        .to_close = p->to_close,
    };
    memcpy(w->add, p->add, sizeof(w->add));
    w->running = pthread_create(&w->thread, NULL, work_main, p) == 0;
    if (!w->running) {
        (void)media_fail(&w->error, MEDIA_INPUT, "cannot start a thread to play the input");
        return;
    }
    p->wants_start = p->wants_sound = 0;
    p->to_close = NULL;
    p->add[0] = '\0';
}

/* Takes over the results. The loop may have changed the playback's members meanwhile. */
static void end_work(Playback *p)
{
    PlaybackWork *w = &p->work;
    if (!w->running)
        return;
    pthread_join(w->thread, NULL);
    w->running = 0;
    p->audio = w->audio;
    if (p->state.sound == w->asked)
        p->state.sound = w->sound;
    if (w->trouble[0])
        memcpy(p->trouble, w->trouble, sizeof(p->trouble));
    if (w->added && p->state.file_count < PLAYBACK_FILES)
        p->state.files[p->state.file_count++] = p->added = w->added;
    else
        subtitle_file_close(&w->added);
    w->added = NULL;
    playback_set_volume(p, p->volume, p->muted);
    if (p->audio)
        audio_set_speed(p->audio, p->state.speed);
}

int playback_poll(Playback *p, MediaError *error)
{
    PlaybackWork *w = &p->work;
    if (w->running && !atomic_load(&w->done))
        return AVERROR(EAGAIN);
    end_work(p);
    if (!w->error.fault && (p->wants_start || p->wants_sound || p->to_close || p->add[0]))
        begin_work(p);
    if (w->running)
        return AVERROR(EAGAIN);
    if (w->error.fault)
        return media_fail(error, w->error.fault, "%s", w->error.text);
    if (p->stage && !p->state.attached)
        equalize_stage_attach(p->stage, p->state.input, p->state.source->live);
    p->state.attached = p->stage != NULL;
    return 0;
}

int playback_wait(Playback *p, MediaError *error)
{
    int ret;
    while ((ret = playback_poll(p, error)) == AVERROR(EAGAIN))
        end_work(p);
    return ret;
}

Playback *playback_open(Source *source, const PlaybackOptions *options, const InputStart *start)
{
    Playback *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->options = *options;
    if (options->path && !(p->options.path = p->path = strdup(options->path))) {
        free(p);
        return NULL;
    }
    p->state.source = source;
    p->options.video.decoder.lossless = playback_can_seek(p);
    p->clock.speed = p->state.speed = options->speed;
    p->volume = AUDIO_MAX_VOLUME;
    p->state.start = *start;
    p->state.pending = p->wants_start = 1;
    return p;
}

void playback_drop_ahead(Playback *p)
{
    for (int i = 0; i < p->state.ahead; i++)
        frame_free(&p->ahead[i]);
    p->state.ahead = 0;
    p->state.ended = 0;
}

/* Takes no more frames from the stage, drops all frames, and pauses sound and clock. */
static void detach(Playback *p)
{
    if (p->stage)
        equalize_stage_detach(p->stage);
    p->state.attached = 0;
    if (p->audio)
        audio_queue_pause(audio_queue(p->audio), 1, clock_now());
    playback_drop_ahead(p);
    frame_free(&p->redone);
    clock_pause(&p->clock, clock_now(), 1);
}

void playback_start(Playback *p, const InputStart *start)
{
    const InputStart wanted = *start; /* `start` may point to state.start */
    detach(p);
    p->state.start = wanted;
    p->state.pending = p->wants_start = 1;
    atomic_store(&p->work.overtaken, 1);
}

void playback_equalize(Playback *p, EqualizeStage *stage)
{
    p->stage = stage;
    p->wants_sound = p->options.sound_later;
    p->options.sound_later = 0;
}

void playback_close_later(Playback *p, Playback **other)
{
    Playback *o = *other;
    *other = NULL;
    if (!o)
        return;
    detach(o);
    o->stage = NULL;
    o->next_to_close = p->to_close;
    p->to_close = o;
}

void playback_select_audio(Playback *p, const AVStream *stream, int64_t position)
{
    const InputStart here = {.position = position};
    p->state.sound = stream;
    playback_start(p, &here);
}

static void stop(Playback *p)
{
    end_work(p);
    detach(p);
    stop_threads(p, p->audio);
}

/* ---- frames ---- */

int playback_fetch(Playback *p, int count, MediaError *error)
{
    while (p->state.ahead < count && !p->state.ended) {
        Frame *frame;
        const int ret = equalize_stage_receive(p->stage, &frame, error);
        if (ret == AVERROR(EAGAIN))
            return 0;
        if (ret < 0) {
            p->state.ended = 1;
            return ret == AVERROR_EOF ? 0 : ret;
        }
        if (ret > 0) {
            frame_free(&p->redone);
            p->redone = frame;
        } else {
            p->ahead[p->state.ahead++] = frame;
        }
    }
    return 0;
}

int playback_fetch_newest(Playback *p, MediaError *error)
{
    int ret = playback_fetch(p, 2, error);
    while (ret >= 0 && p->state.ahead > 1) {
        Frame *older = playback_take(p);
        frame_free(&older);
        p->sync.dropped++;
        ret = playback_fetch(p, 2, error);
    }
    return ret;
}

const Frame *playback_next(const Playback *p)
{
    return p->ahead[0];
}

Frame *playback_take_redone(Playback *p)
{
    Frame *redone = p->redone;
    p->redone = NULL;
    return redone;
}

Frame *playback_take(Playback *p)
{
    Frame *first = p->ahead[0];
    p->skipped += first->decoded.skipped;
    equalize_stage_taken(p->stage, first);
    p->state.ahead--;
    for (int i = 0; i < p->state.ahead; i++)
        p->ahead[i] = p->ahead[i + 1];
    return first;
}

int64_t playback_dropped(const Playback *p)
{
    return p->sync.dropped + p->skipped;
}

int64_t playback_late(const Playback *p)
{
    return p->sync.late;
}

/* ---- time ---- */

int64_t playback_heard(const Playback *p, int64_t now)
{
    int64_t position;
    if (!p->audio || p->state.paused || p->state.pending ||
        !audio_queue_position(audio_queue(p->audio), now, &position))
        return AV_NOPTS_VALUE;
    return position + p->sound_delay;
}

bool playback_is_silent(const Playback *p, int64_t now)
{
    return !p->audio || audio_queue_is_over(audio_queue(p->audio), now);
}

bool playback_update_end(Playback *p, int64_t now)
{
    if (p->state.paused || !p->state.ended) {
        p->ended_at = 0; /* a pause does not count, because the sound is paused, too */
        return false;
    }
    if (!p->ended_at)
        p->ended_at = now;
    return p->state.pending || playback_is_silent(p, now) || now - p->ended_at >= PLAY_OUT_US;
}

static void run(Playback *p, int64_t now)
{
    if (p->audio)
        audio_queue_pause(audio_queue(p->audio), p->state.paused, clock_now());
    clock_pause(&p->clock, now, p->state.paused);
}

void playback_arrived(Playback *p, int64_t now)
{
    const Decoded *first = &p->ahead[0]->decoded;
    const int64_t frame = first->position;
    const int64_t asked = p->state.start.position;
    const int inside = asked != AV_NOPTS_VALUE && !p->state.start.before && asked >= frame &&
                       asked < frame + first->duration;
    const int64_t position = inside ? asked : frame;
    p->state.pending = 0;
    p->stopped_at = position;
    if (p->audio && !inside && asked != AV_NOPTS_VALUE)
        audio_queue_skip(audio_queue(p->audio), position - p->sound_delay);
    clock_set(&p->clock, now, position, !playback_is_silent(p, now));
    run(p, now);
}

int64_t playback_time(Playback *p, int64_t now)
{
    const int64_t heard = playback_heard(p, now);
    if (heard != AV_NOPTS_VALUE)
        clock_follow(&p->clock, now, heard);
    return clock_position(&p->clock, now);
}

bool playback_check_late(Playback *p, int64_t lead_us, int64_t now)
{
    (void)playback_time(p, now);
    return clock_until(&p->clock, now, p->ahead[0]->decoded.position) < lead_us;
}

/* Without sound, the clock follows a jump of timestamps. So a frame that is more than SYNC_JUMP_US
 * behind the clock is not late. */
void playback_update_late(Playback *p, int64_t now)
{
    const int64_t time = playback_time(p, now);
    const int by_sound = playback_heard(p, now) != AV_NOPTS_VALUE;
    equalize_stage_set_late(p->stage, by_sound ? INT64_MIN : time - SYNC_JUMP_US, time - LATE_US);
}

SyncAction playback_decide(Playback *p, int64_t lead_us, int64_t now, int64_t *wait_us,
                           int64_t *due)
{
    const Decoded *first = &p->ahead[0]->decoded;
    const SyncFrame frame = {
        .position = first->position,
        .duration = first->duration,
        .next = p->state.ahead > 1 ? p->ahead[1]->decoded.position : SYNC_NO_FRAME,
    };
    (void)playback_time(p, now);
    p->sync.lead_us = lead_us;
    const int by_sound = playback_heard(p, now) != AV_NOPTS_VALUE;
    const SyncAction action = sync_decide(&p->sync, &p->clock, now, by_sound, &frame, wait_us);
    if (action == SYNC_JUMP)
        clock_set(&p->clock, now, frame.position, 0);
    *due = now + clock_until(&p->clock, now, frame.position);
    return action;
}

void playback_pause(Playback *p, int paused, int64_t shown, int64_t now)
{
    if (paused == p->state.paused)
        return;
    p->state.paused = paused;
    if (p->state.pending)
        return; /* playback_arrived() applies the pause */
    if (paused) {
        p->stopped_at = shown;
    } else {
        if (p->audio && shown != p->stopped_at) /* the user stepped through frames */
            audio_queue_skip(audio_queue(p->audio), shown - p->sound_delay);
        clock_set(&p->clock, now, shown, !playback_is_silent(p, now));
    }
    run(p, now);
}

void playback_set_speed(Playback *p, double speed, int64_t now)
{
    p->state.speed = speed;
    clock_set_speed(&p->clock, now, speed);
    if (p->audio)
        audio_set_speed(p->audio, speed);
}

void playback_set_volume(Playback *p, int volume, int muted)
{
    p->volume = volume;
    p->muted = muted;
    if (p->audio)
        audio_set_volume(p->audio, volume, muted);
}

void playback_set_sound_delay(Playback *p, int64_t delay)
{
    p->sound_delay = delay;
}

/* ---- subtitles ---- */

void playback_select_subtitles(Playback *p, const AVStream *stream)
{
    p->state.subtitle = stream;
    p->state.file = NULL;
}

void playback_select_file(Playback *p, const SubtitleFile *file)
{
    p->state.subtitle = file->track;
    p->state.file = file;
}

void playback_add_file(Playback *p, const char *path)
{
    snprintf(p->add, sizeof(p->add), "%s", path);
}

const SubtitleFile *playback_take_file(Playback *p)
{
    const SubtitleFile *added = p->added;
    p->added = NULL;
    return added;
}

const PacketStore *playback_subtitles(const Playback *p)
{
    return p->state.file ? &p->state.file->packets : &p->subtitles;
}

int playback_read_subtitle(Playback *p, AVPacket *packet)
{
    const int ret = demuxer_read(p->demuxer, DEMUX_SUBTITLE, packet, 0);
    if (ret >= 0)
        packet_store_add(&p->subtitles, packet);
    return ret;
}

/* ---- the source ---- */

int playback_take_trouble(Playback *p, char *text, size_t size)
{
    const int has = p->trouble[0] != '\0';
    if (has)
        snprintf(text, size, "%s", p->trouble);
    p->trouble[0] = '\0';
    return has;
}

int64_t playback_underruns(const Playback *p)
{
    return p->audio ? audio_queue_underruns(audio_queue(p->audio)) : -1;
}

int playback_damage(Playback *p, int to_end, int64_t lost, char *text, size_t size)
{
    stop(p);
    const int64_t sound = p->audio ? audio_damage(p->audio) : 0;
    DamageReport report = input_report(p->state.input);
    report.part.to_end &= to_end;
    report.damage.lost_frames += lost;
    if (damage_describe(p->state.source, &report, text, size))
        return 1;
    if (sound > 0)
        snprintf(text, size, "the input is damaged: %lld packets of sound", (long long)sound);
    return sound > 0;
}

bool playback_can_seek(const Playback *p)
{
    return !p->state.source->live && source_can_seek(p->state.source);
}

int64_t playback_duration(const Playback *p)
{
    return p->state.source ? source_duration(p->state.source) : 0;
}

void playback_close(Playback **playback)
{
    Playback *p = *playback;
    if (!p)
        return;
    stop(p);
    close_others(p->to_close);
    audio_close(&p->audio);
    input_close(&p->state.input);
    packet_store_clear(&p->subtitles);
    for (int i = 0; i < p->state.file_count; i++) {
        SubtitleFile *file = (SubtitleFile *)p->state.files[i]; /* owned here */
        subtitle_file_close(&file);
    }
    source_close(&p->state.source);
    free(p->path);
    free(p);
    *playback = NULL;
}

void playback_give_back(Playback **playback)
{
    if (*playback)
        (*playback)->state.source = NULL;
    playback_close(playback);
}
