/* The window before a video is chosen. */
#include "player/start_window.h"
#include "session.h"

static void say_nothing(const char *line)
{
    (void)line;
}

static int open_it(StartWindow **w)
{
    MediaError error = {0};
    const PlayerOptions options = {.osd_scale = 1,
                                   .host = {.note = say_nothing, .detail = say_nothing}};
    SDL_setenv("SDL_VIDEODRIVER", "offscreen", 0);
    const int ret = start_window_open(w, &options, &error);
    CHECK(ret == 0, "%s", error.text);
    keep_libraries();
    return ret;
}

static int turns(StartWindow *w, int count)
{
    int ret = 0;
    MediaError error = {0};
    while (count-- > 0 && ret == 0)
        ret = start_window_turn(w, &error);
    CHECK(ret >= 0, "%s", error.text);
    return ret;
}

static int count_bright(StartWindow *w)
{
    Grab g;
    int count = 0;
    g.pixels = screen_grab(*start_window_screen(w), &g.width, &g.height);
    for (int i = 0; g.pixels && i < g.width * g.height; i++)
        count += g.pixels[4 * i + 2] > 150;
    grab_free(&g);
    return count;
}

/* Waits for more than `than` bright pixels, or for fewer if `more` is 0. Returns their number. */
static int wait_for(StartWindow *w, int more, int than)
{
    int count = than;
    const int64_t end = session_now() + LIVENESS_US;
    while (session_now() < end && (more ? count <= than : count >= than)) {
        turns(w, 1);
        count = count_bright(w);
    }
    CHECK(more ? count > than : count < than, "%d bright pixels, not %s than %d", count,
          more ? "more" : "fewer", than);
    return count;
}

TEST(shows_prompt_and_message)
{
    StartWindow *w;
    if (has_text() && open_it(&w) == 0) {
        const int prompt = wait_for(w, 1, 200);
        start_window_say(w, "cannot open 'film.mkv': No such file or directory");
        wait_for(w, 1, prompt + 200);
        start_window_close(&w);
    }
}

/* The list of keys has more text than the prompt. */
TEST(shows_keys_and_explains_tab)
{
    StartWindow *w;
    if (!has_text() || open_it(&w) < 0)
        return;
    const int prompt = wait_for(w, 1, 200);
    for (int way = 0; way < 2; way++) {
        way ? session_press(SDLK_F1) : session_type("?");
        const int keys = wait_for(w, 1, 2 * prompt);
        way ? session_press(SDLK_F1) : session_type("?");
        wait_for(w, 0, keys / 2);
    }
    session_press(SDLK_TAB);
    wait_for(w, 1, prompt + 200);
    CHECK(turns(w, 1) == 0, "Tab closes the window");
    start_window_close(&w);
}

TEST(takes_files_dropped_together)
{
    StartWindow *w;
    FileList files = {.at = -1};
    if (open_it(&w) < 0)
        return;
    turns(w, 2);
    CHECK(start_window_take(w, &files) == 0, "there is a file before the drop");
    SDL_PushEvent(&(SDL_Event){.type = SDL_DROPBEGIN});
    session_drop("/a.mkv");
    turns(w, 2);
    CHECK(start_window_take(w, &files) == 0, "the first file comes before the second");
    session_drop("/b.mkv");
    SDL_PushEvent(&(SDL_Event){.type = SDL_DROPCOMPLETE});
    turns(w, 2);
    CHECK(start_window_take(w, &files) == 2 && files.count == 2 &&
              strcmp(files.entries[1].path, "/b.mkv") == 0,
          "%d files", files.count);
    CHECK(start_window_take(w, &files) == 0 && files.count == 2, "the files come twice");
    file_list_clear(&files);
    start_window_close(&w);
}

TEST(closed_by_keys_and_its_button)
{
    StartWindow *w;
    for (int way = 0; way < 3; way++) {
        if (open_it(&w) < 0)
            return;
        session_type("f");
        CHECK(turns(w, 2) == 0, "f closes the window");
        if (way == 0) {
            session_press(SDLK_ESCAPE);
            CHECK(turns(w, 2) == 0, "Esc closes a fullscreen window");
            session_press(SDLK_ESCAPE);
        } else if (way == 1) {
            session_type("q");
        } else {
            SDL_PushEvent(&(SDL_Event){.type = SDL_QUIT});
        }
        CHECK(turns(w, 3) == 1, "way %d does not close the window", way);
        start_window_close(&w);
    }
}

TEST_MAIN
