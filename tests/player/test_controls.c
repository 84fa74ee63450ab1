/* The commands that keys and the mouse give. */
#include <SDL.h>

#include "check.h"
#include "player/actions.h"
#include "player/controls.h"

#define NOW INT64_C(5000000)

static Controls controls;

static void type(const char *text)
{
    SDL_Event event = {.type = SDL_TEXTINPUT};
    snprintf(event.text.text, sizeof(event.text.text), "%s", text);
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
}

static void press_with(SDL_Keycode code, SDL_Keymod mod, int repeats)
{
    SDL_Event event = {.type = SDL_KEYDOWN};
    event.key.keysym.sym = code;
    event.key.keysym.mod = (Uint16)mod;
    event.key.repeat = (Uint8)repeats;
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
}

static void press(SDL_Keycode code, int repeats)
{
    press_with(code, KMOD_NONE, repeats);
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

/* Calls twice, because SDL_PollEvent() may return 0 once although events wait. */
static int next(Command *command)
{
    return controls_next(&controls, NOW, command) || controls_next(&controls, NOW, command);
}

/* Checks that the next command is this one, and returns it. */
static Command expect(Action *act, int arg)
{
    static Command command;
    const int there = next(&command);
    CHECK(there && command.act == act && command.arg == arg, "%s (%d, not %d)",
          there ? "another command" : "no command", command.arg, arg);
    return command;
}

static void expect_none(void)
{
    static Command command;
    CHECK(!next(&command), "an unexpected command (%d)", command.arg);
}

static void begin(void)
{
    if (SDL_Init(SDL_INIT_EVENTS) < 0)
        check_skip("no events: %s", SDL_GetError());
    SDL_FlushEvents(SDL_FIRSTEVENT, SDL_LASTEVENT);
    controls = (Controls){0};
}

/* Added to a key's code. */
#define WITH_CTRL (1 << 29)
#define WITH_ALT (1 << 28)

typedef struct Key {
    const char *text; /* the character that the key types; NULL: `code` names the key */
    SDL_Keycode code;
    Action *act;
    int arg, which;
} Key;

/* Each key gives its command and no other. */
static void press_each(const Key *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        SDL_Keymod mod = all[i].code & WITH_ALT ? KMOD_LALT : KMOD_NONE;
        if (all[i].code & WITH_CTRL)
            mod = i % 2 ? KMOD_LCTRL : KMOD_RCTRL;
        if (all[i].text)
            type(all[i].text);
        else
            press_with(all[i].code & ~(WITH_CTRL | WITH_ALT), mod, 0);
        const Command c = expect(all[i].act, all[i].arg);
        CHECK(!c.repeated && c.which == all[i].which, "repeated, or `which` is %d", c.which);
        expect_none();
    }
}

#define PRESS_EACH(all) press_each(all, sizeof(all) / sizeof((all)[0]))

