/* The player's own state: for the loop, for what the user asks (actions.h), for its files
 * (playlist.h) and, to be read, for its words (status.h). */
#ifndef LUMEQ_PLAYER_PLAYER_INSIDE_H
#define LUMEQ_PLAYER_PLAYER_INSIDE_H

#include "player/camera_watch.h"
#include "player/command.h"
#include "player/file_dialog.h"
#include "player/player_options.h"
#include "player/preview.h"
#include "player/showing.h"

/* How the user wants it to be played. */
typedef struct Wanted {
    int loop, muted, volume;
    DeinterlaceMode deinterlace;
    CodeRangeMode codes;
    int range;        /* as in PlayerOptions */
    int64_t from, to; /* the repeated part; -1: no such end */
} Wanted;

/* A file that is to take the place of the one that is played. */
typedef struct Next {
    char path[PATH_MAX]; /* "": no file waits */
    int at, step;        /* in its list: where it is, and where to go on if it cannot be played */
    int waits; /* for the end of the file on the screen; or else for its own first frame only */
    Playback *playback; /* once it was opened, until its first frame is there; or NULL */
    int64_t since;      /* that is waited for */
} Next;

/* The mouse on the bar's track. */
typedef struct Pointed {
    int x;
    int64_t position; /* -1: elsewhere */
    Canvas picture;   /* the preview's */
} Pointed;

struct Player {
    PlayerOptions options;
    const PlayerHost *host; /* of the options */
    char path[PATH_MAX];
    uint32_t wake_event;

    Screen *screen;
    EqualizeStage *stage;
    Showing *showing;
    Playback *playback;
    FileList files;   /* the playlist */
    FileList dropped; /* what takes their place once one of it is played */
    Next next;
    MediaError broken; /* why the file cannot go on, until the next one takes its place */
    SubtitleThread *subtitles;
    int kept, kept_end; /* packets of the playback's store that are still to be given to it */
    int trouble_said;   /* what is wrong with the subtitles */

    /* Read only: others own them. */
    const ScreenState *seen;
    const Shown *shown;

    FileDialog *dialog;
    Preview *preview;
    Pointed pointed;
    Controls controls;
    Command command;   /* the one that is carried out */
    MediaError failed; /* while it was */
    OsdBar bar;
    int64_t titled; /* the second that the window's title tells */
    Wanted wanted;
    int inside;     /* the frame before was within the repeated part */
    int steps;      /* frames to go on by while paused */
    int steps_back; /* frames to go back by once the pending one has arrived */
    CameraWatch camera;
    PlayerRecording recording;
    PlayerWriting writing;
    int told_of_writing;  /* that it would be given up */
    Delay response;       /* from a key that changes a setting until that was seen */
    int64_t asked_at;     /* by the first such key that was not answered; 0: all were */
    int64_t answer_until; /* the window waits for what it asked for */
    int64_t longest_turn; /* without OpenGL */
    int over;             /* the window closes */
    int ended;            /* it came to its end by itself, and is over or kept open there */
};

static inline const PlaybackState *played(const Player *p)
{
    return playback_state(p->playback);
}

/* Where seeking begins: seeks add up while the frame of the last one is still to come. */
static inline int64_t player_position(const Player *p)
{
    const PlaybackState *b = played(p);
    return b->pending && b->start.position != AV_NOPTS_VALUE ? b->start.position
                                                             : p->shown->position;
}

#endif
