#include <string.h>

#include <SDL.h>

#include "media/input/track_choice.h"
#include "player/player_state.h"

/* Without being moved for this long, the cursor hides. */
#define CURSOR_US 1000000

#define SECOND INT64_C(1000000)
#define SPEED_RATIO 1.1
#define VOLUME_STEP 5

/* Each of them may take a while. */
#define MAX_STEPS_BACK 10

/* What a key does; `arg` is the binding's. */
typedef int (*Action)(Player *p, int arg, MediaError *error);

/* Keys that write something are known by what they write, wherever it is on the keyboard. */
typedef struct Binding {
    const char *text;
    SDL_Keycode code;
    int arg;
} Binding;

typedef struct Row {
    const char *keys, *what; /* for the help */
    Action action;
    int repeats; /* holding the key down does it again */
    Binding bindings[2];
} Row;

/* ---- time ---- */

static int go_to(Player *p, FeedStart start, MediaError *error)
{
    if (!playback_can_seek(&p->playback)) {
        status_say(p, "%s",
                   p->playback.source->live ? "A live picture has no past to go to"
                                            : "This input cannot be searched");
        return 0;
    }
    p->steps = p->ended = 0;
    subtitles_reset(p->subtitles);
    return playback_start(&p->playback, &start, error);
}

/* It stands at its end. Once there is a frame to begin from, it runs. */
static int play_again(Player *p, MediaError *error)
{
    const int ret = go_to(p, (FeedStart){.position = SDL_max(p->options.from_us, 0)}, error);
    if (ret >= 0 && playback_can_seek(&p->playback)) {
        playback_pause(&p->playback, 0, p->shown.position, player_now());
        status_say(p, "Playing");
    }
    return ret;
}

static int toggle_pause(Player *p, int arg, MediaError *error)
{
    (void)arg;
    p->steps = p->steps_back = 0;
    if (p->ended)
        return play_again(p, error);
    playback_pause(&p->playback, !p->playback.paused, p->shown.position, player_now());
    status_say(p, p->playback.paused ? "Paused" : "Playing");
    return 0;
}

/* Seeks add up while the frame of the last one is still to come. */
static int64_t from_where(const Player *p)
{
    const Playback *b = &p->playback;
    return b->pending && b->start.position != AV_NOPTS_VALUE ? b->start.position
                                                             : p->shown.position;
}

static int seek_by(Player *p, int seconds, MediaError *error)
{
    const int64_t duration = playback_duration(&p->playback);
    int64_t to = from_where(p) + seconds * SECOND;
    if (duration > 0 && to > duration)
        to = duration;
    if (p->options.to_us >= 0 && to >= p->options.to_us)
        to = p->options.to_us - 1;
    if (to < 0)
        to = 0;
    const int ret = go_to(p, (FeedStart){.position = to, .preview = 1}, error);
    if (ret >= 0 && playback_can_seek(&p->playback))
        status_say_position(p, to);
    return ret;
}

static int step(Player *p, int back, MediaError *error)
{
    const int64_t now = player_now();
    if (!p->playback.paused)
        playback_pause(&p->playback, 1, p->shown.position, now);
    if (!p->shown.frame)
        return 0;
    if (!back) {
        p->steps++;
        return 0;
    }
    if (p->playback.pending && p->playback.start.before) { /* when that frame is there */
        p->steps_back = p->repeated ? 1 : SDL_min(p->steps_back + 1, MAX_STEPS_BACK);
        return 0;
    }
    return controls_step_back(p, error);
}

int controls_step_back(Player *p, MediaError *error)
{
    return go_to(p, (FeedStart){.position = from_where(p), .before = 1}, error);
}

