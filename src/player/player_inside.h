/* The player's private state, shared by player.c, actions.c and playlist.c; status.c reads it. */
#ifndef LUMEQ_PLAYER_PLAYER_INSIDE_H
#define LUMEQ_PLAYER_PLAYER_INSIDE_H

#include "player/camera_watch.h"
#include "player/command.h"
#include "player/file_dialog.h"
#include "player/player_options.h"
#include "player/showing.h"

/* The user's settings besides PlayerOptions. */
typedef struct Wanted {
    int64_t from, to;                    /* the section that repeats; -1: not set */
    int64_t subtitle_delay, sound_delay; /* positive: later, in microseconds */
} Wanted;

/* The file that will replace the current one. */
typedef struct Next {
    char path[PATH_MAX]; /* "": no file is next */
    int at, step; /* index in its list; direction in which to skip files that fail: 1 or -1 */
    int waits;    /* 1: starts when the current file ends; 0: when its own first frame is ready */
    Playback *playback; /* the opened file until it becomes the current one; or NULL */
    int64_t since;      /* when it was opened */
} Next;

struct Player {
    PlayerOptions options;  /* includes what the user changed */
    const PlayerHost *host; /* &options.host */
    char path[PATH_MAX];

    Screen *screen;
    EqualizeStage *stage;
    Showing *showing;
    Playback *playback;
    FileList files;   /* the playlist */
    FileList dropped; /* dropped files; they replace the playlist once one of them plays */
    Next next;
    MediaError broken; /* why the current file stopped; cleared when the next one starts */
    SubtitleThread *subtitles;
    int kept, kept_end; /* `subtitles` has yet to get the stored packets kept..kept_end - 1 */
    int trouble_said;   /* the error of the current subtitles was shown */

    /* Read only; owned by the screen and by showing.c. */
    const ScreenState *seen;
    const Shown *shown;

    FileDialog dialog;
    int64_t pointed; /* position on the seek bar under the mouse; -1: the mouse is elsewhere */
    Controls controls;
    Command command;   /* the command in progress */
    MediaError failed; /* why a command failed; ends the player */
    OsdBar bar;
    int64_t titled; /* position in the window title, in seconds */
    Wanted wanted;
    int inside;     /* the previous frame was inside the repeated section */
    int steps;      /* frames to step forward while paused */
    int steps_back; /* frames to step back once the pending one has arrived */
    CameraWatch camera;
    PlayerRecording recording;
    PlayerWriting writing;
    int64_t warned_until; /* end of the warning; until then, quitting cancels the export */
    int over;             /* the window is closing */
    int ended;            /* playback reached the end */
};

static inline const PlaybackState *played(const Player *p)
{
    return playback_state(p->playback);
}

/* The position from which a relative seek counts. While another seek is pending, this is the
 * position that it requested, so that seeks add up. */
static inline int64_t player_position(const Player *p)
{
    const PlaybackState *b = played(p);
    return b->pending && b->start.position != AV_NOPTS_VALUE ? b->start.position
                                                             : p->shown->position;
}

#endif
