/* What is changed live in the window: options as they were asked for, and as they are now. */
#ifndef LUMEQ_APP_WINDOW_SETTINGS_H
#define LUMEQ_APP_WINDOW_SETTINGS_H

#include "app/engine.h"
#include "app/options/option_value.h"
#include "player/player_options.h"

/* Texts and lists are those of the options that it was opened with. */
typedef struct WindowSettings {
    Options usual, now;
    LumeqMode on; /* that the equalizer's key goes back to */
    OptionsInput input;
} WindowSettings;

void window_settings_open(WindowSettings *settings, const Options *options, OptionsInput input);

/* Another input is played: settings stay, but for the part of the picture that is metered. */
void window_settings_next(WindowSettings *settings, OptionsInput input);

/* The option behind a setting of the panel. */
const char *window_settings_option(PlayerSetting setting);

/* Its value as the option takes it; not 0: it was changed by hand, and is no part of one picture
 * alone. */
int window_settings_get(const WindowSettings *settings, PlayerSetting setting, char *text,
                        size_t size);

/* Sets it as the option does. Wrong values change nothing. */
void window_settings_put(WindowSettings *settings, PlayerSetting setting, const char *value,
                         const Refusal *refusal);

/* See PlayerHost. */
void window_settings_change(WindowSettings *settings, PlayerSetting setting, int step,
                            const LumeqFrameStats *shown, char *text, size_t size);
void window_settings_meter(WindowSettings *settings, LumeqRect part, char *text, size_t size);
void window_settings_list(const WindowSettings *settings, OsdSettings *rows);

/* What they come to. */
PlayerSettings window_settings_all(const WindowSettings *settings);

#endif
