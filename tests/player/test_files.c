/* Several files in a window: in order, from a folder, and dropped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <sys/stat.h>

#include <libavformat/avformat.h>

#include "folder.h"
#include "player/file_list.h"
#include "session.h"

/* ---- how many files were opened ---- */

static atomic_int opened;

int avformat_open_input(AVFormatContext **format, const char *url, const AVInputFormat *input,
                        AVDictionary **options)
{
    int (*open)(AVFormatContext **, const char *, const AVInputFormat *, AVDictionary **) = NULL;
    void *found = dlsym(RTLD_NEXT, "avformat_open_input");
    if (!found)
        abort();
    memcpy(&open, &found, sizeof(open));
    atomic_fetch_add(&opened, 1);
    return open(format, url, input, options);
}

/* ---- the list itself ---- */

#define MANY 40

static void fill(FileList *list, int shuffled)
{
    char name[16];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%d", i);
        CHECK(file_list_add(list, name, shuffled) == 0, "no memory");
    }
}

TEST(finds_neighbours_in_the_list)
{
    FileList list = {.at = -1};
    fill(&list, 0);
    CHECK(list.count == MANY && strcmp(list.entries[MANY - 1].path, "39") == 0, "another order");
    CHECK(file_list_find(&list, 3, 1) == 4 && file_list_find(&list, 3, -1) == 2,
          "not its neighbours");
    CHECK(file_list_find(&list, MANY - 1, 1) == -1 && file_list_find(&list, 0, -1) == -1,
          "a file is found beyond an end");
    list.entries[4].failed = list.entries[5].failed = list.entries[0].failed = 1;
    CHECK(file_list_find(&list, 3, 1) == 6, "a failed file is found");
    list.round = 1;
    CHECK(file_list_find(&list, MANY - 1, 1) == 1, "the first does not follow the last");
    CHECK(file_list_find(&list, 1, -1) == MANY - 1, "the last does not come before the first");
    for (int i = 0; i < MANY; i++)
        list.entries[i].failed = i != 7;
    CHECK(file_list_find(&list, 7, 1) == 7, "the only good file does not follow itself");
    list.entries[7].failed = 1;
    CHECK(file_list_find(&list, 7, 1) == -1, "a failed file follows itself");
    file_list_clear(&list);
    CHECK(list.count == 0 && list.round && list.at == -1, "not empty");
}

TEST(shuffles_files_not_played_yet)
{
    int seen[MANY] = {0}, moved = 0;
    FREED_BY(file_list_clear) FileList list = {.at = -1};
    fill(&list, 0);
    list.at = MANY - 1;
    fill(&list, 1);
    for (int i = 0; i < MANY; i++) {
        CHECK(atoi(list.entries[i].path) == i, "a played file has moved");
        const int number = atoi(list.entries[MANY + i].path);
        seen[number]++;
        moved += number != i;
    }
    for (int i = 0; i < MANY; i++)
        CHECK(seen[i] == 1, "file %d is in the list %d times", i, seen[i]);
    CHECK(moved > MANY / 2, "only %d of %d files have moved", moved, MANY);
}

/* ---- in the window ---- */

/* Makes a folder with three links to the clip, and two files that are no videos. */
static void make_folder(void)
{
    static const char *const names[] = {"a 9.mkv", "a 10.mkv", "b.mkv"};
    for (int i = 0; i < 3; i++)
        CHECK(symlink(LUMEQ_CLIP, in_folder(names[i])) == 0, "no link");
    write_file("broken.mp4", "no film\n", 8);
    write_file("notes.txt", "no film\n", 8);
}

static int open_files(Session *s, const char *const *arguments)
{
    if (session_open(s, arguments) < 0)
        return -1;
    SESSION_UNTIL(s, state.shown > 0);
    return s->ended;
}

