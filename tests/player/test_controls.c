/* What is done with keyboard and mouse, as commands. */
#include <SDL.h>

#include "check.h"
#include "player/controls.h"

#define NOW INT64_C(5000000)

static Controls controls;

static void type(const char *text)
{
    SDL_Event event = {.type = SDL_TEXTINPUT};
    snprintf(event.text.text, sizeof(event.text.text), "%s", text);
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
}

static void press(SDL_Keycode code, int repeats)
{
    SDL_Event event = {.type = SDL_KEYDOWN};
    event.key.keysym.sym = code;
    event.key.repeat = (Uint8)repeats;
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
}

static void click(int pressed, int clicks, int x)
{
    SDL_Event event = {.type = pressed ? SDL_MOUSEBUTTONDOWN : SDL_MOUSEBUTTONUP};
    event.button.button = SDL_BUTTON_LEFT;
    event.button.state = pressed ? SDL_PRESSED : SDL_RELEASED;
    event.button.clicks = (Uint8)clicks;
    event.button.x = x;
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
}

static void move(int x)
{
    SDL_Event event = {.type = SDL_MOUSEMOTION};
    event.motion.x = x;
    event.motion.y = 7;
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
}

/* What was pushed since the last poll is behind a mark that ends the poll. */
static int next(Command *command)
{
    return controls_next(&controls, NOW, command) || controls_next(&controls, NOW, command);
}

/* The next command has to be this one; answers it for a closer look. */
static Command expect(CommandKind kind, int arg)
{
    static Command command;
    const int there = next(&command);
    CHECK(there && command.kind == kind && command.arg == arg,
          "command %d (%d), not %d (%d); there is %sone", (int)command.kind, command.arg, (int)kind,
          arg, there ? "" : "n");
    return command;
}

static void expect_none(void)
{
    static Command command;
    CHECK(!next(&command), "command %d", (int)command.kind);
}

static void begin(void)
{
    if (SDL_Init(SDL_INIT_EVENTS) < 0)
        check_skip("no events: %s", SDL_GetError());
    SDL_FlushEvents(SDL_FIRSTEVENT, SDL_LASTEVENT);
    controls = (Controls){0};
}

static void keys(void)
{
    static const struct {
        const char *text;
        SDL_Keycode code;
        CommandKind kind;
        int arg;
    } all[] = {
        {" ", 0, COMMAND_PAUSE, 0},
        {"p", 0, COMMAND_PAUSE, 0},
        {NULL, SDLK_LEFT, COMMAND_SEEK, -5},
        {NULL, SDLK_RIGHT, COMMAND_SEEK, 5},
        {NULL, SDLK_DOWN, COMMAND_SEEK, -60},
        {NULL, SDLK_UP, COMMAND_SEEK, 60},
        {",", 0, COMMAND_STEP, 1},
        {".", 0, COMMAND_STEP, 0},
        {"[", 0, COMMAND_SPEED, -1},
        {"]", 0, COMMAND_SPEED, 1},
        {"9", 0, COMMAND_VOLUME, -1},
        {"0", 0, COMMAND_VOLUME, 1},
        {"1", 0, COMMAND_STRENGTH, -1},
        {"2", 0, COMMAND_STRENGTH, 1},
        {"3", 0, COMMAND_CLIP, -1},
        {"4", 0, COMMAND_CLIP, 1},
        {"5", 0, COMMAND_SMOOTH, -1},
        {"6", 0, COMMAND_SMOOTH, 1},
        {"b", 0, COMMAND_BRIGHTNESS, -1},
        {"B", 0, COMMAND_BRIGHTNESS, 1},
        {"g", 0, COMMAND_GAMMA, -1},
        {"G", 0, COMMAND_GAMMA, 1},
        {"e", 0, COMMAND_EQUALIZER, 0},
        {"r", 0, COMMAND_RESET, 0},
        {"h", 0, COMMAND_HISTOGRAM, 0},
        {"H", 0, COMMAND_SCALE, 0},
        {"R", 0, COMMAND_RECORD, 0},
        {"q", 0, COMMAND_QUIT, 0},
        {NULL, SDLK_ESCAPE, COMMAND_ESCAPE, 0},
    };
    begin();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].text)
            type(all[i].text);
        else
            press(all[i].code, 0);
        CHECK(!expect(all[i].kind, all[i].arg).repeated, "it is not held down");
        expect_none();
    }
    type("Q");
    type("é");
    press(SDLK_F5, 0);
    press(SDLK_q, 0); /* what it writes counts */
    expect_none();
}

/* A key that is held down goes on where that is of use: nobody wants pause, play, pause. */
static void held_down(void)
{
    begin();
    press(SDLK_RIGHT, 1);
    CHECK(expect(COMMAND_SEEK, 5).repeated, "it is held down");
    press(SDLK_SPACE, 1);
    type(" ");
    press(SDLK_ESCAPE, 1);
    expect_none();
    press(SDLK_SPACE, 0);
    type(" ");
    CHECK(!expect(COMMAND_PAUSE, 0).repeated, "it is pressed anew");
}

static void split_line(void)
{
    begin();
    click(1, 1, 100); /* there is no line */
    move(200);
    click(0, 1, 200);
    expect_none();
    CHECK(controls.cursor_until > NOW, "the cursor is hidden where it moves");
    controls = (Controls){.can_drag = 1};
    move(50);
    expect_none();
    click(1, 1, 100);
    CHECK(expect(COMMAND_SPLIT, 0).x == 100, "where it was pressed");
    move(200);
    const Command moved = expect(COMMAND_SPLIT, 0);
    CHECK(moved.x == 200 && moved.y == 7, "where it was moved: %d, %d", moved.x, moved.y);
    click(0, 1, 300);
    move(400);
    expect_none();
    click(1, 2, 120);
    (void)expect(COMMAND_SPLIT, 0);
    (void)expect(COMMAND_FULLSCREEN, 0);
    expect_none();
}

static void window_and_files(void)
{
    SDL_Event event = {.type = SDL_DROPFILE};
    begin();
    event.drop.file = SDL_strdup("/a/file, dropped.mkv");
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
    CHECK(!strcmp(expect(COMMAND_OPEN, 0).path, "/a/file, dropped.mkv"), "another file");
    event = (SDL_Event){.type = SDL_QUIT};
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
    (void)expect(COMMAND_CLOSE, 1);
    SDL_Event closed = {.type = SDL_WINDOWEVENT};
    closed.window.event = SDL_WINDOWEVENT_CLOSE;
    CHECK(SDL_PushEvent(&closed) == 1 && SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
    (void)expect(COMMAND_REDRAW, 0);
    (void)expect(COMMAND_CLOSE, 0);
    expect_none();
}

static void help(void)
{
    OsdRow rows[OSD_MAX_ROWS];
    const int count = controls_help(rows, OSD_MAX_ROWS);
    CHECK(count > 20 && controls_help(rows, 3) == 3, "%d rows", count);
    SDL_Quit();
}

static const CheckTest tests[] = {
    {"keys", keys},
    {"held_down", held_down},
    {"split_line", split_line},
    {"window_and_files", window_and_files},
    {"help", help},
};

CHECK_MAIN(tests)
