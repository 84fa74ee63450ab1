#include "player/controls.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <SDL.h>

/* Without being moved for this long, the cursor hides. */
#define CURSOR_US 1000000

/* Keys that write something are known by what they write, wherever it is on the keyboard. */
typedef struct Binding {
    const char *text;
    SDL_Keycode code;
    int arg;
} Binding;

/* Added to the code of what is a key with Ctrl, or with Alt. */
#define WITH_CTRL (1 << 29)
#define WITH_ALT (1 << 28)

typedef struct Row {
    const char *keys, *what; /* for the help */
    CommandKind kind;
    int repeats; /* holding the key down does it again */
    Binding bindings[2];
} Row;

/* Those of COMMAND_KINDS are there to be read. */
static const Row rows[] = {
    {"Space  p", "pause, play", COMMAND_PAUSE, 0, {{" ", 0, 0}, {"p", 0, 0}}},
    {"←  →", "5 s back, on", COMMAND_SEEK, 1, {{NULL, SDLK_LEFT, -5}, {NULL, SDLK_RIGHT, 5}}},
    {"↓  ↑", "1 min back, on", COMMAND_SEEK, 1, {{NULL, SDLK_DOWN, -60}, {NULL, SDLK_UP, 60}}},
    {",  .", "one frame back, on", COMMAND_STEP, 1, {{",", 0, 1}, {".", 0, 0}}},
    {"[  ]", "slower, faster", COMMAND_SPEED, 1, {{"[", 0, -1}, {"]", 0, 1}}},
    {"Backspace", "usual speed", COMMAND_SPEED, 0, {{NULL, SDLK_BACKSPACE, 0}}},
    {"Home  End",
     "the beginning, the end",
     COMMAND_EDGE,
     0,
     {{NULL, SDLK_HOME, 0}, {NULL, SDLK_END, 1}}},
    {"PgUp  PgDn",
     "chapter on, back",
     COMMAND_CHAPTER,
     1,
     {{NULL, SDLK_PAGEUP, 1}, {NULL, SDLK_PAGEDOWN, -1}}},
    {"<  >", "file before, next file", COMMAND_FILE, 0, {{"<", 0, -1}, {">", 0, 1}}},
    {"media keys",
     "files; pause",
     COMMAND_FILE,
     0,
     {{NULL, SDLK_AUDIOPREV, -1}, {NULL, SDLK_AUDIONEXT, 1}}},
    {NULL, NULL, COMMAND_PAUSE, 0, {{NULL, SDLK_AUDIOPLAY, 0}, {NULL, SDLK_AUDIOSTOP, 0}}},
    {"o", "where it is", COMMAND_POSITION, 0, {{"o", 0, 0}}},
    {"l  L", "loop; repeat a part", COMMAND_LOOP, 0, {{"l", 0, 0}}},
    {NULL, NULL, COMMAND_REPEAT, 0, {{"L", 0, 0}}},
    {"9  0", "volume", COMMAND_VOLUME, 1, {{"9", 0, -1}, {"0", 0, 1}}},
    {"m", "mute", COMMAND_MUTE, 0, {{"m", 0, 0}}},
    {"#", "next sound track", COMMAND_NEXT_SOUND, 0, {{"#", 0, 0}}},
    {"j  v", "next subtitles; show them", COMMAND_NEXT_SUBTITLES, 0, {{"j", 0, 0}}},
    {NULL, NULL, COMMAND_SUBTITLES, 0, {{"v", 0, 0}}},
    {"e", "equalizer on, off", COMMAND_EQUALIZER, 0, {{"e", 0, 0}}},
    {"1  2", "strength", COMMAND_STRENGTH, 1, {{"1", 0, -1}, {"2", 0, 1}}},
    {"3  4", "clip limit", COMMAND_CLIP, 1, {{"3", 0, -1}, {"4", 0, 1}}},
    {"5  6", "smoothing", COMMAND_SMOOTH, 1, {{"5", 0, -1}, {"6", 0, 1}}},
    {"b  B", "darker, brighter", COMMAND_BRIGHTNESS, 1, {{"b", 0, -1}, {"B", 0, 1}}},
    {"g  G", "gamma", COMMAND_GAMMA, 1, {{"g", 0, -1}, {"G", 0, 1}}},
    {"r", "reset settings", COMMAND_RESET, 0, {{"r", 0, 0}}},
    {"Tab", "settings: keys, mouse", COMMAND_SETTINGS, 0, {{NULL, SDLK_TAB, 0}}},
    {"c", "compare: split, side, off", COMMAND_COMPARE, 0, {{"c", 0, 0}}},
    {"Ctrl+←  →",
     "move its line",
     COMMAND_SPLIT_BY,
     1,
     {{NULL, SDLK_LEFT | WITH_CTRL, -1}, {NULL, SDLK_RIGHT | WITH_CTRL, 1}}},
    {"z  z Enter", "meter: draw; what is seen", COMMAND_METER, 0, {{"z", 0, 1}}},
    {NULL, NULL, COMMAND_METER, 0, {{NULL, SDLK_RETURN, 3}, {NULL, SDLK_KP_ENTER, 3}}},
    {"-  +", "zoom", COMMAND_ZOOM_BY, 1, {{"-", 0, -1}, {"+", 0, 1}}},
    {"Alt+arrows",
     "move what is zoomed",
     COMMAND_PAN_ACROSS,
     1,
     {{NULL, SDLK_LEFT | WITH_ALT, -1}, {NULL, SDLK_RIGHT | WITH_ALT, 1}}},
    {NULL,
     NULL,
     COMMAND_PAN_DOWN,
     1,
     {{NULL, SDLK_UP | WITH_ALT, -1}, {NULL, SDLK_DOWN | WITH_ALT, 1}}},
    {"x", "the source, while held", COMMAND_SOURCE, 0, {{"x", 0, 1}}},
    {"h  H", "next panel; its scale", COMMAND_HISTOGRAM, 0, {{"h", 0, 0}}},
    {NULL, NULL, COMMAND_SCALE, 0, {{"H", 0, 0}}},
    {"P", "panel over, beside", COMMAND_PLACE, 0, {{"P", 0, 0}}},
    {"R", "record", COMMAND_RECORD, 0, {{"R", 0, 0}}},
    {"w  W", "write it; its command", COMMAND_WRITE, 0, {{"w", 0, 0}}},
    {NULL, NULL, COMMAND_SCRIPT, 0, {{"W", 0, 0}}},
    {"D", "deinterlace", COMMAND_DEINTERLACE, 0, {{"D", 0, 0}}},
    {"M", "mirror", COMMAND_MIRROR, 0, {{"M", 0, 0}}},
    {"f  2 clicks", "fullscreen", COMMAND_FULLSCREEN, 0, {{"f", 0, 0}}},
    {"s", "screenshot", COMMAND_SCREENSHOT, 0, {{"s", 0, 0}}},
    {"i", "statistics", COMMAND_STATISTICS, 0, {{"i", 0, 0}}},
    {"?", "this help, its next page", COMMAND_HELP, 0, {{"?", 0, 0}}},
    {"wheel", "volume; Ctrl: zoom", COMMAND_KINDS, 0, {{0}}},
    {"drag", "seek; move line, picture", COMMAND_KINDS, 0, {{0}}},
    {"right  middle", "pause; whole picture", COMMAND_KINDS, 0, {{0}}},
    {"Ctrl+O", "open a file", COMMAND_DIALOG, 0, {{NULL, SDLK_o | WITH_CTRL, 0}}},
    {"q  Esc", "quit", COMMAND_QUIT, 0, {{"q", 0, 0}}},
    {NULL, NULL, COMMAND_ESCAPE, 0, {{NULL, SDLK_ESCAPE, 0}}},
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

/* While the panel of settings is there, before those. */
static const Row panel_rows[] = {
    {NULL, NULL, COMMAND_SETTINGS_ROW, 1, {{NULL, SDLK_UP, -1}, {NULL, SDLK_DOWN, 1}}},
    {NULL, NULL, COMMAND_SETTING, 1, {{NULL, SDLK_LEFT, -1}, {NULL, SDLK_RIGHT, 1}}},
    {NULL, NULL, COMMAND_SETTING, 0, {{NULL, SDLK_DELETE, 0}, {NULL, SDLK_BACKSPACE, 0}}},
    {NULL, NULL, COMMAND_SETTING, 0, {{"0", 0, 0}}},
    {NULL, NULL, COMMAND_SETTINGS, 0, {{NULL, SDLK_ESCAPE, 0}}},
};

#define PANEL_ROWS ((int)(sizeof(panel_rows) / sizeof(panel_rows[0])))

int controls_help(OsdRow *help, int room)
{
    int count = 0;
    for (int i = 0; i < ROWS && count < room; i++)
        if (rows[i].keys)
            help[count++] = (OsdRow){rows[i].keys, rows[i].what};
    return count;
}

/* `text`: what a key writes, or NULL and `code` is the key. The row that it is in, or NULL; *arg is
 * what stands there for it. */
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
    command->kind = row->kind;
    command->arg = arg;
    command->repeated = c->repeated;
    return 1;
}

