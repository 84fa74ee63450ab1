#include "player/controls.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <SDL.h>

#include "player/actions.h"

/* The cursor hides after this time without movement. */
#define CURSOR_US 1000000

/* A key that types text is identified by the text, so any keyboard layout works. */
typedef struct Binding {
    const char *text;
    SDL_Keycode code;
    int arg;
} Binding;

/* Added to the code of a key pressed with Ctrl or Alt. SDL's codes use only bit 30 and low bits. */
#define WITH_CTRL (1 << 29)
#define WITH_ALT (1 << 28)
#define WITH_SHIFT (1 << 27) /* only with WITH_CTRL or WITH_ALT */

typedef struct Row {
    const char *keys, *what; /* for the help; both NULL: not listed; `keys` NULL: heading */
    Action *act;             /* NULL: only listed, as a mouse action or a heading */
    int which;
    int repeats; /* 1: key repeat triggers the action again */
    Binding bindings[2];
} Row;

/* clang-format off */
#define TEXT(text, arg) {text, 0, arg}
#define KEY(name, arg) {NULL, SDLK_##name, arg}
#define CTRL(name, arg) {NULL, SDLK_##name | WITH_CTRL, arg}
#define CTRL_SHIFT(name, arg) {NULL, SDLK_##name | WITH_CTRL | WITH_SHIFT, arg}
#define ALT(name, arg) {NULL, SDLK_##name | WITH_ALT, arg}
#define HEADING(text) {NULL, text, NULL, 0, 0, {{0}}}