TEST(each_key_gives_its_command)
{
    /* clang-format off */
    static const Key all[] = {
        {" ", 0, act_pause, 0, 0}, {"p", 0, act_pause, 0, 0}, {NULL, SDLK_LEFT, act_seek, -5, 0},
        {NULL, SDLK_RIGHT, act_seek, 5, 0}, {NULL, SDLK_DOWN, act_seek, -60, 0},
        {NULL, SDLK_UP, act_seek, 60, 0}, {NULL, SDLK_HOME, act_edge, 0, 0},
        {NULL, SDLK_END, act_edge, 1, 0}, {NULL, SDLK_PAGEUP, act_chapter, 1, 0},
        {NULL, SDLK_PAGEDOWN, act_chapter, -1, 0}, {"l", 0, act_loop, 0, 0},
        {"L", 0, act_repeat, 0, 0}, {"o", 0, act_position, 0, 0}, {",", 0, act_step, 1, 0},
        {".", 0, act_step, 0, 0}, {"[", 0, act_speed, -1, 0}, {"]", 0, act_speed, 1, 0},
        {"9", 0, act_volume, -1, 0}, {"0", 0, act_volume, 1, 0},
        {"1", 0, act_setting, -1, PLAYER_STRENGTH}, {"2", 0, act_setting, 1, PLAYER_STRENGTH},
        {"3", 0, act_setting, -1, PLAYER_CLIP}, {"4", 0, act_setting, 1, PLAYER_CLIP},
        {"5", 0, act_setting, -1, PLAYER_SMOOTH}, {"6", 0, act_setting, 1, PLAYER_SMOOTH},
        {"b", 0, act_setting, -1, PLAYER_BRIGHTNESS}, {"B", 0, act_setting, 1, PLAYER_BRIGHTNESS},
        {"g", 0, act_setting, -1, PLAYER_GAMMA}, {"G", 0, act_setting, 1, PLAYER_GAMMA},
        {"e", 0, act_setting, 0, PLAYER_ON_OFF}, {"r", 0, act_setting, 0, PLAYER_RESET},
        {"-", 0, act_zoom_by, -1, 0}, {"+", 0, act_zoom_by, 1, 0},
        {"h", 0, act_look, 0, LOOK_PANEL}, {"H", 0, act_look, 0, LOOK_LOG_SCALE},
        {"P", 0, act_look, 0, LOOK_PANEL_PLACE}, {"?", 0, act_look, 0, LOOK_HELP},
        {NULL, SDLK_F1, act_look, 0, LOOK_HELP}, {"M", 0, act_look, 0, LOOK_MIRROR},
        {"i", 0, act_look, 0, LOOK_STATISTICS}, {"v", 0, act_look, 0, LOOK_SUBTITLES},
        {"c", 0, act_look, 0, LOOK_COMPARE}, {"R", 0, act_record, 0, 0},
        {"w", 0, act_write, 0, 0}, {"W", 0, act_print_command, 0, 0}, {"q", 0, act_quit, 0, 0},
        {NULL, SDLK_ESCAPE, act_escape, 0, 0}, {NULL, SDLK_AUDIOPREV, act_file, -1, 0},
        {NULL, SDLK_AUDIONEXT, act_file, 1, 0}, {NULL, SDLK_AUDIOPLAY, act_pause, 0, 0},
        {NULL, SDLK_AUDIOSTOP, act_pause, 0, 0}, {NULL, SDLK_o | WITH_CTRL, act_dialog, 0, 0},
        {NULL, SDLK_LEFT | WITH_CTRL, act_look, -1, LOOK_SPLIT_BY},
        {NULL, SDLK_RIGHT | WITH_CTRL, act_look, 1, LOOK_SPLIT_BY},
        {NULL, SDLK_UP | WITH_CTRL, act_seek, 60, 0},
        {NULL, SDLK_LEFT | WITH_ALT, act_pan_by, -1, 0},
        {NULL, SDLK_RIGHT | WITH_ALT, act_pan_by, 1, 0},
        {NULL, SDLK_UP | WITH_ALT, act_pan_by, -1, 1},
        {NULL, SDLK_DOWN | WITH_ALT, act_pan_by, 1, 1},
    };
    /* clang-format on */
    begin();
    PRESS_EACH(all);
    press(SDLK_o, 0);      /* only its character counts */
    press(SDLK_RETURN, 0); /* there is no metering to end */
    expect_none();
    for (int i = 0; i < 3; i++) {
        type("z");
        (void)expect(act_meter, 1);
        i < 2 ? press(i ? SDLK_KP_ENTER : SDLK_RETURN, 0) : type("z");
        (void)expect(act_meter, i < 2 ? 3 : 2);
    }
    type("Q");
    type("é");
    press(SDLK_F5, 0);
    press(SDLK_q, 0);
    expect_none();
}

TEST(held_keys_repeat_where_useful)
{
    begin();
    press(SDLK_RIGHT, 1);
    CHECK(expect(act_seek, 5).repeated, "a held key does not count as repeated");
    press(SDLK_SPACE, 1);
    type(" ");
    press(SDLK_ESCAPE, 1);
    expect_none();
    press(SDLK_SPACE, 0);
    type(" ");
    CHECK(!expect(act_pause, 0).repeated, "a key pressed again counts as repeated");
}

/* Keys that the panel does not use keep their meaning. */
TEST(settings_panel_gets_its_keys)
{
    /* clang-format off */
    static const Key all[] = {
        {NULL, SDLK_UP, act_look, -1, LOOK_SETTING_ROW},
        {NULL, SDLK_DOWN, act_look, 1, LOOK_SETTING_ROW},
        {NULL, SDLK_LEFT, act_setting_chosen, -1, 0},
        {NULL, SDLK_RIGHT, act_setting_chosen, 1, 0},
        {NULL, SDLK_DELETE, act_setting_chosen, 0, 0},
        {NULL, SDLK_BACKSPACE, act_setting_chosen, 0, 0}, {"0", 0, act_setting_chosen, 0, 0},
        {NULL, SDLK_TAB, act_look, 0, LOOK_SETTINGS},
        {NULL, SDLK_ESCAPE, act_look, 0, LOOK_SETTINGS}, {"9", 0, act_volume, -1, 0},
        {" ", 0, act_pause, 0, 0},
    };
    /* clang-format on */
    begin();
    press(SDLK_TAB, 0);
    CHECK(expect(act_look, 0).which == LOOK_SETTINGS, "not LOOK_SETTINGS");
    controls.settings = 1;
    PRESS_EACH(all);
    press(SDLK_RIGHT, 1);
    CHECK(expect(act_setting_chosen, 1).repeated, "a held key does not count as repeated");
    press(SDLK_TAB, 1);
    press(SDLK_DELETE, 1);
    expect_none();
}