/* --to applies to each file. */
SESSION_TEST(plays_files_in_order,
             open_files(s, ARGUMENTS("--no-config", "--to", "0.4", LUMEQ_CLIP, LUMEQ_CLIP)))
{
    CHECK(session_state(s).files == 2, "%d files", session_state(s).files);
    SESSION_UNTIL(s, state.file == 2 && state.position < 400000);
    const int64_t before = session_now();
    while (!s->ended && session_now() < before + LIVENESS_US)
        s->ended = play_turn(s->play, &s->error);
    CHECK(s->ended == 1, "the player does not end: %s", s->error.text);
    CHECK(session_state(s).position < 400000, "at %lld", (long long)session_state(s).position);
}

SESSION_TEST(opens_the_next_one_ahead,
             (atomic_store(&opened, 0),
              session_open(s, ARGUMENTS("--no-config", "--to", "0.4", LUMEQ_CLIP, LUMEQ_CLIP))))
{
    /* paused, so that the first file does not end */
    TYPE_UNTIL(s, " ", atomic_load(&opened) == 2);
    CHECK(session_state(s).file == 1, "the second file is already played");
    TYPE_UNTIL(s, " ", state.file == 2);
    CHECK(atomic_load(&opened) == 2, "the second file was opened %d times",
          atomic_load(&opened) - 1);
}

SESSION_TEST(keys_choose, open_files(s, ARGUMENTS("--no-config", "--loop", LUMEQ_CLIP, LUMEQ_CLIP)))
{
    CHECK(strncmp(session_title(), "1/2 ", 4) == 0, "the title is '%s'", session_title());
    TYPE_UNTIL(s, "<", SAYS("First file"));
    TYPE_UNTIL(s, ">", state.file == 2);
    CHECK(strncmp(session_state(s).message, "2/2: lumeq-sample", 12) == 0, "the message is '%s'",
          session_state(s).message);
    CHECK(strncmp(session_title(), "2/2 ", 4) == 0, "the title is '%s'", session_title());
    TYPE_UNTIL(s, ">", SAYS("Last file"));
    PRESS_UNTIL(s, SDLK_AUDIOPREV, state.file == 1);
    PRESS_UNTIL(s, SDLK_AUDIONEXT, state.file == 2);
    PRESS_UNTIL(s, SDLK_AUDIOPLAY, state.paused);
}

SESSION_TEST(a_single_file, open_files(s, ARGUMENTS("--no-config", "--loop", LUMEQ_CLIP)))
{
    CHECK(strncmp(session_title(), "1/1", 3) != 0, "the title is '%s'", session_title());
    TYPE_UNTIL(s, ">", SAYS("No other files"));
}

/* --loop-all repeats the list. */
SESSION_TEST(begins_again_with_the_first,
             open_files(s, ARGUMENTS("--no-config", "--loop-all", "--to", "0.4", LUMEQ_CLIP,
                                     LUMEQ_CLIP, LUMEQ_CLIP)))
{
    /* the last file comes before the first */
    TYPE_UNTIL(s, "<", state.file == 3);
    SESSION_UNTIL(s, state.file == 1);
    SESSION_UNTIL(s, state.file == 2);
}

SESSION_TEST(stays_open_at_the_last_end_only,
             open_files(s, ARGUMENTS("--no-config", "--keep-open", "yes", "--to", "0.4", LUMEQ_CLIP,
                                     LUMEQ_CLIP)))
{
    SESSION_UNTIL(s, state.at_end);
    CHECK(session_state(s).file == 2, "at the end of file %d", session_state(s).file);
    CHECK(!s->ended, "the player ends");
    TYPE_UNTIL(s, "<", state.file == 1 && !state.at_end);
}

SESSION_TEST(skips_files_that_cannot_be_played,
             open_files(s, ARGUMENTS("--no-config", "--loop", LUMEQ_CLIP, in_folder("notes.txt"),
                                     LUMEQ_CLIP)))
{
    TYPE_UNTIL(s, ">", strstr(state.message, "notes.txt") != NULL);
    SESSION_UNTIL(s, state.file == 3);
    TYPE_UNTIL(s, "<", state.file == 1);
}