/* All keys with their help text and function, in groups. */
static const Row rows[] = {
    HEADING("Play"),
    {"Space  p", "pause, play", act_pause, 0, 0, {TEXT(" ", 0), TEXT("p", 0)}},
    {"←  →", "5 s back, forward", act_seek, 0, 1, {KEY(LEFT, -5), KEY(RIGHT, 5)}},
    {"↓  ↑", "1 min back, forward", act_seek, 0, 1, {KEY(DOWN, -60), KEY(UP, 60)}},
    {",  .", "one frame back, forward", act_step, 0, 1, {TEXT(",", 1), TEXT(".", 0)}},
    {"Home  End", "beginning, end", act_edge, 0, 0, {KEY(HOME, 0), KEY(END, 1)}},
    {"PgUp  PgDn", "next, previous chapter", act_chapter, 0, 1,
     {KEY(PAGEUP, 1), KEY(PAGEDOWN, -1)}},
    {"[  ]", "slower, faster", act_speed, 0, 1, {TEXT("[", -1), TEXT("]", 1)}},
    {"Backspace", "normal speed", act_speed, 0, 0, {KEY(BACKSPACE, 0)}},
    {"l  L", "loop; repeat a section", act_loop, 0, 0, {TEXT("l", 0)}},
    {NULL, NULL, act_repeat, 0, 0, {TEXT("L", 0)}},
    {"9  0", "volume", act_volume, 0, 1, {TEXT("9", -1), TEXT("0", 1)}},
    {"m", "mute", act_mute, 0, 0, {TEXT("m", 0)}},
    {"k  K", "sound earlier, later", act_sound_delay, 0, 1, {TEXT("k", -1), TEXT("K", 1)}},
    {"#", "next sound track", act_next_sound, 0, 0, {TEXT("#", 0)}},
    {"j  v", "next subtitles; show, hide", act_next_subtitles, 0, 0, {TEXT("j", 0)}},
    {NULL, NULL, act_look, LOOK_SUBTITLES, 0, {TEXT("v", 0)}},
    {"Ctrl+G", "subtitles earlier", act_subtitle_delay, 0, 1, {CTRL(g, -1)}},
    {"Ctrl+Shift+G", "subtitles later", act_subtitle_delay, 0, 1, {CTRL_SHIFT(g, 1)}},
    HEADING("Picture"),
    {"e", "equalizer on, off", act_setting, PLAYER_ON_OFF, 0, {TEXT("e", 0)}},
    {"1  2", "strength", act_setting, PLAYER_STRENGTH, 1, {TEXT("1", -1), TEXT("2", 1)}},
    {"3  4", "clip limit", act_setting, PLAYER_CLIP, 1, {TEXT("3", -1), TEXT("4", 1)}},
    {"5  6", "smoothing", act_setting, PLAYER_SMOOTH, 1, {TEXT("5", -1), TEXT("6", 1)}},
    {"b  B", "darker, brighter", act_setting, PLAYER_BRIGHTNESS, 1, {TEXT("b", -1), TEXT("B", 1)}},
    {"g  G", "gamma", act_setting, PLAYER_GAMMA, 1, {TEXT("g", -1), TEXT("G", 1)}},
    {"r", "reset settings", act_setting, PLAYER_RESET, 0, {TEXT("r", 0)}},
    {"Tab", "settings panel", act_look, LOOK_SETTINGS, 0, {KEY(TAB, 0)}},
    {"z  z Enter", "meter a drawn area; visible part", act_meter, 0, 0, {TEXT("z", 1)}},
    {NULL, NULL, act_meter, 0, 0, {KEY(RETURN, 3), KEY(KP_ENTER, 3)}},
    {"D", "deinterlace", act_setting, PLAYER_DEINTERLACE, 0, {TEXT("D", 1)}},
    {"M", "mirror", act_look, LOOK_MIRROR, 0, {TEXT("M", 0)}},
    HEADING("Compare"),
    {"c", "split, side by side, off", act_look, LOOK_COMPARE, 0, {TEXT("c", 0)}},
    {"Ctrl+←  →", "move the split line", act_look, LOOK_SPLIT_BY, 1,
     {CTRL(LEFT, -1), CTRL(RIGHT, 1)}},
    {"x", "source while held", act_look, LOOK_SOURCE, 0, {TEXT("x", 1)}},
    {"h  H", "next panel; log scale", act_look, LOOK_PANEL, 0, {TEXT("h", 0)}},
    {NULL, NULL, act_look, LOOK_LOG_SCALE, 0, {TEXT("H", 0)}},
    {"P", "panel over, beside", act_look, LOOK_PANEL_PLACE, 0, {TEXT("P", 0)}},
    HEADING("Window"),
    {"f  2 clicks", "fullscreen", act_fullscreen, 0, 0, {TEXT("f", 0)}},
    {"-  +", "zoom", act_zoom_by, 0, 1, {TEXT("-", -1), TEXT("+", 1)}},
    {"Alt+arrows", "move the zoomed picture", act_pan_by, 0, 1, {ALT(LEFT, -1), ALT(RIGHT, 1)}},
    {NULL, NULL, act_pan_by, 1, 1, {ALT(UP, -1), ALT(DOWN, 1)}},
    {"o", "show the position", act_position, 0, 0, {TEXT("o", 0)}},
    {"i", "statistics", act_look, LOOK_STATISTICS, 0, {TEXT("i", 0)}},
    {"?  F1", "this help", act_look, LOOK_HELP, 0, {TEXT("?", 0), KEY(F1, 0)}},
    {"wheel", "volume; Ctrl: zoom", NULL, 0, 0, {{0}}},
    {"drag", "seek; move the split, picture", NULL, 0, 0, {{0}}},
    {"right  middle", "pause; whole picture", NULL, 0, 0, {{0}}},
    {"q  Esc", "quit", act_quit, 0, 0, {TEXT("q", 0)}},
    {NULL, NULL, act_escape, 0, 0, {KEY(ESCAPE, 0)}},
    HEADING("Files"),
    {"<  >", "previous, next file", act_file, 0, 0, {TEXT("<", -1), TEXT(">", 1)}},
    {"media keys", "change file; pause", act_file, 0, 0, {KEY(AUDIOPREV, -1), KEY(AUDIONEXT, 1)}},
    {NULL, NULL, act_pause, 0, 0, {KEY(AUDIOPLAY, 0), KEY(AUDIOSTOP, 0)}},
    {"Ctrl+O", "open a file", act_dialog, 0, 0, {CTRL(o, 0)}},
    {"s", "screenshot", act_screenshot, 0, 0, {TEXT("s", 0)}},
    {"R", "record the camera", act_record, 0, 0, {TEXT("R", 0)}},
    {"w  W", "export; print its command", act_write, 0, 0, {TEXT("w", 0)}},
    {NULL, NULL, act_print_command, 0, 0, {TEXT("W", 0)}},
};
/* clang-format on */

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

/* Keys of the settings panel; while it is open they take precedence. */
static const Row panel_rows[] = {
    {NULL, NULL, act_look, LOOK_SETTING_ROW, 1, {KEY(UP, -1), KEY(DOWN, 1)}},
    {NULL, NULL, act_setting_chosen, 0, 1, {KEY(LEFT, -1), KEY(RIGHT, 1)}},
    {NULL, NULL, act_setting_chosen, 0, 0, {KEY(DELETE, 0), KEY(BACKSPACE, 0)}},
    {NULL, NULL, act_setting_chosen, 0, 0, {TEXT("0", 0)}},
    {NULL, NULL, act_look, LOOK_SETTINGS, 0, {KEY(ESCAPE, 0)}},
};

