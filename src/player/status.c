/* What the window says in words. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <SDL.h>

#include "media/camera/camera.h"
#include "media/input/track_choice.h"
#include "player/player_state.h"

void status_say(Player *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->message, sizeof(p->message), format, args);
    va_end(args);
    osd_message(p->layers.osd, player_now(), p->message, -1);
    p->dirty = 1;
}

/* "1:02:03", "2:03" */
static void format_time(int64_t us, char *text, size_t size)
{
    const int64_t s = us > 0 ? us / 1000000 : 0;
    if (s >= 3600)
        snprintf(text, size, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

void status_say_position(Player *p, int64_t position)
{
    char at[32], of[32];
    const int64_t duration = playback_duration(p->playback);
    format_time(position, at, sizeof(at));
    format_time(duration, of, sizeof(of));
    if (duration > 0)
        snprintf(p->message, sizeof(p->message), "%s / %s", at, of);
    else
        snprintf(p->message, sizeof(p->message), "%s", at);
    osd_message(p->layers.osd, player_now(), p->message,
                duration > 0 ? (double)position / (double)duration : -1);
    p->dirty = 1;
}

void status_say_frame(Player *p)
{
    char at[32];
    format_time(p->shown.position, at, sizeof(at));
    status_say(p, "%s.%03d", at, (int)(FFMAX(p->shown.position, 0) / 1000 % 1000));
}

/* What window managers take: UTF-8 on one line. */
static void clean(char *text)
{
    char *utf8 = SDL_iconv_string("UTF-8", "UTF-8", text, strlen(text) + 1);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f || (!utf8 && (*c & 0x80)))
            *c = '?';
    SDL_free(utf8);
}

void status_title(Player *p)
{
    char title[PATH_MAX + 16];
    const Source *source = p->playback->source;
    const char *tag = source->camera ? camera_setting(source->camera)->name : source_title(source);
    const char *slash = strrchr(p->path, '/');
    const char *name = slash ? slash + 1 : p->path;
    snprintf(title, sizeof(title), "%s - lumeq", tag && tag[0] ? tag : name);
    clean(title);
    window_set_title(p->window, title);
}

/* ---- the statistics ---- */

typedef struct Rows {
    StatusText *text;
    OsdRow *rows;
    int count, room;
} Rows;

static void add(Rows *r, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(Rows *r, const char *name, const char *format, ...)
{
    va_list args;
    if (r->count == r->room)
        return;
    char *value = r->text->values[r->count];
    va_start(args, format);
    vsnprintf(value, sizeof(r->text->values[0]), format, args);
    va_end(args);
    r->rows[r->count++] = (OsdRow){name, value};
}

static void add_input(const Player *p, Rows *r)
{
    const AVStream *video = p->playback->source->video;
    const double rate = av_q2d(video->avg_frame_rate);
    char text[128];
    track_describe_video(p->playback->source, p->shown.frame->decoded.frame, text, sizeof(text));
    add(r, "video", "%s", text);
    if (p->playback->paused || p->live.gone)
        add(r, "frame rate", "%s; %.2f a second", p->live.gone ? "none now" : "paused", rate);
    else if (rate > 0)
        add(r, "frame rate", "%.2f of %.2f a second", p->measured.rate, rate * p->playback->speed);
    else
        add(r, "frame rate", "%.2f a second", p->measured.rate);
}

static void add_frames(const Player *p, Rows *r)
{
    const Sync *sync = &p->playback->sync;
    if (p->playback->source->camera)
        add(r, "frames", "%lld shown, %lld dropped, %lld lost in the camera", (long long)p->count,
            (long long)playback_dropped(p->playback), (long long)live_lost(p));
    else if (p->playback->source->live)
        add(r, "frames", "%lld shown, %lld dropped", (long long)p->count,
            (long long)playback_dropped(p->playback));
    else
        add(r, "frames", "%lld shown, %lld dropped, %lld late", (long long)p->count,
            (long long)playback_dropped(p->playback), (long long)sync->late);
    if (p->playback->audio && p->measured.offset != AV_NOPTS_VALUE)
        add(r, "A/V offset", "%+.0f ms", (double)p->measured.offset * 1e-3);
}

static void add_live(const Player *p, Rows *r)
{
    char text[256];
    const Camera *camera = p->playback->source->camera;
    if (camera) {
        camera_setting_text(camera, text, sizeof(text));
        add(r, "camera", "%s%s", text, p->live.gone ? " (gone)" : "");
    }
    if (p->measured.delay.count)
        add(r, "delay", "%.0f ms from the capture to the screen, 95 %% within %.0f, at most %.0f",
            delay_mean(&p->measured.delay), delay_share(&p->measured.delay, 0.95),
            (double)p->measured.delay.most * 1e-3);
    if (p->live.recording.on)
        add(r, "recording", "%lld frames, %lld dropped", (long long)p->live.recording.frames,
            (long long)p->live.recording.dropped);
}

static void add_stages(const Player *p, Rows *r)
{
    const Timings *t = &p->measured.timings;
    add(r, "decode", "%.2f ms", t->decode * 1e-3);
    if (p->equalizer.device >= 0) {
        add(r, "upload", "%.2f ms", t->upload * 1e-3);
        add(r, "GPU", "%.3f ms", t->equalize * 1e-3);
        add(r, "download", "%.2f ms%s", t->download * 1e-3,
            p->cuda && !view_cuda_failure(p->cuda) ? " (the picture stays on the GPU)" : "");
    } else {
        add(r, "equalize", "%.2f ms", t->equalize * 1e-3);
    }
    add(r, "draw", "%.2f ms, panel and text %.2f ms", t->view * 1e-3, t->layers * 1e-3);
}

static void add_latency(const Player *p, Rows *r)
{
    const double frame = (double)p->shown.duration / p->playback->speed;
    if (frame > 0)
        add(r, "to the screen", "%.0f ms after decoding, %.1f frames",
            p->measured.timings.latency * 1e-3, p->measured.timings.latency / frame);
}

static void add_queues(const Player *p, Rows *r)
{
    const Playback *b = p->playback;
    add(r, "queues", "%d of %d frames, %d equalized, %d + %d packets", video_feed_waiting(b->feed),
        video_feed_room(b->feed), equalize_stage_waiting(p->stage) + b->ahead_count,
        demuxer_waiting(b->demuxer, DEMUX_VIDEO), demuxer_waiting(b->demuxer, DEMUX_AUDIO));
    if (b->audio)
        add(r, "sound", "volume %d %%%s, ran dry %lld times", p->wanted.volume,
            p->wanted.muted ? " (muted)" : "", (long long)audio_underruns(b->audio));
}

static void add_strength(const LumeqFrameStats *stats, Rows *r)
{
    if (stats->noise < 0)
        add(r, "strength", "%.2f, noise in the dark up to %.1f times", stats->strength,
            stats->noise_gain);
    else
        add(r, "strength", "%.2f, noise of %.1f in the dark up to %.1f times", stats->strength,
            stats->noise, stats->noise_gain);
}

int status_rows(Player *p, OsdRow *rows, int room)
{
    Rows r = {&p->layers.status, rows, 0, FFMIN(room, STATUS_ROWS)};
    if (!p->shown.frame)
        return 0;
    add_input(p, &r);
    add_frames(p, &r);
    add_live(p, &r);
    add(&r, "equalizer", "%s",
        p->equalizer.where(p->equalizer.opaque, equalize_stage_is_lost(p->stage)));
    add_strength(&p->shown.frame->stats, &r);
    add_stages(p, &r);
    add_latency(p, &r);
    add_queues(p, &r);
    add(&r, "window", "%s", p->renderer);
    return r.count;
}
