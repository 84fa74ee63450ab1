// The sound of the clip.
#ifndef CLIP_SOUND_H
#define CLIP_SOUND_H

#include <stdbool.h>
#include <stdio.h>

// Writes a 48 kHz stereo 16-bit WAV of `seconds`; false when writing or memory fails. The three
// scenes begin at 0, `room` and `sea` seconds.
bool sound_write(FILE *file, float seconds, float room, float sea);

#endif