#define PANEL_ROWS ((int)(sizeof(panel_rows) / sizeof(panel_rows[0])))

int controls_help(OsdRow *help, int room)
{
    int count = 0;
    for (int i = 0; i < ROWS && count < room; i++)
        if (rows[i].what)
            help[count++] = (OsdRow){rows[i].keys, rows[i].what};
    return count;
}

/* Finds the row bound to `text` or, if `text` is NULL, to the key `code`. */
static const Row *find_key(const Row *all, int count, const char *text, SDL_Keycode code, int *arg)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            const Binding *b = &all[i].bindings[k];
            *arg = b->arg;
            if (text ? b->text && strcmp(b->text, text) == 0
                     : !b->text && b->code && b->code == code)
                return &all[i];
        }
    return NULL;
}

static int take_key(const Controls *c, const char *text, SDL_Keycode code, Command *command)
{
    int arg;
    const Row *row = c->settings ? find_key(panel_rows, PANEL_ROWS, text, code, &arg) : NULL;
    if (!row)
        row = find_key(rows, ROWS, text, code, &arg);
    if (!row || (c->repeated && !row->repeats))
        return 0;
    command->act = row->act;
    command->which = row->which;
    command->arg = arg;
    command->repeated = c->repeated;
    return 1;
}

/* True if the target keeps the bar visible. */
static bool is_bar(ControlsTarget target)
{
    return target != CONTROLS_PICTURE && target != CONTROLS_SPLIT;
}

static ControlsTarget target_at(const Controls *c, int x, int y)
{
    return c->target ? c->target(c->opaque, x, y) : CONTROLS_PICTURE;
}

static int set_command(Command *command, Action *act, int which, int arg, int x, int y)
{
    command->act = act;
    command->which = which;
    command->arg = arg;
    command->x = x;
    command->y = y;
    return 1;
}

/* Handles a drag to x, y, or its end there. */
static int drag_to(const Controls *c, int x, int y, Command *command)
{
    switch (c->held) {
    case CONTROLS_SPLIT: return set_command(command, act_look, LOOK_SPLIT, 0, x, y);
    case CONTROLS_TRACK: return set_command(command, act_seek_to, 0, c->dragging, x, y);
    case CONTROLS_VOLUME: return set_command(command, act_volume_to, 0, 0, x, y);
    case CONTROLS_PART:
        command->from_x = c->from_x;
        command->from_y = c->from_y;
        return c->dragging ? set_command(command, act_look, LOOK_MARK, 0, x, y)
                           : set_command(command, act_meter, 0, 0, x, y);
    default: return 0;
    }
}

static int take_left(Controls *c, const SDL_MouseButtonEvent *button, Command *command)
{
    const int was_held = c->dragging;
    c->dragging = button->state == SDL_PRESSED;
    if (!c->dragging)
        return was_held && (c->held == CONTROLS_TRACK || c->held == CONTROLS_PART) &&
               drag_to(c, button->x, button->y, command);
    c->held = c->at = target_at(c, button->x, button->y);
    if (c->metering && !is_bar(c->at)) {
        c->held = CONTROLS_PART;
        c->metering = 0;
        c->from_x = button->x;
        c->from_y = button->y;
        return 0;
    }
    if (c->held == CONTROLS_SETTINGS)
        return set_command(command, act_setting_at, 0, 0, button->x, button->y);
    if (c->held == CONTROLS_BUTTON)
        return set_command(command, act_pause, 0, 0, button->x, button->y);
    if (c->held == CONTROLS_SETTINGS_BUTTON)
        return set_command(command, act_look, LOOK_SETTINGS, 0, button->x, button->y);
    if (c->held == CONTROLS_FULLSCREEN_BUTTON)
        return set_command(command, act_fullscreen, 0, 0, button->x, button->y);
    c->twice = button->clicks == 2 && (c->held == CONTROLS_PICTURE || c->held == CONTROLS_SPLIT);
    return drag_to(c, button->x, button->y, command);
}

static int take_button(Controls *c, const SDL_MouseButtonEvent *button, Command *command)
{
    if (button->button == SDL_BUTTON_LEFT)
        return take_left(c, button, command);
    if (button->state != SDL_PRESSED)
        return 0;
    if (button->button == SDL_BUTTON_RIGHT)
        return set_command(command, act_pause, 0, 0, button->x, button->y);
    if (button->button == SDL_BUTTON_MIDDLE)
        return set_command(command, act_zoom, 0, 0, button->x, button->y);
    return 0;
}

