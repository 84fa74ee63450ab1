/* What the libraries behind SDL print on their own: ALSA of each device that it has not, Wayland
 * of each thing that the environment lacks. */
#ifndef LUMEQ_PLAYER_LIBRARY_LOG_H
#define LUMEQ_PLAYER_LIBRARY_LOG_H

/* Their lines go to `detail` from now on, from any thread, and no more to standard error. To be
 * called before SDL is started; later calls change nothing. */
void library_log_take(void (*detail)(const char *line));

#endif
