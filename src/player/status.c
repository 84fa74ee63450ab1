#include "player/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <SDL.h>

#include "media/input/track_choice.h"
#include "media/printable.h"
#include "player/osd/osd_time.h"

#define BAR_US 250000

void status_position(int64_t position, int64_t duration, char *text, size_t size)
{
    char at[32], of[32];
    osd_time(position, at, sizeof(at));
    osd_time(duration, of, sizeof(of));
    if (duration > 0)
        snprintf(text, size, "%s / %s", at, of);
    else
        snprintf(text, size, "%s", at);
}

void status_frame(int64_t position, char *text, size_t size)
{
    char at[32];
    osd_time(position, at, sizeof(at));
    snprintf(text, size, "%s.%03d", at, (int)(FFMAX(position, 0) / 1000 % 1000));
}

void status_pointed(const Source *source, int64_t position, char *text, size_t size)
{
    char at[32];
    int chapter = source_chapters(source) - 1;
    osd_time(position, at, sizeof(at));
    while (chapter >= 0 && source_chapter(source, chapter) > position)
        chapter--;
    const char *title = chapter >= 0 ? source_chapter_title(source, chapter) : "";
    snprintf(text, size, "%s%s%s", at, title[0] ? "  " : "", title);
}

void status_bar(const Situation *now, OsdBar *bar)
{
    const PlaybackState *b = now->played;
    const int can_seek = playback_can_seek(now->playback);
    const int64_t part = b->paused || b->pending ? 1 : BAR_US;
    memset(bar, 0, sizeof(*bar)); /* it is compared byte by byte */
    bar->position = FFMAX(now->position, 0) / part * part;
    bar->duration = can_seek ? playback_duration(now->playback) : 0;
    if (now->files->count > 1 && now->files->at >= 0) {
        bar->file = now->files->at + 1;
        bar->files = now->files->count;
    }
    bar->from = now->wanted->from;
    bar->to = now->wanted->to;
    bar->paused = b->paused;
    bar->volume = now->wanted->volume;
    bar->muted = now->wanted->muted;
    bar->most = b->sound ? PLAYER_MAX_VOLUME : 0;
    const int chapters = source_chapters(b->source);
    for (int i = 0; can_seek && i < chapters && i < OSD_BAR_MARKS; i++)
        bar->mark[bar->marks++] = source_chapter(b->source, i);
}

/* What window managers take: UTF-8 on one line. */
static void clean(char *text)
{
    uint32_t c;
    for (int n; *text; text += n) {
        const int valid = n = utf8_read(text, &c);
        n = valid ? valid : 1;
        if (!valid || is_control_character(c))
            memset(text, '?', (size_t)n);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* "2/5", or "" where there is one. */
static void say_place(const FileList *files, int at, char *text, size_t size)
{
    text[0] = '\0';
    if (files->count > 1 && at >= 0)
        snprintf(text, size, "%d/%d", at + 1, files->count);
}

void status_file(const FileList *files, int at, char *text, size_t size)
{
    char place[32];
    say_place(files, at, place, sizeof(place));
    snprintf(text, size, "%s: %s", place, base_name(files->entries[at].path));
    clean(text);
}

void status_title(const Source *source, const char *path, const FileList *files, int64_t position,
                  int64_t duration, char *text, size_t size)
{
    const char *tag = source->camera ? camera_setting(source->camera)->name : source_title(source);
    char where[72] = "", place[32];
    say_place(files, files->at, place, sizeof(place));
    if (duration > 0) {
        char at[64];
        status_position(position, duration, at, sizeof(at));
        snprintf(where, sizeof(where), " (%s)", at);
    }
    snprintf(text, size, "%s%s%s%s - lumeq", place, place[0] ? " " : "",
             tag && tag[0] ? tag : base_name(path), where);
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
    const AVStream *video = s->played->source->video;
    const double rate = av_q2d(video->avg_frame_rate);
    const int is_gone = s->camera->gone || source_is_away(s->played->source);
    char text[128];
    if (s->files->count > 1)
        add(r, "file", "%d/%d", s->files->at + 1, s->files->count);
    track_describe_video(s->played->source, s->shown->frame->decoded.frame, text, sizeof(text));
    add(r, "video", "%s", text);
    if (s->played->paused || is_gone)
        add(r, "frame rate", "%s; %.2f a second", is_gone ? "none now" : "paused", rate);
    else if (rate > 0)
        add(r, "frame rate", "%.2f of %.2f a second", s->shown->measured.rate,
            rate * s->played->speed);
    else
        add(r, "frame rate", "%.2f a second", s->shown->measured.rate);
}

static void add_frames(const Situation *s, StatusRows *r)
{
    if (s->played->source->camera)
        add(r, "frames", "%lld shown, %lld dropped, %lld lost in the camera",
            (long long)s->shown->count, (long long)playback_dropped(s->playback),
            (long long)s->camera->lost);
    else if (s->played->source->live)
        add(r, "frames", "%lld shown, %lld dropped", (long long)s->shown->count,
            (long long)playback_dropped(s->playback));
    else
        add(r, "frames", "%lld shown, %lld dropped, %lld late", (long long)s->shown->count,
            (long long)playback_dropped(s->playback), (long long)playback_late(s->playback));
    if (playback_counts(s->playback).has_sound && s->shown->measured.offset != AV_NOPTS_VALUE)
        add(r, "A/V offset", "%+.0f ms", (double)s->shown->measured.offset * 1e-3);
}

static void add_live(const Situation *s, StatusRows *r)
{
    char text[256];
    const Camera *camera = s->played->source->camera;
    if (camera) {
        camera_setting_text(camera, text, sizeof(text));
        add(r, "camera", "%s%s", text, s->camera->gone ? " (gone)" : "");
    }
    if (source_is_away(s->played->source))
        add(r, "connection", "lost, waiting for it");
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
    const double frame = (double)s->shown->duration / s->played->speed;
    if (frame > 0)
        add(r, "to the screen", "%.0f ms after decoding, %.1f frames",
            s->shown->measured.timings.latency * 1e-3, s->shown->measured.timings.latency / frame);
}

static void add_queues(const Situation *s, StatusRows *r)
{
    const PlaybackCounts c = playback_counts(s->playback);
    add(r, "queues", "%d of %d frames, %d equalized, %d + %d packets", c.decoded, c.room,
        s->equalized + s->played->ahead, c.video, c.sound);
    if (c.has_sound)
        add(r, "sound", "volume %d %%%s, ran dry %lld times", s->wanted->volume,
            s->wanted->muted ? " (muted)" : "", (long long)c.ran_dry);
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
        add(r, "strength", "%.2f, contrast in the dark up to %.1f times", stats->strength,
            stats->noise_gain);
    else
        add(r, "strength", "%.2f, contrast in the dark up to %.1f times, noise %.1f",
            stats->strength, stats->noise_gain, stats->noise);
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
