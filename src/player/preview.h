/* Pictures of where the mouse points to on the bar, decoded by a thread of its own from an input
 * that is opened once more. All functions are for the thread of the loop. */
#ifndef LUMEQ_PLAYER_PREVIEW_H
#define LUMEQ_PLAYER_PREVIEW_H

#include "media/input/thumbnail.h"
#include "panel/canvas.h"
#include "player/player_options.h"

typedef struct Preview Preview;

/* Nothing is opened yet. `wake`: there is a new picture; from the thread. NULL: no memory. */
Preview *preview_create(const PlayerHost *host, void (*wake)(void *opaque), void *opaque);

/* Pictures are to be of this file from now on, NULL: of none. */
void preview_of(Preview *preview, const char *path);

/* A picture of this position is wanted, and none that was asked for before. */
void preview_ask(Preview *preview, int64_t position, int width, int height);

/* 1: a picture has come since the last call; it is valid until the next one does, or another file.
 */
int preview_take(Preview *preview, Canvas *canvas);

/* Waits for its thread. NULL is allowed inside. */
void preview_free(Preview **preview);

#endif
