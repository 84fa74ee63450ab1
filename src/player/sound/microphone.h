/* Records from a microphone through SDL, with or without a window. */
#ifndef LUMEQ_PLAYER_MICROPHONE_H
#define LUMEQ_PLAYER_MICROPHONE_H

#include <stdbool.h>

#include "media/error.h"
#include "media/output/live_sound.h"
#include "media/text_list.h"

/* One thread opens and closes a microphone; any thread may call the other functions. */
typedef struct Microphone Microphone;

/* Adds the names of all microphones to the list. Error: MEDIA_INPUT. */
int microphone_list(TextList *names, MediaError *error);

/* Opens and starts a microphone. `name`: its exact name, or a part that no other name contains, in
 * upper or lower case; NULL: the default microphone. MEDIA_USAGE: no name matches, or several
 * match. MEDIA_INPUT: other errors. */
int microphone_open(Microphone **microphone, const char *name, MediaError *error);

const char *microphone_name(const Microphone *microphone);

/* The recorded sound; only one thread may read it. */
LiveSound *microphone_sound(Microphone *microphone);

/* True if the microphone was unplugged or has delivered no sound for 2 seconds. */
bool microphone_is_lost(Microphone *microphone);

void microphone_close(Microphone **microphone);

#endif
