#include "player/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <SDL.h>

#include "media/file_name.h"
#include "media/input/track_choice.h"
#include "media/printable.h"

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

void status_bar(const Player *p, OsdBar *bar)
{
    const PlaybackState *b = played(p);
    const int can_seek = playback_can_seek(p->playback);
    const int64_t part = b->paused || b->pending ? 1 : BAR_US;
    memset(bar, 0, sizeof(*bar)); /* the bar is compared with memcmp() */
    bar->position = FFMAX(player_position(p), 0) / part * part;
    bar->duration = can_seek ? playback_duration(p->playback) : 0;
    bar->from = p->wanted.from;
    bar->to = p->wanted.to;
    bar->paused = b->paused;
    bar->volume = p->options.volume;
    bar->muted = p->options.mute;
    bar->most = b->sound ? PLAYER_MAX_VOLUME : 0;
    const int chapters = source_chapters(b->source);
    for (int i = 0; can_seek && i < chapters && i < OSD_BAR_MARKS; i++)
        bar->mark[bar->marks++] = source_chapter(b->source, i);
}

/* Writes "2/5", or "" for a single file. */
static void write_place(const FileList *files, int at, char *text, size_t size)
{
    text[0] = '\0';
    if (files->count > 1 && at >= 0)
        snprintf(text, size, "%d/%d", at + 1, files->count);
}

void status_file(const FileList *files, int at, char *text, size_t size)
{
    char place[32];
    write_place(files, at, place, sizeof(place));
    snprintf(text, size, "%s: %s", place, file_name_base(files->entries[at].name));
}

void status_title(const Source *source, const char *path, const FileList *files, int64_t position,
                  int64_t duration, char *text, size_t size)
{
    const char *tag = source->camera ? camera_setting(source->camera)->name : source_title(source);
    char place[32], at[64] = "", title[PATH_MAX];
    write_place(files, files->at, place, sizeof(place));
    if (duration > 0)
        status_position(position, duration, at, sizeof(at));
    printable(title, sizeof(title), tag && tag[0] ? tag : file_name_base(path));
    snprintf(text, size, "%s%s%s%s%s%s - lumeq", place, place[0] ? " " : "", title,
             at[0] ? " (" : "", at, at[0] ? ")" : "");
}

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

static void add_input(const Player *p, StatusRows *r)
{
    const AVStream *video = played(p)->source->video;
    const double rate = av_q2d(video->avg_frame_rate);
    const int is_gone = p->camera.gone || source_is_lost(played(p)->source);
    char text[128];
    if (p->files.count > 1)
        add(r, "file", "%d/%d", p->files.at + 1, p->files.count);
    track_describe_video(played(p)->source, p->shown->frame->decoded.frame, text, sizeof(text));
    add(r, "video", "%s", text);
    if (played(p)->paused || is_gone)
        add(r, "frame rate", "%s; %.2f fps", is_gone ? "lost" : "paused", rate);
    else if (rate > 0)
        add(r, "frame rate", "%.2f of %.2f fps", p->shown->measured.rate, rate * played(p)->speed);
    else
        add(r, "frame rate", "%.2f fps", p->shown->measured.rate);
}

static void add_frames(const Player *p, StatusRows *r)
{
    if (played(p)->source->camera)
        add(r, "frames", "%lld shown, %lld dropped, %lld lost in the camera",
            (long long)p->shown->count, (long long)playback_dropped(p->playback),
            (long long)p->camera.lost);
    else if (played(p)->source->live)
        add(r, "frames", "%lld shown, %lld dropped", (long long)p->shown->count,
            (long long)playback_dropped(p->playback));
    else
        add(r, "frames", "%lld shown, %lld dropped, %lld late", (long long)p->shown->count,
            (long long)playback_dropped(p->playback), (long long)playback_late(p->playback));
    if (playback_underruns(p->playback) >= 0 && p->shown->measured.offset != AV_NOPTS_VALUE)
        add(r, "A/V offset", "%+.0f ms", (double)p->shown->measured.offset * 1e-3);
}

