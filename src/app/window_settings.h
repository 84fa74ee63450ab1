/* The settings that the user can change in the window, with their values at the start and now. */
#ifndef LUMEQ_APP_WINDOW_SETTINGS_H
#define LUMEQ_APP_WINDOW_SETTINGS_H

#include "app/engine.h"
#include "app/options/option_value.h"
#include "player/player_options.h"

/* Strings belong to the options that window_settings_open() got. */
typedef struct WindowSettings {
    Options usual, now; /* `usual`: at the start */
    LumeqMode on;       /* mode that the on/off key restores */
    OptionsInput input;
} WindowSettings;

void window_settings_open(WindowSettings *settings, const Options *options, OptionsInput input);

/* Call for another input: resets the metered part, keeps other settings. */
void window_settings_next(WindowSettings *settings, OptionsInput input);

/* The name of the option that a setting changes. */
const char *window_settings_option(PlayerSetting setting);

/* Prints the value in the option's syntax. Returns true if the user changed it. PLAYER_METER: true
 * only for a change to `centre`, because a part that the user drew suits only one input. */
int window_settings_get(const WindowSettings *settings, PlayerSetting setting, char *text,
                        size_t size);

/* Sets a setting to a value in the option's syntax. Ignores invalid values. */
void window_settings_put(WindowSettings *settings, PlayerSetting setting, const char *value,
                         const Refusal *refusal);

/* See PlayerHost. */
void window_settings_change(WindowSettings *settings, PlayerSetting setting, int step,
                            const LumeqFrameStats *shown, char *text, size_t size);
void window_settings_meter(WindowSettings *settings, LumeqRect part, char *text, size_t size);
void window_settings_list(const WindowSettings *settings, OsdSettings *rows);

/* Converts the current options for the player. */
PlayerSettings window_settings_all(const WindowSettings *settings);

#endif