static int bar_is_hidden;

/* The control under the mouse, by x. */
static ControlsTarget target(const void *opaque, int x, int y)
{
    (void)opaque;
    (void)y;
    return x < 100 || bar_is_hidden ? CONTROLS_PICTURE
           : x < 200                ? CONTROLS_SPLIT
           : x < 300                ? CONTROLS_TRACK
           : x < 400                ? CONTROLS_VOLUME
           : x < 500                ? CONTROLS_BUTTON
           : x < 600                ? CONTROLS_BAR
                                    : CONTROLS_SETTINGS;
}

static void begin_mouse(void)
{
    begin();
    controls.target = target;
}

static void expect_at(Action *act, int arg, int x, int y)
{
    const Command c = expect(act, arg);
    CHECK(c.x == x && c.y == y, "at %d, %d, not %d, %d", c.x, c.y, x, y);
}

static void expect_look(LookChange change, int x, int y)
{
    const Command c = expect(act_look, 0);
    CHECK(c.which == (int)change && c.x == x && c.y == y, "%d at %d, %d", c.which, c.x, c.y);
}

/* A drag on the bar's track seeks, finally to where the button is released. */
TEST(bar_drag_seeks)
{
    begin_mouse();
    click(1, 1, 210);
    expect_at(act_seek_to, 1, 210, 0);
    move(290);
    expect_at(act_seek_to, 1, 290, 7);
    move(10);
    expect_at(act_seek_to, 1, 10, 7);
    click(0, 1, 280);
    expect_at(act_seek_to, 0, 280, 0);
    click(1, 1, 350);
    expect_at(act_volume_to, 0, 350, 0);
    move(320);
    expect_at(act_volume_to, 0, 320, 7);
    click(0, 1, 320);
    expect_none();
    click(1, 1, 450);
    expect_at(act_pause, 0, 450, 0);
    click(0, 1, 450);
    click(1, 2, 450); /* a double click pauses and resumes */
    expect_at(act_pause, 0, 450, 0);
    click(0, 2, 450);
    click(1, 2, 550); /* on the bar, but on no control */
    click(0, 2, 550);
    expect_none();
    move(550);
    expect_at(act_point, 0, 550, 7);
    controls.cursor_until = 0;
    expect_none();
    CHECK(controls.cursor_until > NOW, "the bar disappears while the mouse is on it");
    SDL_Event event = {.type = SDL_WINDOWEVENT};
    event.window.event = SDL_WINDOWEVENT_LEAVE;
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
    (void)expect(NULL, 0);
    controls.cursor_until = 0;
    expect_none();
    CHECK(!controls.cursor_until, "the bar stays without the mouse");
    bar_is_hidden = 1; /* until the mouse moves */
    move(550);
    expect_at(act_point, 0, 550, 7);
    bar_is_hidden = 0;
    controls.cursor_until = NOW + 1;
    expect_none();
    CHECK(controls.cursor_until > NOW + 1, "the bar disappears although the mouse rests on it");
}

/* Outside the bar, a drag moves the picture or the split line, or draws the metered area. */
TEST(mouse_on_the_picture)
{
    SDL_Event wheel = {.type = SDL_MOUSEWHEEL};
    begin_mouse();
    click(1, 1, 50);
    move(60);
    (void)expect(act_pan, 0);
    click(0, 1, 60);
    click(1, 1, 150);
    expect_look(LOOK_SPLIT, 150, 0);
    move(60);
    expect_look(LOOK_SPLIT, 60, 7);
    click(0, 1, 60);
    type("z");
    (void)expect(act_meter, 1);
    click(1, 1, 50);
    move(60);
    expect_look(LOOK_MARK, 60, 7);
    click(0, 1, 70);
    expect_at(act_meter, 0, 70, 0);
    click(1, 1, 650);
    expect_at(act_setting_at, 0, 650, 0);
    click(0, 1, 650);
    move(50);
    expect_at(act_point, 0, 50, 7);
    for (int ctrl = 0; ctrl < 2; ctrl++) {
        SDL_SetModState(ctrl ? KMOD_LCTRL : KMOD_NONE);
        wheel.wheel.y = -2;
        CHECK(SDL_PushEvent(&wheel) == 1, "%s", SDL_GetError());
        (void)expect(ctrl ? act_zoom : act_volume, -2);
    }
    SDL_SetModState(KMOD_NONE);
    expect_none();
}

