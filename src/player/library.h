/* Settings of libraries that lumeq does not link to: SDL may load them later. They are loaded here
 * first, if installed, and stay loaded, because unloading would drop the setting. */
#ifndef LUMEQ_PLAYER_LIBRARY_H
#define LUMEQ_PLAYER_LIBRARY_H

/* Looks up a function; sets the pointer to it to NULL if it is missing. */
void library_find(const char *library, const char *name, void *function);

/* Silences what ALSA and Wayland print on their own, such as missing devices. Must be called before
 * SDL starts. Errors still reach the user through SDL_GetError(). */
void library_log_silence(void);

#endif
