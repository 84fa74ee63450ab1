/* Subtitle files beside a video, on the command line or dropped; delays of subtitles and sound. */
#include <limits.h>

#include "folder.h"
#include "media/subtitles/subtitle_file.h"
#include "session.h"

/* Subtitles in the middle of the picture, because difference() compares only the middle. */
#define LINES "1\n00:00:00,000 --> 00:00:08,000\n{\\an5}SUBTITLES\n"
#define LATER "1\n00:00:01,500 --> 00:00:08,000\n{\\an5}SUBTITLES\n"

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

/* A new folder with a video. */
static void make_folder(void)
{
    char target[PATH_MAX];
    CHECK(realpath(clip(), target) && symlink(target, in_folder("film.mkv")) == 0, "no link");
}

/* ---- files ---- */

TEST(found_by_name)
{
    static const char *const wanted[] = {"film.srt", "film.de.srt", "film.en.ass"};
    char *found[8];
    make_folder();
    for (const char *const *name =
             (const char *const[]){"film.de.srt", "film.srt", "film.en.ass", "film.2.srt",
                                   "film2.srt", "other.srt", "film.txt", NULL};
         *name; name++)
        write_text(*name, LINES);
    const int count = subtitle_file_find(in_folder("film.mkv"), found, 8);
    CHECK(count == 3, "%d files", count);
    for (int i = 0; i < count; i++) {
        CHECK(strcmp(found[i], in_folder(wanted[i])) == 0, "%s is number %d", found[i], i);
        free(found[i]);
    }
    CHECK(subtitle_file_find(in_folder("film.mkv"), found, 1) == 1, "more files than asked for");
    free(found[0]);
    CHECK(subtitle_file_find("/nonexistent/film.mkv", found, 8) == 0, "files in a missing folder");
    remove_folder();
}

/* Checks the text of a file's first packet. */
static void check_text(const char *name, const char *wanted)
{
    SubtitleFile *file;
    MediaError error = {0};
    if (CHECK(subtitle_file_open(&file, in_folder(name), &error) == 0, "%s", error.text)) {
        const AVPacket *first = file->packets.packets[0];
        CHECK((size_t)first->size == strlen(wanted) && !memcmp(first->data, wanted, strlen(wanted)),
              "%s: %.*s", name, first->size, (const char *)first->data);
    }
    subtitle_file_close(&file);
}

TEST(characters)
{
    static const char utf16[] =
        "\xff\xfe"
        "1\0\n\0000\0000\0:\0000\0000\0:\0000\0001\0,\0000\0000\0000\0 \0-\0-\0>\0 "
        "\0000\0000\0:\0000\0000\0:\0000\0002\0,\0000\0000\0000\0\n\0\xfc\0!\0\n\0";
    make_folder();
    write_text("film.srt", "1\n00:00:01,000 --> 00:00:02,000\nGr\xc3\xbc\xc3\x9f"
                           "e\n");
    check_text("film.srt", "Gr\xc3\xbc\xc3\x9f"
                           "e");
    write_text("latin1.srt", "1\n00:00:01,000 --> 00:00:02,000\nGr\xfc\xdf"
                             "e \x93\x81\x94\n");
    check_text("latin1.srt", "Gr\xc3\xbc\xc3\x9f"
                             "e \xe2\x80\x9c?\xe2\x80\x9d");
    write_file("utf16.srt", utf16, sizeof(utf16) - 1);
    check_text("utf16.srt", "\xc3\xbc!");
    remove_folder();
}

static void check_refused(const char *path)
{
    SubtitleFile *file;
    MediaError error = {0};
    CHECK(subtitle_file_open(&file, path, &error) == MEDIA_INPUT && !file &&
              strstr(error.text, "cannot read the subtitles") != NULL,
          "%s: %s", path, error.text);
    subtitle_file_close(&file);
}

TEST(other_files_are_refused)
{
    make_folder();
    write_text("bad.srt", "no subtitles\n");
    check_refused(in_folder("bad.srt"));
    write_text("bad.srt", "");
    check_refused(in_folder("bad.srt"));
    write_text("bad.srt", "#EXTM3U\n#EXTINF:1,\nfilm.mkv\n");
    check_refused(in_folder("bad.srt"));
    check_refused(clip());
    check_refused(folder);
    check_refused("/nonexistent/film.srt");
    check_refused("/dev/zero");
    CHECK(truncate(in_folder("bad.srt"), SUBTITLE_FILE_BYTES + 1) == 0, "not enlarged");
    check_refused(in_folder("bad.srt"));
    remove_folder();
}

/* ---- in the window ---- */

/* Opens the video and pauses on the frame at one second. */
static int open_film(Session *s, const char *option, const char *value)
{
    if (!has_text() || session_open(s, ARGUMENTS(in_folder("film.mkv"), "--no-config", "--ss", "1",
                                                 "--histogram", "off", option, value)) < 0)
        return -1;
    TYPE_UNTIL(s, "p", state.paused && state.shown > 0 && !state.seeking);
    return s->ended;
}

