/* A run with a window: what the player shows is equalized here. */
#ifndef LUMEQ_APP_PLAY_H
#define LUMEQ_APP_PLAY_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "media/error.h"
#include "player/player.h"

typedef struct Play Play;

/* Opens what the options name, and the window. `stop` becomes not 0 when the run is to end; it must
 * outlive the play. MEDIA_USAGE, MEDIA_INPUT; *play is then NULL. */
int play_open(Play **play, const Options *options, atomic_int *stop, MediaError *error);

/* The player in it; valid until play_close(). */
Player *play_player(Play *play);

/* See player_turn(). */
int play_turn(Play *play, MediaError *error);

void play_close(Play **play);

/* All of it, as headless_run(). */
int play_run(const Options *options, atomic_int *stop);

#endif
