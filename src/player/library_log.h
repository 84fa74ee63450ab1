/* Silences what ALSA and Wayland print on their own, such as missing devices. */
#ifndef LUMEQ_PLAYER_LIBRARY_LOG_H
#define LUMEQ_PLAYER_LIBRARY_LOG_H

/* Must be called before SDL starts. Errors still reach the user through SDL_GetError(). */
void library_log_silence(void);

#endif
