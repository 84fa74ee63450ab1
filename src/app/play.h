/* A run with a window. */
#ifndef LUMEQ_APP_PLAY_H
#define LUMEQ_APP_PLAY_H

#include <stdatomic.h>

#include "app/options/options.h"
#include "media/error.h"
#include "player/player.h"

typedef struct Play Play;

/* Opens the input and the window. The run ends when `stop` is not RUN_ON; `stop` and `options` must
 * outlive *play. Returns 0, or a fault with a NULL *play. */
int play_open(Play **play, const Options *options, atomic_int *stop, MediaError *error);

/* The player; valid until play_close(). */
Player *play_player(Play *play);

/* See player_turn(). */
int play_turn(Play *play, MediaError *error);

void play_close(Play **play);

/* Runs until the end. Returns like headless_run(). */
int play_run(const Options *options, atomic_int *stop);

#endif