static int take_motion(Controls *c, const SDL_MouseMotionEvent *motion, int64_t now,
                       Command *command)
{
    c->cursor_until = now + CURSOR_US;
    c->x = motion->x;
    c->y = motion->y;
    c->at = target_at(c, motion->x, motion->y);
    if (!c->dragging)
        return set_command(command, act_point, 0, 0, motion->x, motion->y);
    if (c->held == CONTROLS_PICTURE)
        return set_command(command, act_pan, 0, 0, motion->xrel, motion->yrel);
    return drag_to(c, motion->x, motion->y, command);
}

/* Ctrl or Alt combinations without a binding act like the plain key. */
static int take_press(Controls *c, const SDL_KeyboardEvent *key, Command *command)
{
    const SDL_Keycode code = key->keysym.sym;
    const int ctrl = key->keysym.mod & KMOD_CTRL ? WITH_CTRL : 0;
    const int alt = key->keysym.mod & KMOD_ALT ? WITH_ALT : 0;
    c->repeated = key->repeat;
    const int held = ctrl | alt, shift = key->keysym.mod & KMOD_SHIFT ? WITH_SHIFT : 0;
    const int taken = (held && shift && take_key(c, NULL, code | held | shift, command)) ||
                      (held && take_key(c, NULL, code | held, command)) ||
                      take_key(c, NULL, code, command);
    if (!taken || command->act != act_meter)
        return taken;
    const int was_asked = c->metering;
    c->metering = 0;
    return was_asked;
}

static int take_event(Controls *c, const SDL_Event *event, int64_t now, Command *command)
{
    switch (event->type) {
    case SDL_QUIT:
        command->act = act_quit;
        command->arg = !c->closed;
        return 1;
    case SDL_WINDOWEVENT:
        c->closed |= event->window.event == SDL_WINDOWEVENT_CLOSE;
        if (event->window.event == SDL_WINDOWEVENT_LEAVE) {
            c->at = CONTROLS_PICTURE;
            c->x = c->y = -1;
        }
        return 1;
    case SDL_DROPBEGIN: c->dropping = 1; return 0;
    case SDL_DROPCOMPLETE: c->dropping = 0; return 0;
    case SDL_DROPTEXT: /* a link */
    case SDL_DROPFILE:
        command->act = act_open;
        command->arg = c->dropping == 2;
        c->dropping = c->dropping ? 2 : 0;
        snprintf(command->path, sizeof(command->path), "%s", event->drop.file);
        SDL_free(event->drop.file);
        return 1;
    case SDL_KEYDOWN: return take_press(c, &event->key, command);
    case SDL_TEXTINPUT:
        if (!take_key(c, event->text.text, 0, command))
            return 0;
        if (command->act == act_meter) { /* a second press meters everything */
            command->arg = c->metering ? 2 : 1;
            c->metering = !c->metering;
        }
        return 1;
    case SDL_KEYUP:
        return event->key.keysym.sym == SDLK_x &&
               set_command(command, act_look, LOOK_SOURCE, 0, 0, 0);
    case SDL_MOUSEMOTION: return take_motion(c, &event->motion, now, command);
    case SDL_MOUSEWHEEL: {
        const SDL_MouseWheelEvent *wheel = &event->wheel;
        const int steps = wheel->direction == SDL_MOUSEWHEEL_FLIPPED ? -wheel->y : wheel->y;
        int x, y;
        if (steps && c->settings && c->at == CONTROLS_SETTINGS)
            return set_command(command, act_setting_scroll, 0, steps, c->x, c->y);
        (void)SDL_GetMouseState(&x, &y);
        return steps && set_command(command, SDL_GetModState() & KMOD_CTRL ? act_zoom : act_volume,
                                    0, steps, x, y);
    }
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP: return take_button(c, &event->button, command);
    default: return 0;
    }
}

int controls_next(Controls *c, int64_t now, Command *command)
{
    SDL_Event event;
    if (now < c->cursor_until) /* the bar may have appeared under a resting mouse */
        c->at = target_at(c, c->x, c->y);
    if (c->dragging || is_bar(c->at))
        c->cursor_until = now + CURSOR_US;
    memset(command, 0, offsetof(Command, path));
    command->path[0] = '\0';
    if (c->twice) {
        c->twice = 0;
        command->act = act_fullscreen;
        return 1;
    }
    while (SDL_PollEvent(&event))
        if (take_event(c, &event, now, command))
            return 1;
    return 0;
}
