/* Redirects what ALSA and Wayland print on their own, such as missing devices. */
#ifndef LUMEQ_PLAYER_LIBRARY_LOG_H
#define LUMEQ_PLAYER_LIBRARY_LOG_H

/* Sends their lines to `detail` (from any thread) instead of standard error. Must be called before
 * SDL starts; later calls have no effect. */
void library_log_take(void (*detail)(const char *line));

#endif
