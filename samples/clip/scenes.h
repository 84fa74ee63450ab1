// The three scenes. Each paints one picture for a time in seconds since its own start.
#ifndef CLIP_SCENES_H
#define CLIP_SCENES_H

#include <stdbool.h>

#include "picture.h"

// Prepare returns false when memory is short; draw too. Draw is thread-safe after prepare, and
// leaves R'G'B' (gamma applied) in a picture of the video's size.
bool valley_prepare(int threads);
bool valley_draw(Picture *picture, float seconds);
void valley_release(void);

bool room_prepare(int threads);
bool room_draw(Picture *picture, float seconds);
void room_release(void);

bool sea_prepare(int threads);
bool sea_draw(Picture *picture, float seconds);
void sea_release(void);

// Runs task(context, row) for rows 0..count-1 on `threads` threads, in no given order.
void parallel_rows(int threads, int count, void (*task)(void *context, int row), void *context);

#endif
