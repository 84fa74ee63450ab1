/* Records a sound device through SDL, with or without a window. */
#ifndef LUMEQ_PLAYER_MICROPHONE_H
#define LUMEQ_PLAYER_MICROPHONE_H

#include <stdbool.h>

#include "media/error.h"
#include "media/output/live_sound.h"
#include "media/text_list.h"

/* One thread opens and closes it; the other functions may be called from any thread. */
typedef struct Microphone Microphone;

/* Adds the names of all microphones to the list. MEDIA_INPUT: there is no sound system. */
int microphone_list(TextList *names, MediaError *error);

/* Opens a microphone and starts it. `name`: all or a unique part of its name, in any case; NULL:
 * the default one. MEDIA_USAGE: no such name, or several; MEDIA_INPUT: none found, or it cannot be
 * opened. */
int microphone_open(Microphone **microphone, const char *name, MediaError *error);

const char *microphone_name(const Microphone *microphone);

/* Its sound, for one reader. */
LiveSound *microphone_sound(Microphone *microphone);

/* True if it was unplugged, or has given nothing for 2 seconds. */
bool microphone_is_lost(Microphone *microphone);

void microphone_close(Microphone **microphone);

#endif
