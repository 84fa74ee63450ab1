/* Preview pictures for the seek bar, decoded on a thread from a second instance of the input. Call
 * all functions on the loop's thread. */
#ifndef LUMEQ_PLAYER_PREVIEW_H
#define LUMEQ_PLAYER_PREVIEW_H

#include "media/input/thumbnail.h"
#include "panel/canvas.h"
#include "player/player_options.h"

typedef struct Preview Preview;

/* `wake` is called on the thread when a picture is ready. Opens nothing yet. Returns NULL if out of
 * memory. */
Preview *preview_create(const PlayerHost *host, void (*wake)(void *opaque), void *opaque);

/* Sets the file for further previews; NULL: none. */
void preview_of(Preview *preview, const char *path);

/* Requests a preview; replaces the previous request. */
void preview_ask(Preview *preview, int64_t position, int width, int height);

/* Returns 1 if a new picture arrived. It is valid until the next one arrives or the file changes.
 * */
int preview_take(Preview *preview, Canvas *canvas);

/* Waits for the thread. *preview may be NULL. */
void preview_free(Preview **preview);

#endif
