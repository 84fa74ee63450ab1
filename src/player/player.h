/*
 * The player: a window that shows a source equalized, with its sound, beside its histogram.
 *
 * It keeps the time, takes the keys and draws. Frames are decoded and equalized by threads of their
 * own. All functions are for one thread, the one that SDL allows windows in.
 */
#ifndef LUMEQ_PLAYER_PLAYER_H
#define LUMEQ_PLAYER_PLAYER_H

#include "player/player_options.h"

typedef struct Player Player;

/*
 * Opens the window and starts to play. The source, which `path` names, is the player's on success.
 * The options are copied. MEDIA_USAGE (no window to be had, no such track), MEDIA_INPUT; *player is
 * then NULL.
 */
int player_open(Player **player, const PlayerOptions *options, Source *source, const char *path,
                MediaError *error);

/* Before each turn: what is recorded and written beside the playing, for the window. */
void player_tell(Player *player, const PlayerRecording *recording, const PlayerWriting *writing);

/* One turn of the loop: takes what has happened and shows what is due. Waits for a tenth of a
 * second at most. 0: go on; 1: the player was closed or has come to its end; or MEDIA_INPUT. */
int player_turn(Player *player, MediaError *error);

typedef struct PlayerState {
    int64_t position, duration;   /* of the frame that is shown, of the input; in microseconds */
    int64_t shown, dropped, late; /* frames since the start */
    int64_t lost;                 /* in the camera, by its driver's count: they never came */
    int paused, muted, volume, fullscreen, loop;
    int width, height; /* of the window, in its units, where the user has changed it; else 0 */
    double speed;
    PlayerCompare compare;
    PlayerHistogram histogram;
    int log_scale, statistics, help; /* not 0: to be seen */
    int settings, chosen;            /* the same of their panel; its row */
    int on_gpu;                      /* not 0: the frame that is shown was decoded there */
    int at_end;                      /* not 0: it came to its end, and the last picture stays */
    int seeking;                     /* not 0: the frame that was asked for is still to come */
    int changing; /* not 0: the frame that is shown is still to come with other settings */
    PanelScope scope;
    double split; /* where the line of the comparison is, 0..1 */
    int64_t
        offset; /* of the picture against the sound at the last frame, AV_NOPTS_VALUE: no sound */
    int64_t screenshots; /* written */
    /* Means of the frames that were played. */
    double equalize_ms;    /* all of it, seen from outside */
    double upload_ms;      /* into textures */
    double layers_ms;      /* the panel and text on the CPU, into their textures */
    double draw_ms;        /* the window, without the wait for the screen */
    double latency_frames; /* from the decoder to the screen, in durations of a frame */
    /* Of a camera, from the capture to the screen: the mean, what 95 % do not exceed, the most. */
    double delay_ms, delay_95_ms, delay_most_ms;
    /* From keys that change a setting until that was seen: how many, and as for the delay. */
    int64_t responses;
    double response_ms, response_95_ms, response_most_ms;
    double longest_turn_ms; /* of the loop, without OpenGL's part: uploading, drawing, and the wait
                               for the screen */
    double rate;            /* frames a second, of the last second */
    int gone;               /* not 0: the camera is, and is waited for */
    int damaged;            /* not 0: pictures of the camera come, but cannot be decoded */
    int recording;          /* not 0: it records */
    int mirrored;
    int file, files;     /* which of so many is shown, from 1 on; 0: it is alone */
    const char *message; /* the last one on the screen; "" at first */
} PlayerState;

PlayerState player_state(const Player *player);

/* What the window shows, as RGBA from the top: the caller frees it with free(). NULL: no memory. */
uint8_t *player_grab(Player *player, int *width, int *height);

/* Not 0: it came to the end of what was to be played, and was not closed before. */
int player_has_ended(const Player *player);

/* What is known to be lost of the input, in one sentence, or 0. Ends the playing. */
int player_damage(Player *player, char *text, size_t size);

void player_close(Player **player);

#endif