static int change_speed(Player *p, int step, MediaError *error)
{
    (void)error;
    if (p->playback.source->live) {
        status_say(p, "A live picture has its own speed");
        return 0;
    }
    double speed = 1;
    if (step)
        speed = step > 0 ? p->playback.speed * SPEED_RATIO : p->playback.speed / SPEED_RATIO;
    if (speed > 0.96 && speed < 1.04) /* back to 1 after as many steps up as down */
        speed = 1;
    speed = SDL_clamp(speed, PLAYER_MIN_SPEED, PLAYER_MAX_SPEED);
    playback_set_speed(&p->playback, speed, player_now());
    status_say(p, "Speed: %.2f", speed);
    return 0;
}

static int toggle_loop(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    if (p->playback.source->live) {
        status_say(p, "A live picture has no end to begin again from");
        return 0;
    }
    p->loop = !p->loop;
    status_say(p, "Loop: %s", p->loop ? "on" : "off");
    return 0;
}

/* ---- sound and tracks ---- */

static void apply_volume(Player *p)
{
    if (p->playback.audio) {
        audio_set_volume(p->playback.audio, p->volume);
        audio_set_mute(p->playback.audio, p->muted);
    }
    if (p->muted)
        status_say(p, "Volume: %d %% (muted)", p->volume);
    else
        status_say(p, "Volume: %d %%", p->volume);
}

static int toggle_mute(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    p->muted = !p->muted;
    apply_volume(p);
    return 0;
}

static int change_volume(Player *p, int step, MediaError *error)
{
    (void)error;
    p->volume = SDL_clamp(p->volume + step * VOLUME_STEP, 0, PLAYER_MAX_VOLUME);
    apply_volume(p);
    return 0;
}

/* The one after `now` among its kind; after the last one, none. */
static const AVStream *next_of(const Player *p, enum AVMediaType type, const AVStream *now)
{
    const Source *source = p->playback.source;
    return track_find(source, type, now ? source_track_number(source, now) + 1 : 0);
}

static void say_track(Player *p, const char *name, const AVStream *before, const AVStream *track)
{
    char text[256] = "none";
    if (track)
        track_describe(p->playback.source, track, text, sizeof(text));
    status_say(p, "%s: %s", name, before || track ? text : "there is none");
}

static int next_audio(Player *p, int arg, MediaError *error)
{
    (void)arg;
    const AVStream *now = demuxer_selected(p->playback.demuxer, DEMUX_AUDIO);
    const AVStream *next = next_of(p, AVMEDIA_TYPE_AUDIO, now);
    if ((now || next) && !playback_can_seek(&p->playback)) {
        status_say(p, "The sound of this input cannot be changed");
        return 0;
    }
    say_track(p, "Sound", now, next);
    return now || next ? playback_select_audio(&p->playback, next, from_where(p), error) : 0;
}

static int next_subtitles(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    Playback *b = &p->playback;
    const AVStream *now = b->subtitle, *next = next_of(p, AVMEDIA_TYPE_SUBTITLE, now);
    b->subtitle = next;
    subtitles_select(p->subtitles, b->source, next);
    for (int i = 0; next && i < b->subtitles.count; i++)
        if (b->subtitles.packets[i]->stream_index == next->index)
            subtitles_packet(p->subtitles, b->subtitles.packets[i]);
    p->look.subtitles_on = 1;
    say_track(p, "Subtitles", now, next);
    return 0;
}

static int toggle_subtitles(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    p->look.subtitles_on = !p->look.subtitles_on;
    status_say(p, "Subtitles: %s", p->look.subtitles_on ? "shown" : "hidden");
    return 0;
}

/* ---- the equalizer ---- */

static int change_setting(Player *p, PlayerSetting setting, int step)
{
    char text[128];
    LumeqParams params;
    const LumeqFrameStats *shown = p->shown.frame ? &p->shown.frame->stats : NULL;
    p->equalizer.change(p->equalizer.opaque, setting, step, shown, &params, text, sizeof(text));
    status_say(p, "%s", text);
    playback_forget_ahead(&p->playback);
    equalize_stage_set(p->stage, &params);
    return 0;
}