/* Waits until the middle of the picture shows subtitles, or no subtitles. */
static void wait_for_subtitles(Session *s, const Grab *without, int shown)
{
    const int64_t end = session_now() + LIVENESS_US;
    double changed = 0;
    do {
        session_turns(s, 2);
        AUTO_GRAB now = grab(s);
        changed = difference(without, &now, 0, 1);
    } while ((changed > 0.005) != shown && session_now() < end);
    CHECK((changed > 0.005) == shown, "%.4f of the picture differs", changed);
}

static Grab without_subtitles(Session *s)
{
    SDL_SetWindowSize(SDL_GL_GetCurrentWindow(), 1280, 720); /* moves messages off the middle */
    TYPE_UNTIL(s, "v", strstr(state.message, "hidden") != NULL);
    session_turns(s, 4);
    const Grab without = grab(s);
    TYPE_UNTIL(s, "v", strstr(state.message, "shown") != NULL);
    return without;
}

static void says(Session *s, const char *text)
{
    SESSION_UNTIL(s, strcmp(state.message, text) == 0);
}

TEST(beside_the_video)
{
    Session s = {0};
    make_folder();
    write_text("film.srt", LINES);
    write_text("film.de.srt", LATER);
    if (!open_film(&s, "--mode", "off")) {
        AUTO_GRAB without = without_subtitles(&s);
        wait_for_subtitles(&s, &without, 1);
        session_type("j");
        says(&s, "Subtitles: film.de.srt");
        wait_for_subtitles(&s, &without, 0); /* film.de.srt begins later */
        for (int i = 1; i <= 6; i++) {
            session_press_with(SDLK_g, KMOD_LCTRL);
            session_turns(&s, 2);
        }
        says(&s, "Subtitle delay: -600 ms");
        wait_for_subtitles(&s, &without, 1);
        session_press_with(SDLK_g, KMOD_LCTRL | KMOD_LSHIFT);
        session_press_with(SDLK_g, KMOD_LCTRL | KMOD_LSHIFT);
        says(&s, "Subtitle delay: -400 ms");
        wait_for_subtitles(&s, &without, 0);
        TYPE_UNTIL(&s, "j", strstr(state.message, "Subtitles: none") != NULL);
        /* A dropped file is shown. An invalid one is reported, and the video stays. */
        write_text("other.srt", LINES);
        session_drop(in_folder("other.srt"));
        says(&s, "Subtitles: other.srt");
        wait_for_subtitles(&s, &without, 1);
        write_text("bad.srt", "no subtitles\n");
        session_drop(in_folder("bad.srt"));
        SESSION_UNTIL(&s, strstr(state.message, "cannot read the subtitles") != NULL);
        wait_for_subtitles(&s, &without, 1);
    }
    session_close(&s);
    remove_folder();
}

TEST(on_the_command_line)
{
    Session s = {0};
    make_folder();
    write_text("film.srt", LATER);
    write_text("other.srt", LINES);
    if (!open_film(&s, "--sub-file", in_folder("other.srt"))) {
        AUTO_GRAB without = without_subtitles(&s);
        wait_for_subtitles(&s, &without, 1);
        session_type("j");
        says(&s, "Subtitles: film.srt");
    }
    session_close(&s);
    remove_folder();
}

TEST(none_with_sub_track_none)
{
    Session s = {0};
    make_folder();
    write_text("film.srt", LINES);
    if (!open_film(&s, "--sub-track", "none")) {
        TYPE_UNTIL(&s, "j",
                   strstr(state.message, "Subtitles: none") != NULL ||
                       strstr(state.message, "of") != NULL);
        CHECK(strstr(session_state(&s).message, "film.srt") == NULL, "film.srt is loaded");
    }
    session_close(&s);
    remove_folder();
}

/* A sound delay moves the picture and the position ahead of the sound. */
SESSION_TEST(sound_delay, session_open(s, ARGUMENTS(clip(), "--no-config", "--loop")))
{
    SESSION_UNTIL(s, state.position >= 400000 && state.offset != AV_NOPTS_VALUE);
    const int64_t position = session_state(s).position, begin = session_now();
    for (int i = 0; i < 25; i++)
        session_type("K");
    says(s, "Sound delay: +500 ms");
    SESSION_UNTIL(s, state.position - position >= session_now() - begin + 350000);
    SESSION_UNTIL(s, llabs(state.offset) < 40000);
    session_type("k");
    says(s, "Sound delay: +480 ms");
    PRESS_UNTIL(s, SDLK_HOME,
                !state.seeking && state.position >= 600000 && llabs(state.offset) < 40000);
}

TEST_MAIN