TEST(source_is_shown_while_x_is_held)
{
    SDL_Event event = {.type = SDL_KEYUP};
    begin();
    type("x");
    CHECK(expect(act_look, 1).which == LOOK_SOURCE, "not LOOK_SOURCE");
    press(SDLK_x, 1);
    type("x"); /* the key repeats itself */
    expect_none();
    event.key.keysym.sym = SDLK_q;
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
    expect_none();
    event.key.keysym.sym = SDLK_x;
    CHECK(SDL_PushEvent(&event) == 1, "%s", SDL_GetError());
    CHECK(expect(act_look, 0).which == LOOK_SOURCE, "not LOOK_SOURCE");
    expect_none();
}

/* ---- the help and the page name the same keys ---- */

/* Names of keys, with "Ctrl+" or "Alt+", each once, between spaces. */
typedef struct Names {
    char text[2048];
} Names;

static int has_name(const Names *names, const char *name)
{
    char word[32];
    snprintf(word, sizeof(word), " %s ", name);
    return strstr(names->text, word) != NULL;
}

static void add_name(Names *names, const char *with, const char *name)
{
    char whole[30];
    const size_t end = strlen(names->text);
    snprintf(whole, sizeof(whole), "%s%s", with, name);
    if (has_name(names, whole))
        return;
    snprintf(names->text + end, sizeof(names->text) - end, end ? "%s " : " %s ", whole);
}

/* Reads the names of keys from a line of the help: "z  z Enter", "Ctrl+← →", "Alt+arrows". "·"
 * separates keys. */
static void read_names(Names *names, const char *line)
{
    static const char *const arrows[] = {"←", "→", "↑", "↓"};
    char copy[256];
    const char *with = "";
    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "·") == 0) {
            with = "";
            continue;
        }
        if (strncmp(word, "Ctrl+Shift+", 11) == 0) {
            with = "Ctrl+Shift+";
            word += strlen(with);
        } else if (strncmp(word, "Ctrl+", 5) == 0 || strncmp(word, "Alt+", 4) == 0) {
            with = word[0] == 'C' ? "Ctrl+" : "Alt+";
            word += strlen(with);
        }
        if (strcmp(word, "arrows") == 0)
            for (int i = 0; i < 4; i++)
                add_name(names, with, arrows[i]);
        else
            add_name(names, with, word);
    }
}

static void read_help(Names *names)
{
    OsdRow rows[OSD_MAX_ROWS];
    const int count = controls_help(rows, OSD_MAX_ROWS);
    CHECK(count > 20 && controls_help(rows, 3) == 3, "%d rows", count);
    for (int i = 0; i < count; i++)
        if (rows[i].name) /* headings have no name */
            read_names(names, rows[i].name);
}

/* Reads the first column of the page's table, up to the mouse's rows. */
static void read_page(Names *names)
{
    enum { BEFORE, TITLE, TABLE } at = BEFORE;
    char line[1024];
    FILE *file = fopen(LUMEQ_PAGE, "r");
    if (!CHECK(file != NULL, "no page"))
        return;
    while (fgets(line, sizeof(line), file) && strncmp(line, "| wheel", 7) != 0) {
        char *end = at == TABLE ? strstr(line + 2, " |") : NULL;
        if (strncmp(line, "## Keys", 7) == 0)
            at = TITLE;
        else if (at == TITLE && strncmp(line, "|---", 4) == 0)
            at = TABLE;
        if (end) {
            *end = '\0';
            read_names(names, line + 2);
        }
    }
    fclose(file);
}

static void all_of(const Names *names, const Names *others, const char *what)
{
    Names copy = *names;
    for (char *name = strtok(copy.text, " "); name; name = strtok(NULL, " "))
        CHECK(has_name(others, name), "%s %s", name, what);
}

TEST(help_and_page_name_the_same_keys)
{
    static Names lines, page;
    static const char *const mouse[] = {"2", "clicks", "wheel", "drag", "right", "middle"};
    read_help(&lines);
    read_page(&page);
    for (size_t i = 0; i < sizeof(mouse) / sizeof(mouse[0]); i++)
        add_name(&page, "", mouse[i]);
    all_of(&lines, &page, "is in the help, but not in the page");
    all_of(&page, &lines, "is in the page, but not in the help");
    SDL_Quit();
}

TEST_MAIN
