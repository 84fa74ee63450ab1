/*
 * The player: a window that shows the equalized video with its sound and histograms.
 *
 * All functions must be called on the main thread, because SDL allows windows only there.
 */
#ifndef LUMEQ_PLAYER_PLAYER_H
#define LUMEQ_PLAYER_PLAYER_H

#include "player/screen.h"

typedef struct Player Player;

/* Opens the window and starts playing. Takes ownership of the source on success. `path`: the
 * source's name. Copies the options. Returns 0, MEDIA_USAGE (no display, no such track) or
 * MEDIA_INPUT; on error *player is NULL. */
int player_open(Player **player, const PlayerOptions *options, Source *source, const char *path,
                MediaError *error);

/* Sets the state of recording and exporting that the window shows. Call it before each turn. */
void player_set_status(Player *player, const PlayerRecording *recording,
                       const PlayerWriting *writing);

/* Runs one turn of the loop: handles events and shows the frame that is due. Waits up to
 * 0.1 s. Returns 0 to go on, 1 when the player was closed or reached the end, or a MEDIA_ error. */
int player_turn(Player *player, MediaError *error);

typedef struct PlayerState {
    int64_t position, duration;   /* position of the current frame, duration of the input, in us */
    int64_t shown, dropped, late; /* frames; dropped and late: of the current file */
    int64_t lost;                 /* frames that the camera's driver counted as lost */
    int paused, muted, volume, fullscreen, loop;
    int width, height; /* window size in desktop units if the user resized it, else 0 */
    double speed;
    Look look;
    int on_gpu;     /* nonzero: the GPU decoded the current frame */
    int ended;      /* nonzero: playback reached the end */
    int at_end;     /* nonzero: paused on the last picture */
    int seeking;    /* nonzero: the frame after a seek is pending */
    int changing;   /* nonzero: the current frame is being equalized again, with new settings */
    int64_t offset; /* the picture's position minus the sound's, in us; AV_NOPTS_VALUE: no sound */
    int64_t screenshots;
    /* Means over the last frames, in milliseconds unless stated otherwise. */
    double equalize_ms;    /* the whole equalize stage */
    double upload_ms;      /* uploading frames into textures */
    double layers_ms;      /* drawing panel and text on the CPU and uploading them */
    double draw_ms;        /* drawing the window, without waiting for vsync */
    double latency_frames; /* from decoder to screen, in frame durations */
    /* Camera delay from capture to screen: mean, 95th percentile, maximum. */
    double delay_ms, delay_95_ms, delay_most_ms;
    int gone;    /* nonzero: the camera or connection is lost; the player waits for it */
    int damaged; /* nonzero: the camera's pictures cannot be decoded */
    int recording;
    int file, files;     /* number of the current file, from 1 (0: no list); number of files */
    const char *message; /* the last message shown; "" at first */
} PlayerState;

PlayerState player_state(const Player *player);

/* Returns the window's content as RGBA, top row first, or NULL on failure. Free it with free(). */
uint8_t *player_grab(Player *player, int *width, int *height);

/* Stops playback. If the input is damaged, writes one sentence about the damage to `text` and
 * returns 1; else returns 0. */
int player_damage(Player *player, char *text, size_t size);

void player_close(Player **player);

#endif