static int switch_equalizer(Player *p, int arg, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_ON_OFF, arg);
}

static int change_strength(Player *p, int arg, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_STRENGTH, arg);
}

static int change_clip(Player *p, int arg, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_CLIP, arg);
}

static int change_smooth(Player *p, int arg, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_SMOOTH, arg);
}

static int reset_settings(Player *p, int arg, MediaError *error)
{
    (void)error;
    return change_setting(p, PLAYER_RESET, arg);
}

/* ---- what is seen ---- */

static int toggle_fullscreen(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    char why[256];
    const int wanted = !window_is_fullscreen(p->window);
    if (window_set_fullscreen(p->window, wanted, why, sizeof(why)) < 0)
        status_say(p, "%s", why);
    return 0;
}

static int escape(Player *p, int arg, MediaError *error)
{
    if (window_is_fullscreen(p->window))
        return toggle_fullscreen(p, arg, error);
    p->over = 1;
    return 0;
}

static int quit(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    p->over = 1;
    return 0;
}

static int next_compare(Player *p, int arg, MediaError *error)
{
    static const char *const names[] = {"off", "split", "side by side"};
    (void)arg;
    p->look.compare = (PlayerCompare)((p->look.compare + 1) % 3);
    status_say(p, "Compare: %s", names[p->look.compare]);
    osd_show_labels(p->osd, player_now() + OSD_LABELS_US);
    return showing_update_input(p, error);
}

static int next_histogram(Player *p, int arg, MediaError *error)
{
    static const char *const names[] = {"off", "beside the picture", "over the picture"};
    static const PlayerHistogram next[] = {PLAYER_HISTOGRAM_PANEL, PLAYER_HISTOGRAM_OVERLAY,
                                           PLAYER_HISTOGRAM_OFF};
    (void)arg;
    (void)error;
    const int has_room = screen_set_histogram(p, next[p->look.histogram]);
    status_say(p, "Histogram: %s%s", has_room ? "" : "no room ", names[p->look.histogram]);
    return 0;
}

static int toggle_scale(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    p->look.log_scale = !p->look.log_scale;
    status_say(p, "Histogram: %s", p->look.log_scale ? "logarithmic" : "linear");
    return 0;
}

/* Frames that are there already are decoded again. */
static int next_deinterlace(Player *p, int arg, MediaError *error)
{
    static const char *const names[] = {"off", "where frames are interlaced", "all frames"};
    (void)arg;
    p->deinterlace = (DeinterlaceMode)((p->deinterlace + 1) % 3);
    status_say(p, "Deinterlace: %s", names[p->deinterlace]);
    video_feed_deinterlace(p->playback.feed, p->deinterlace);
    return playback_can_seek(&p->playback) ? go_to(p, (FeedStart){.position = from_where(p)}, error)
                                           : 0;
}

static int toggle_mirror(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    p->look.mirrored = !p->look.mirrored;
    view_set_mirror(p->view, p->look.mirrored);
    status_say(p, "Mirror: %s", p->look.mirrored ? "on" : "off");
    return 0;
}

static int toggle_statistics(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    p->look.statistics = !p->look.statistics;
    p->layers.statistics_at = 0;
    return 0;
}

static int toggle_help(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    p->look.help = !p->look.help;
    return 0;
}

static int take_screenshot(Player *p, int arg, MediaError *error)
{
    (void)arg;
    (void)error;
    screen_shoot(p);
    return 0;
}

/* ---- the keys ---- */