SESSION_TEST(begins_with_what_can_be_played,
             open_files(s, ARGUMENTS("--no-config", "--loop", in_folder("broken.mp4"),
                                     "/nonexistent/a.mkv", LUMEQ_CLIP)))
{
    CHECK(session_state(s).file == 3, "file %d is played", session_state(s).file);
    CHECK(strstr(session_state(s).message, "a.mkv") != NULL, "the message is '%s'",
          session_state(s).message);
}

TEST(fails_if_no_file_can_be_played)
{
    Options options;
    char text[512];
    Play *play = NULL;
    MediaError error = {0};
    atomic_int stop = 0;
    char *argv[] = {(char *)"lumeq", (char *)"--no-config", (char *)in_folder("broken.mp4"),
                    (char *)in_folder("notes.txt")};
    if (!CHECK(options_parse(&options, 4, argv, text, sizeof(text)) == 0, "%s", text))
        return;
    CHECK(play_open(&play, &options, &stop, &error) == MEDIA_INPUT && !play, "the player opens");
    CHECK(strstr(error.text, "cannot play any of 2 files") != NULL, "error '%s'", error.text);
    options_free(&options);
}

/* A folder plays in natural order, without files whose names show that they are no videos. */
SESSION_TEST(plays_a_folder, open_files(s, ARGUMENTS("--no-config", "--loop", folder)))
{
    CHECK(session_state(s).files == 4, "%d files", session_state(s).files);
    TYPE_UNTIL(s, ">", SAYS("2/4: a 10.mkv") && state.file == 2);
}

/* ---- dropped files ---- */

static void drop_all(const char *const *paths)
{
    SDL_Event event = {.type = SDL_DROPBEGIN};
    SDL_PushEvent(&event);
    for (; *paths; paths++)
        session_drop(*paths);
    event = (SDL_Event){.type = SDL_DROPCOMPLETE};
    SDL_PushEvent(&event);
}

SESSION_TEST(dropped_files_become_the_list,
             open_files(s, ARGUMENTS("--no-config", "--loop", LUMEQ_CLIP, LUMEQ_CLIP)))
{
    const char *const paths[] = {in_folder("b.mkv"), in_folder("broken.mp4"), folder, NULL};
    drop_all(paths);
    SESSION_UNTIL(s, state.files == 6 && state.file == 1);
    session_type(">");
    SESSION_UNTIL(s, state.file == 3); /* file 2 is broken; file 3 is the folder's first */
    session_drop(LUMEQ_CLIP);
    SESSION_UNTIL(s, state.files == 1);
}

SESSION_TEST(unplayable_drop_keeps_the_list,
             open_files(s, ARGUMENTS("--no-config", "--loop", LUMEQ_CLIP, LUMEQ_CLIP)))
{
    const char *const paths[] = {in_folder("broken.mp4"), in_folder("notes.txt"), NULL};
    drop_all(paths);
    SESSION_UNTIL(s, strstr(state.message, "notes.txt") != NULL);
    TYPE_UNTIL(s, ">", state.file == 2 && state.files == 2);
}

/* Makes a sequence of two gray pictures. The second exceeds --max-pixels. */
static void make_pictures(void)
{
    static char picture[32 + 1024 * 1024];
    CHECK(mkdir(in_folder("shots"), 0700) == 0, "no folder");
    for (int side = 64; side <= 1024; side += 960) {
        const int head = snprintf(picture, sizeof(picture), "P5\n%d %d\n255\n", side, side);
        write_file(side == 64 ? "shots/1.pgm" : "shots/2.pgm", picture,
                   (size_t)(head + side * side));
    }
}

/* A file whose error shows only during playback is skipped. */
SESSION_TEST(skips_files_that_break_off,
             (make_pictures(),
              session_open(s, ARGUMENTS("--no-config", "--loop", "--max-pixels", "1000000",
                                        in_folder("shots"), LUMEQ_CLIP))))
{
    SESSION_UNTIL(s, strstr(state.message, "--max-pixels") != NULL);
    SESSION_UNTIL(s, state.file == 2 && state.position >= 200000);
}

int main(int argc, char **argv)
{
    make_folder();
    return check_file(argc, argv);
}