/* Asked for twice, nothing is to be drawn. */
static int take_text(Controls *c, const char *text, Command *command)
{
    const int taken = take_key(c, text, 0, command);
    if (taken && command->kind == COMMAND_METER) {
        command->arg = c->metering ? 2 : 1;
        c->metering = !c->metering;
    }
    return taken;
}

/* ---- the mouse ---- */

/* On the bar, which stays then. */
static int is_bar(ControlsTarget target)
{
    return target != CONTROLS_PICTURE && target != CONTROLS_SPLIT;
}

static ControlsTarget target_at(const Controls *c, int x, int y)
{
    return c->target ? c->target(c->opaque, x, y) : CONTROLS_PICTURE;
}

static int give(Command *command, CommandKind kind, int arg, int x, int y)
{
    command->kind = kind;
    command->arg = arg;
    command->x = x;
    command->y = y;
    return 1;
}

/* What is held goes there. */
static int drag_to(const Controls *c, int x, int y, Command *command)
{
    switch (c->held) {
    case CONTROLS_SPLIT: return give(command, COMMAND_SPLIT, 0, x, y);
    case CONTROLS_TRACK: return give(command, COMMAND_SEEK_TO, c->dragging, x, y);
    case CONTROLS_VOLUME: return give(command, COMMAND_VOLUME_TO, 0, x, y);
    case CONTROLS_PART:
        command->from.x = c->from_x;
        command->from.y = c->from_y;
        return give(command, c->dragging ? COMMAND_MARK : COMMAND_METER, 0, x, y);
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
        return give(command, COMMAND_SETTING_AT, 0, button->x, button->y);
    if (c->held == CONTROLS_BUTTON)
        return give(command, COMMAND_PAUSE, 0, button->x, button->y);
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
        return give(command, COMMAND_PAUSE, 0, button->x, button->y);
    if (button->button == SDL_BUTTON_MIDDLE)
        return give(command, COMMAND_ZOOM, 0, button->x, button->y);
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
        return give(command, COMMAND_POINT, 0, motion->x, motion->y);
    if (c->held == CONTROLS_PICTURE)
        return give(command, COMMAND_PAN, 0, motion->xrel, motion->yrel);
    return drag_to(c, motion->x, motion->y, command);
}

static int take_wheel(const Controls *c, const SDL_MouseWheelEvent *wheel, Command *command)
{
    const int steps = wheel->direction == SDL_MOUSEWHEEL_FLIPPED ? -wheel->y : wheel->y;
    int x, y;
    if (!steps)
        return 0;
    if (c->settings && c->at == CONTROLS_SETTINGS)
        return give(command, COMMAND_SETTING_TURN, steps, c->x, c->y);
    (void)SDL_GetMouseState(&x, &y);
    return give(command, SDL_GetModState() & KMOD_CTRL ? COMMAND_ZOOM : COMMAND_VOLUME, steps, x,
                y);
}

/* ---- events ---- */

/* What means nothing with Ctrl or Alt is the key alone. */
static int take_press(Controls *c, const SDL_KeyboardEvent *key, Command *command)
{
    const SDL_Keycode code = key->keysym.sym;
    const int ctrl = key->keysym.mod & KMOD_CTRL ? WITH_CTRL : 0;
    const int alt = key->keysym.mod & KMOD_ALT ? WITH_ALT : 0;
    c->repeated = key->repeat;
    const int taken = ((ctrl || alt) && take_key(c, NULL, code | ctrl | alt, command)) ||
                      take_key(c, NULL, code, command);
    if (!taken || command->kind != COMMAND_METER)
        return taken;
    const int was_asked = c->metering;
    c->metering = 0;
    return was_asked;
}

static int take_event(Controls *c, const SDL_Event *event, int64_t now, Command *command)
{
    switch (event->type) {
    case SDL_QUIT:
        command->kind = COMMAND_CLOSE;
        command->arg = !c->closed;
        return 1;
    case SDL_WINDOWEVENT:
        c->closed |= event->window.event == SDL_WINDOWEVENT_CLOSE;
        if (event->window.event == SDL_WINDOWEVENT_LEAVE) {
            c->at = CONTROLS_PICTURE;
            c->x = c->y = -1;
        }
        command->kind = COMMAND_REDRAW;
        return 1;
    case SDL_DROPBEGIN: c->dropping = 1; return 0;
    case SDL_DROPCOMPLETE: c->dropping = 0; return 0;
    case SDL_DROPFILE:
        command->kind = COMMAND_OPEN;
        command->arg = c->dropping == 2;
        c->dropping = c->dropping ? 2 : 0;
        snprintf(command->path, sizeof(command->path), "%s", event->drop.file);
        SDL_free(event->drop.file);
        return 1;
    case SDL_KEYDOWN: return take_press(c, &event->key, command);
    case SDL_TEXTINPUT: return take_text(c, event->text.text, command);
    case SDL_KEYUP:
        return event->key.keysym.sym == SDLK_x && give(command, COMMAND_SOURCE, 0, 0, 0);
    case SDL_MOUSEMOTION: return take_motion(c, &event->motion, now, command);
    case SDL_MOUSEWHEEL: return take_wheel(c, &event->wheel, command);
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP: return take_button(c, &event->button, command);
    default: return 0;
    }
}

int controls_next(Controls *c, int64_t now, Command *command)
{
    SDL_Event event;
    if (now < c->cursor_until) /* the bar may have come to where the mouse rests */
        c->at = target_at(c, c->x, c->y);
    if (c->dragging || is_bar(c->at))
        c->cursor_until = now + CURSOR_US;
    memset(command, 0, offsetof(Command, path));
    command->path[0] = '\0';
    if (c->twice) {
        c->twice = 0;
        command->kind = COMMAND_FULLSCREEN;
        return 1;
    }
    while (SDL_PollEvent(&event))
        if (take_event(c, &event, now, command)) {
            command->at = now - (int64_t)(SDL_GetTicks() - event.common.timestamp) * 1000;
            return 1;
        }
    return 0;
}
