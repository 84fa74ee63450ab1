#include "player/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <SDL.h>

#include "media/input/track_choice.h"

/* "1:02:03", "2:03" */
static void format_time(int64_t us, char *text, size_t size)
{
    const int64_t s = us > 0 ? us / 1000000 : 0;
    if (s >= 3600)
        snprintf(text, size, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

void status_position(int64_t position, int64_t duration, char *text, size_t size)
{
    char at[32], of[32];
    format_time(position, at, sizeof(at));
    format_time(duration, of, sizeof(of));
    if (duration > 0)
        snprintf(text, size, "%s / %s", at, of);
    else
        snprintf(text, size, "%s", at);
}

void status_frame(int64_t position, char *text, size_t size)
{
    char at[32];
    format_time(position, at, sizeof(at));
    snprintf(text, size, "%s.%03d", at, (int)(FFMAX(position, 0) / 1000 % 1000));
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

void status_title(const Source *source, const char *path, char *text, size_t size)
{
    const char *tag = source->camera ? camera_setting(source->camera)->name : source_title(source);
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    snprintf(text, size, "%s - lumeq", tag && tag[0] ? tag : name);
    clean(text);
}

/* ---- the statistics ---- */

static void add(StatusRows *r, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(StatusRows *r, const char *name, const char *format, ...)
{
    va_list args;
    if (r->count == STATUS_ROWS)
        return;
    char *value = r->values[r->count];
    va_start(args, format);
    vsnprintf(value, sizeof(r->values[0]), format, args);
    va_end(args);
    r->rows[r->count++] = (OsdRow){name, value};
}

static void add_input(const Situation *s, StatusRows *r)
{
    const AVStream *video = s->playback->source->video;
    const double rate = av_q2d(video->avg_frame_rate);
    char text[128];
    track_describe_video(s->playback->source, s->shown->frame->decoded.frame, text, sizeof(text));
    add(r, "video", "%s", text);
    if (s->playback->paused || s->camera->gone)
        add(r, "frame rate", "%s; %.2f a second", s->camera->gone ? "none now" : "paused", rate);
    else if (rate > 0)
        add(r, "frame rate", "%.2f of %.2f a second", s->shown->measured.rate,
            rate * s->playback->speed);
    else
        add(r, "frame rate", "%.2f a second", s->shown->measured.rate);
}

static void add_frames(const Situation *s, StatusRows *r)
{
    const Sync *sync = &s->playback->sync;
    if (s->playback->source->camera)
        add(r, "frames", "%lld shown, %lld dropped, %lld lost in the camera",
            (long long)s->shown->count, (long long)playback_dropped(s->playback),
            (long long)s->camera->lost);
    else if (s->playback->source->live)
        add(r, "frames", "%lld shown, %lld dropped", (long long)s->shown->count,
            (long long)playback_dropped(s->playback));
    else
        add(r, "frames", "%lld shown, %lld dropped, %lld late", (long long)s->shown->count,
            (long long)playback_dropped(s->playback), (long long)sync->late);
    if (s->playback->audio && s->shown->measured.offset != AV_NOPTS_VALUE)
        add(r, "A/V offset", "%+.0f ms", (double)s->shown->measured.offset * 1e-3);
}

static void add_live(const Situation *s, StatusRows *r)
{
    char text[256];
    const Camera *camera = s->playback->source->camera;
    if (camera) {
        camera_setting_text(camera, text, sizeof(text));
        add(r, "camera", "%s%s", text, s->camera->gone ? " (gone)" : "");
    }
    if (s->shown->measured.delay.count)
        add(r, "delay", "%.0f ms from the capture to the screen, 95 %% within %.0f, at most %.0f",
            delay_mean(&s->shown->measured.delay), delay_share(&s->shown->measured.delay, 0.95),
            (double)s->shown->measured.delay.most * 1e-3);
    if (s->recording->on)
        add(r, "recording", "%lld frames, %lld dropped", (long long)s->recording->frames,
            (long long)s->recording->dropped);
}

static void add_stages(const Situation *s, StatusRows *r)
{
    const Timings *t = &s->shown->measured.timings;
    add(r, "decode", "%.2f ms", t->decode * 1e-3);
    if (s->equalizer->device >= 0) {
        add(r, "upload", "%.2f ms", t->upload * 1e-3);
        add(r, "GPU", "%.3f ms", t->equalize * 1e-3);
        add(r, "download", "%.2f ms%s", t->download * 1e-3,
            screen_takes_device(s->screen) ? " (the picture stays on the GPU)" : "");
    } else {
        add(r, "equalize", "%.2f ms", t->equalize * 1e-3);
    }
    add(r, "draw", "%.2f ms, panel and text %.2f ms", t->view * 1e-3, t->layers * 1e-3);
}

static void add_latency(const Situation *s, StatusRows *r)
{
    const double frame = (double)s->shown->duration / s->playback->speed;
    if (frame > 0)
        add(r, "to the screen", "%.0f ms after decoding, %.1f frames",
            s->shown->measured.timings.latency * 1e-3, s->shown->measured.timings.latency / frame);
}

static void add_queues(const Situation *s, StatusRows *r)
{
    const Playback *b = s->playback;
    add(r, "queues", "%d of %d frames, %d equalized, %d + %d packets", video_feed_waiting(b->feed),
        video_feed_room(b->feed), s->equalized + b->ahead_count,
        demuxer_waiting(b->demuxer, DEMUX_VIDEO), demuxer_waiting(b->demuxer, DEMUX_AUDIO));
    if (b->audio)
        add(r, "sound", "volume %d %%%s, ran dry %lld times", s->wanted->volume,
            s->wanted->muted ? " (muted)" : "", (long long)audio_underruns(b->audio));
}

static void add_decision(const Situation *s, StatusRows *r)
{
    char text[128];
    s->equalizer->decided(s->equalizer->opaque, s->shown->frame, text, sizeof(text));
    add(r, "picture", "%s", text);
}

static void add_strength(const LumeqFrameStats *stats, StatusRows *r)
{
    if (stats->noise < 0)
        add(r, "strength", "%.2f, noise in the dark up to %.1f times", stats->strength,
            stats->noise_gain);
    else
        add(r, "strength", "%.2f, noise of %.1f in the dark up to %.1f times", stats->strength,
            stats->noise, stats->noise_gain);
}

void status_rows(const Situation *s, StatusRows *r)
{
    r->count = 0;
    if (!s->shown->frame)
        return;
    add_input(s, r);
    add_frames(s, r);
    add_live(s, r);
    add(r, "equalizer", "%s", s->equalizer->where(s->equalizer->opaque, s->lost));
    add_decision(s, r);
    add_strength(&s->shown->frame->stats, r);
    add_stages(s, r);
    add_latency(s, r);
    add_queues(s, r);
    add(r, "window", "%s", screen_state(s->screen)->renderer);
}
