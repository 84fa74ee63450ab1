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

typedef struct Row {
    const char *keys, *what; /* for the help */
    CommandKind kind;
    int repeats; /* holding the key down does it again */
    Binding bindings[2];
} Row;

static const Row rows[] = {
    {"Space  p", "pause, play", COMMAND_PAUSE, 0, {{" ", 0, 0}, {"p", 0, 0}}},
    {"←  →", "5 s back, on", COMMAND_SEEK, 1, {{NULL, SDLK_LEFT, -5}, {NULL, SDLK_RIGHT, 5}}},
    {"↓  ↑", "1 min back, on", COMMAND_SEEK, 1, {{NULL, SDLK_DOWN, -60}, {NULL, SDLK_UP, 60}}},
    {",  .", "one frame back, on", COMMAND_STEP, 1, {{",", 0, 1}, {".", 0, 0}}},
    {"[  ]", "slower, faster", COMMAND_SPEED, 1, {{"[", 0, -1}, {"]", 0, 1}}},
    {"Backspace", "usual speed", COMMAND_SPEED, 0, {{NULL, SDLK_BACKSPACE, 0}}},
    {"l", "loop", COMMAND_LOOP, 0, {{"l", 0, 0}}},
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
    {"r", "reset these", COMMAND_RESET, 0, {{"r", 0, 0}}},
    {"c", "compare: split, side, off", COMMAND_COMPARE, 0, {{"c", 0, 0}}},
    {"h  H", "histogram; its scale", COMMAND_HISTOGRAM, 0, {{"h", 0, 0}}},
    {NULL, NULL, COMMAND_SCALE, 0, {{"H", 0, 0}}},
    {"R", "record the camera", COMMAND_RECORD, 0, {{"R", 0, 0}}},
    {"D", "deinterlace", COMMAND_DEINTERLACE, 0, {{"D", 0, 0}}},
    {"M", "mirror", COMMAND_MIRROR, 0, {{"M", 0, 0}}},
    {"f", "fullscreen", COMMAND_FULLSCREEN, 0, {{"f", 0, 0}}},
    {"s", "screenshot", COMMAND_SCREENSHOT, 0, {{"s", 0, 0}}},
    {"i", "statistics", COMMAND_STATISTICS, 0, {{"i", 0, 0}}},
    {"?", "this help", COMMAND_HELP, 0, {{"?", 0, 0}}},
    {"q  Esc", "quit", COMMAND_QUIT, 0, {{"q", 0, 0}}},
    {NULL, NULL, COMMAND_ESCAPE, 0, {{NULL, SDLK_ESCAPE, 0}}},
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
static int take_key(const Controls *c, const char *text, SDL_Keycode code, Command *command)
{
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 2; k++) {
            const Binding *b = &rows[i].bindings[k];
            const int same = text ? b->text && strcmp(b->text, text) == 0
                                  : !b->text && b->code && b->code == code;
            if (!same || (c->repeated && !rows[i].repeats))
                continue;
            command->kind = rows[i].kind;
            command->arg = b->arg;
            command->repeated = c->repeated;
            return 1;
        }
    return 0;
}

/* Not 0: the line goes there. */
static int drag_to(const Controls *c, int x, int y, Command *command)
{
    command->kind = COMMAND_SPLIT;
    command->x = x;
    command->y = y;
    return c->dragging;
}

static int take_button(Controls *c, const SDL_MouseButtonEvent *button, Command *command)
{
    const int pressed = button->state == SDL_PRESSED;
    if (button->button != SDL_BUTTON_LEFT)
        return 0;
    c->dragging = pressed && c->can_drag;
    c->twice = pressed && button->clicks == 2;
    return drag_to(c, button->x, button->y, command);
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
        command->kind = COMMAND_REDRAW;
        return 1;
    case SDL_DROPFILE:
        command->kind = COMMAND_OPEN;
        snprintf(command->path, sizeof(command->path), "%s", event->drop.file);
        SDL_free(event->drop.file);
        return 1;
    case SDL_KEYDOWN:
        c->repeated = event->key.repeat;
        return take_key(c, NULL, event->key.keysym.sym, command);
    case SDL_TEXTINPUT: return take_key(c, event->text.text, 0, command);
    case SDL_MOUSEMOTION:
        c->cursor_until = now + CURSOR_US;
        return drag_to(c, event->motion.x, event->motion.y, command);
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP: return take_button(c, &event->button, command);
    default: return 0;
    }
}

int controls_next(Controls *c, int64_t now, Command *command)
{
    SDL_Event event;
    if (c->dragging)
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
