/* The preview of a fake camera: keys that do not apply to cameras, dropped files, and closing at
 * any moment, even while recording. */
#include <stdlib.h>

#include "folder.h"
#include "media/fake_camera.h"
#include "session.h"

#define MODES "MJPG 320x240@30,15;YUYV 320x240@15"

/* Enters a new, empty folder for recordings. */
static int enter_folder(void)
{
    remove_folder();
    return CHECK(chdir(in_folder("")) == 0, "no folder");
}

/* `more`: up to three further arguments; NULL ends the list early. */
static int open_camera(Session *s, const char *const more[3])
{
    const char *const arguments[] = {"--camera",
                                     "--no-config",
                                     "--quiet",
                                     more[0],
                                     more[0] ? more[1] : NULL,
                                     more[0] && more[1] ? more[2] : NULL,
                                     NULL};
    fake_camera_has(MODES);
    if (session_open(s, arguments) < 0)
        return -1;
    SESSION_UNTIL(s, state.shown > 0);
    return s->ended;
}

static const char *const nothing[3] = {NULL};

SESSION_TEST(cannot_seek_or_loop, !fake_camera_ready() || open_camera(s, nothing))
{
    static const char *const keys[] = {"[", "]", "l", "L", NULL, NULL, ","};
    for (int i = 0; i < 7; i++) {
        TYPE_UNTIL(s, "m", BEGINS("Volume"));
        keys[i] ? session_type(keys[i]) : session_press(i == 4 ? SDLK_LEFT : SDLK_HOME);
        SESSION_UNTIL(s, strstr(state.message, "live") != NULL);
    }
    CHECK(session_state(s).speed == 1 && !session_state(s).loop, "a key had an effect");
    /* the last key has paused */
    TYPE_UNTIL(s, " ", !state.paused);
    const int64_t shown = session_state(s).shown;
    SESSION_UNTIL(s, state.shown > shown + 5);
}

/* Settings act on the paused picture, even after the camera was unplugged and came back. */
SESSION_TEST(settings_act_on_paused_picture, !fake_camera_ready() || open_camera(s, nothing))
{
    static const char *const keys[] = {"1", "3", "5", "e", "r"};
    TYPE_UNTIL(s, " ", state.paused);
    fake_camera_is("gone");
    SESSION_UNTIL(s, state.gone);
    fake_camera_is("");
    SESSION_UNTIL(s, !state.gone);
    for (int i = 0; i < 5; i++) {
        session_type(keys[i]);
        session_turns(s, 2);
        CHECK(!s->ended, "%s ends the player: %s", keys[i], s->error.text);
        CHECK(i || strncmp(session_state(s).message, "Strength: ", 10) == 0, "the message is '%s'",
              session_state(s).message);
    }
    const int64_t shown = session_state(s).shown;
    TYPE_UNTIL(s, " ", state.shown > shown + 3);
}

SESSION_TEST(reports_damaged_pictures, !fake_camera_ready() || open_camera(s, nothing))
{
    for (int i = 0; i < 2; i++) {
        fake_camera_is("malformed");
        SESSION_UNTIL(s, state.damaged);
        const int64_t shown = session_state(s).shown;
        CHECK(!session_state(s).gone, "the camera counts as gone");
        fake_camera_is("");
        SESSION_UNTIL(s, !state.damaged && state.shown > shown);
    }
    fake_camera_is("flagged");
    SESSION_UNTIL(s, state.gone);
    fake_camera_is("");
    SESSION_UNTIL(s, !state.gone);
}

/* Writes an IVF file with this codec and one packet of zeros. */
static int write_video(const char *path, const char code[4])
{
    unsigned char file[32 + 12 + 8] = "DKIF";
    file[6] = 32;             /* where packets begin */
    file[12] = file[14] = 64; /* width, height */
    file[16] = file[20] = 25; /* a rate of 25 / 25 */
    file[24] = 1;             /* packets */
    file[32] = 8;             /* bytes of the first one */
    memcpy(file + 8, code, 4);
    FILE *to = fopen(path, "wb");
    const int written = to && fwrite(file, sizeof(file), 1, to) == 1;
    return CHECK(to && fclose(to) == 0 && written, "cannot write %s", path);
}

/* A missing file, a file without the extradata of its codec, and one without a valid frame. */
TEST(unplayable_files_change_nothing)
{
    static const char *const output[3] = {"-o", "x.mkv"};
    static const char *const files[] = {"none.ivf", "head.ivf", "data.ivf"};
    Session s;
    if (!fake_camera_ready() || !enter_folder())
        return;
    if (write_video("head.ivf", "ULY2") && write_video("data.ivf", "MAGY") &&
        open_camera(&s, output) == 0) {
        for (int i = 0; i < 3; i++) {
            SESSION_UNTIL(&s, state.recording && state.shown > 5);
            const int64_t shown = session_state(&s).shown;
            session_drop(files[i]);
            SESSION_UNTIL(&s, strstr(state.message, files[i]) != NULL);
            SESSION_UNTIL(&s, state.shown > shown + 5);
            CHECK(session_state(&s).recording, "%s ends the recording", files[i]);
            /* m shows another message */
            TYPE_UNTIL(&s, "m", strstr(state.message, files[i]) == NULL);
        }
        session_close(&s);
        CHECK(access("x.mkv", R_OK) == 0, "there is no recording");
    }
}

TEST(a_file_replaces_the_camera)
{
    static const char *const output[3] = {"-o", "x.mkv"};
    Session s;
    if (!fake_camera_ready() || !enter_folder())
        return;
    if (open_camera(&s, output) == 0) {
        SESSION_UNTIL(&s, state.recording && state.shown > 5);
        session_drop(LUMEQ_CLIP);
        SESSION_UNTIL(&s, state.duration > 0 && state.position > 200000);
        CHECK(access("x.mkv", R_OK) == 0, "there is no recording");
        TYPE_UNTIL(&s, "R", SAYS("Only cameras can be recorded"));
        PRESS_UNTIL(&s, SDLK_RIGHT, state.position > 3000000);
        session_close(&s);
    }
}

TEST(closes_at_any_moment)
{
    static const char *const ways[][3] = {
        {NULL}, {"-o", "x.mkv", NULL}, {"-o", "x.mkv", "--record-raw"}};
    Session s;
    if (!fake_camera_ready())
        return;
    for (int way = 0; way < 3; way++)
        for (int turns = 0; turns < 12 && enter_folder(); turns += 3) {
            const int opened = open_camera(&s, ways[way]) == 0;
            if (opened && turns % 2)
                fake_camera_is("gone");
            if (opened && way == 0)
                session_type("R");
            session_turns(&s, opened ? turns : 0);
            session_close(&s);
        }
}

TEST_MAIN
