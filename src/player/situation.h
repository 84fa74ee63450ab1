/* The state of the player, to be read by those who own none of it. */
#ifndef LUMEQ_PLAYER_SITUATION_H
#define LUMEQ_PLAYER_SITUATION_H

#include "player/camera_watch.h"
#include "player/showing.h"

/* How the user wants it to be played. Owned by the loop. */
typedef struct Wanted {
    int loop, muted, volume;
    DeinterlaceMode deinterlace;
    CodeRangeMode codes;
    int range;        /* as in PlayerOptions */
    int64_t from, to; /* what is repeated; -1: no such end */
} Wanted;

typedef struct Situation {
    const PlayerOptions *options;
    const PlayerEqualizer *equalizer;
    const Playback *playback;
    const PlaybackState *played; /* the state of that */
    const Shown *shown;
    const Screen *screen;
    const Wanted *wanted;
    const CameraWatch *camera;
    const PlayerRecording *recording;
    const FileList *files;
    int file;         /* the one of them that is shown, or asked for */
    int64_t position; /* that seeking begins from */
    int at_end;
    int equalized; /* frames that wait, equalized */
    int lost;      /* the GPU is */
} Situation;

#endif