static void add_live(const Player *p, StatusRows *r)
{
    char text[256];
    const Camera *camera = played(p)->source->camera;
    if (camera) {
        camera_setting_text(camera, text, sizeof(text));
        add(r, "camera", "%s%s", text, p->camera.gone ? " (gone)" : "");
    }
    if (source_is_lost(played(p)->source))
        add(r, "connection", "lost, waiting");
    if (p->shown->measured.delay.count)
        add(r, "delay", "%.0f ms from capture to screen, 95 %% within %.0f, at most %.0f",
            delay_mean(&p->shown->measured.delay), delay_share(&p->shown->measured.delay, 0.95),
            (double)p->shown->measured.delay.most * 1e-3);
    if (p->recording.on)
        add(r, "recording", "%lld frames, %lld dropped", (long long)p->recording.frames,
            (long long)p->recording.dropped);
}

void status_rows(const Player *p, StatusRows *r)
{
    char text[128], noise[32] = "";
    const double frame = (double)p->shown->duration / played(p)->speed;
    const double latency = p->shown->measured.timings.latency;
    r->count = 0;
    if (!p->shown->frame)
        return;
    add_input(p, r);
    add_frames(p, r);
    add_live(p, r);
    add(r, "equalizer", "%s", p->host->engine(p->host->opaque, equalize_stage_is_lost(p->stage)));
    p->host->decided(p->host->opaque, p->shown->frame, text, sizeof(text));
    add(r, "picture", "%s", text);
    const LumeqFrameStats *stats = &p->shown->frame->stats;
    if (stats->noise >= 0)
        snprintf(noise, sizeof(noise), ", noise %.1f", stats->noise);
    add(r, "strength", "%.2f%s", stats->strength, noise);
    add(r, "shadows", "contrast and grain amplified at most %.1fx", stats->noise_gain);
    const Timings *t = &p->shown->measured.timings;
    add(r, "decode", "%.2f ms", t->decode * 1e-3);
    add(r, "equalize", "%.2f ms%s", t->equalize * 1e-3,
        screen_takes_device(p->screen) ? " (the picture stays on the GPU)" : "");
    add(r, "draw", "%.2f ms, panel and text %.2f ms", (t->upload + t->draw) * 1e-3,
        t->layers * 1e-3);
    if (frame > 0)
        add(r, "latency", "%.0f ms from decoder to screen, %.1f frames", latency * 1e-3,
            latency / frame);
    const int64_t underruns = playback_underruns(p->playback);
    if (underruns >= 0)
        add(r, "sound", "volume %d %%%s, %lld underruns", p->options.volume,
            p->options.mute ? " (muted)" : "", (long long)underruns);
    add(r, "window", "%s", screen_state(p->screen)->renderer);
}

const char *status_setting(PlayerSetting setting)
{
    static const char *const texts[PLAYER_SETTINGS] = {
        [PLAYER_MODE] = "One curve for the picture or per tile, a linear stretch, or dehazing.",
        [PLAYER_PROFILE] = "A preset for a kind of video; changes the rows below.",
        [PLAYER_STRENGTH] = "How strongly to equalize: 0 changes nothing, 1 equalizes fully.",
        [PLAYER_CLIP] = "Limits the added contrast; lower is gentler and less noisy.",
        [PLAYER_TILES] = "Columns and rows of tiles, for mode clahe.",
        [PLAYER_CHROMA] = "Whether saturation follows the change in brightness.",
        [PLAYER_SMOOTH] = "Seconds that the curve takes to adapt; 0 is at once.",
        [PLAYER_BARS] = "Whether black bars are left out of the analysis.",
        [PLAYER_RANGE] = "The video's luma range, if its label is wrong.",
        [PLAYER_DENOISE] = "Reduces noise in dark areas that are brightened.",
        [PLAYER_BRIGHTNESS] = "Darkens or lightens the tones before equalizing.",
        [PLAYER_GAMMA] = "Lightens the tones with a gamma curve; values below 1 darken.",
        [PLAYER_METER] = "The part of the picture that determines the curve.",
        [PLAYER_DEINTERLACE] = "Turns interlaced video into whole frames.",
    };
    return texts[setting];
}