static const Row rows[] = {
    {"Space  p", "pause, play", toggle_pause, 0, {{" ", 0, 0}, {"p", 0, 0}}},
    {"←  →", "5 s back, on", seek_by, 1, {{NULL, SDLK_LEFT, -5}, {NULL, SDLK_RIGHT, 5}}},
    {"↓  ↑", "1 min back, on", seek_by, 1, {{NULL, SDLK_DOWN, -60}, {NULL, SDLK_UP, 60}}},
    {",  .", "one frame back, on", step, 1, {{",", 0, 1}, {".", 0, 0}}},
    {"[  ]", "slower, faster", change_speed, 1, {{"[", 0, -1}, {"]", 0, 1}}},
    {"Backspace", "usual speed", change_speed, 0, {{NULL, SDLK_BACKSPACE, 0}}},
    {"l", "loop", toggle_loop, 0, {{"l", 0, 0}}},
    {"9  0", "volume", change_volume, 1, {{"9", 0, -1}, {"0", 0, 1}}},
    {"m", "mute", toggle_mute, 0, {{"m", 0, 0}}},
    {"#", "next sound track", next_audio, 0, {{"#", 0, 0}}},
    {"j  v", "next subtitles; show them", next_subtitles, 0, {{"j", 0, 0}}},
    {NULL, NULL, toggle_subtitles, 0, {{"v", 0, 0}}},
    {"e", "equalizer on, off", switch_equalizer, 0, {{"e", 0, 0}}},
    {"1  2", "strength", change_strength, 1, {{"1", 0, -1}, {"2", 0, 1}}},
    {"3  4", "clip limit", change_clip, 1, {{"3", 0, -1}, {"4", 0, 1}}},
    {"5  6", "smoothing", change_smooth, 1, {{"5", 0, -1}, {"6", 0, 1}}},
    {"r", "reset these", reset_settings, 0, {{"r", 0, 0}}},
    {"c", "compare: split, side, off", next_compare, 0, {{"c", 0, 0}}},
    {"h  H", "histogram; its scale", next_histogram, 0, {{"h", 0, 0}}},
    {NULL, NULL, toggle_scale, 0, {{"H", 0, 0}}},
    {"R", "record the camera", live_record, 0, {{"R", 0, 0}}},
    {"D", "deinterlace", next_deinterlace, 0, {{"D", 0, 0}}},
    {"M", "mirror", toggle_mirror, 0, {{"M", 0, 0}}},
    {"f", "fullscreen", toggle_fullscreen, 0, {{"f", 0, 0}}},
    {"s", "screenshot", take_screenshot, 0, {{"s", 0, 0}}},
    {"i", "statistics", toggle_statistics, 0, {{"i", 0, 0}}},
    {"?", "this help", toggle_help, 0, {{"?", 0, 0}}},
    {"q  Esc", "quit", quit, 0, {{"q", 0, 0}}},
    {NULL, NULL, escape, 0, {{NULL, SDLK_ESCAPE, 0}}},
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

int controls_help(OsdRow *help, int room)
{
    int count = 0;
    for (int i = 0; i < ROWS && count < room; i++)
        if (rows[i].keys)
            help[count++] = (OsdRow){rows[i].keys, rows[i].what};
    return count;
}

/* `text`: what a key writes, or NULL and `code` is the key. */
static int take_key(Player *p, const char *text, SDL_Keycode code, MediaError *error)
{
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 2; k++) {
            const Binding *b = &rows[i].bindings[k];
            const int same = text ? b->text && strcmp(b->text, text) == 0
                                  : !b->text && b->code && b->code == code;
            if (!same || (p->repeated && !rows[i].repeats))
                continue;
            p->dirty = 1;
            return rows[i].action(p, b->arg, error);
        }
    return 0;
}

/* ---- mouse, window, files ---- */

static void move_split(Player *p, int x, int y)
{
    int px, py;
    const ViewScene scene = screen_scene(p);
    const Rect picture = view_layout(p->view, &scene).picture[VIEW_OUTPUT];
    window_to_pixels(p->window, x, y, &px, &py);
    if (picture.width > 0)
        p->look.split = SDL_clamp((double)(px - picture.x) / picture.width, 0, 1);
    p->dirty = 1;
}

