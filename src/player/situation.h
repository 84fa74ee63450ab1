/* The state of the player, to be read by those who own none of it. */
#ifndef LUMEQ_PLAYER_SITUATION_H
#define LUMEQ_PLAYER_SITUATION_H

#include "player/camera_watch.h"
#include "player/showing.h"

/* How the user wants it to be played. Owned by the loop. */
typedef struct Wanted {
    int loop, muted, volume;
    DeinterlaceMode deinterlace;
} Wanted;

typedef struct Situation {
    const PlayerOptions *options;
    const PlayerEqualizer *equalizer;
    const Playback *playback;
    const Shown *shown;
    const Screen *screen;
    const Wanted *wanted;
    const CameraWatch *camera;
    const PlayerRecording *recording;
    int64_t position; /* that seeking begins from */
    int at_end;
    int equalized; /* frames that wait, equalized */
    int lost;      /* the GPU is */
} Situation;

#endif