/* With it go the labels of a comparison. */
static void show_cursor(Player *p, int64_t now)
{
    if (!p->cursor_until)
        window_show_cursor(p->window, 1);
    p->cursor_until = now + CURSOR_US;
    osd_show_labels(p->osd, p->cursor_until);
}

static void take_motion(Player *p, const SDL_MouseMotionEvent *motion, int64_t now)
{
    show_cursor(p, now);
    if (p->dragging)
        move_split(p, motion->x, motion->y);
}

static int take_button(Player *p, const SDL_MouseButtonEvent *button, MediaError *error)
{
    if (button->button != SDL_BUTTON_LEFT)
        return 0;
    p->dragging = button->state == SDL_PRESSED && p->look.compare == PLAYER_COMPARE_SPLIT;
    if (p->dragging)
        move_split(p, button->x, button->y);
    if (button->state == SDL_PRESSED && button->clicks == 2)
        return toggle_fullscreen(p, 0, error);
    return 0;
}

/* What cannot be opened is said on the screen; what is shown goes on. */
static void start_file(Player *p, const char *path)
{
    MediaError error = {0};
    p->opening[0] = '\0';
    player_drop_next(p);
    if (!p->options.open || p->options.open(p->options.opaque, path, &error) < 0)
        status_say(p, "%s", error.fault ? error.text : "Files cannot be opened here");
    else
        snprintf(p->opening, sizeof(p->opening), "%s", path);
}

/* AVERROR(EAGAIN): it is being opened, or tried. What cannot be played changes nothing, either. */
static int follow_file(Player *p, MediaError *error)
{
    MediaError why = {0};
    Source *source = NULL;
    int ret = p->next.source ? 0 : p->options.opened(p->options.opaque, &source, error);
    if (ret < 0)
        return ret;
    if (source)
        ret = player_try(p, source, &why);
    if (ret < 0)
        source_close(&source);
    else
        ret = player_take_next(p, &why);
    if (ret < 0 && ret != AVERROR(EAGAIN))
        media_fail(error, why.fault, "cannot play %s: %s", media_quote(p->opening), why.text);
    return ret;
}

static void take_file(Player *p)
{
    MediaError error = {0};
    const int ret = follow_file(p, &error);
    if (ret == AVERROR(EAGAIN))
        return;
    if (ret < 0)
        status_say(p, "%s", error.text);
    p->opening[0] = '\0';
}

static int take_event(Player *p, const SDL_Event *event, int64_t now, MediaError *error)
{
    switch (event->type) {
    case SDL_QUIT:
        window_quit(p->window, !p->closed);
        p->over = 1;
        return 0;
    case SDL_WINDOWEVENT:
        p->closed |= event->window.event == SDL_WINDOWEVENT_CLOSE;
        p->dirty = 1;
        return 0;
    case SDL_KEYDOWN:
        p->repeated = event->key.repeat;
        return take_key(p, NULL, event->key.keysym.sym, error);
    case SDL_TEXTINPUT: return take_key(p, event->text.text, 0, error);
    case SDL_MOUSEMOTION: take_motion(p, &event->motion, now); return 0;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP: return take_button(p, &event->button, error);
    default: return 0;
    }
}

int controls_take(Player *p, int64_t now, MediaError *error)
{
    SDL_Event event;
    int ret = 0;
    while (ret >= 0 && !p->over && SDL_PollEvent(&event)) {
        if (event.type == SDL_DROPFILE) {
            start_file(p, event.drop.file);
            SDL_free(event.drop.file);
        } else {
            ret = take_event(p, &event, now, error);
        }
    }
    if (p->opening[0])
        take_file(p);
    if (p->dragging) {
        show_cursor(p, now);
    } else if (p->cursor_until && now > p->cursor_until) {
        window_show_cursor(p->window, 0);
        p->cursor_until = 0;
    }
    return ret;
}
