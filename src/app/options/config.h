/* The settings file: `key = value` lines with the long options, without dashes. */
#ifndef LUMEQ_APP_CONFIG_H
#define LUMEQ_APP_CONFIG_H

#include "app/options/options.h"

/*
 * Applies the settings file at `path`. NULL: $XDG_CONFIG_HOME/lumeq/config or
 * ~/.config/lumeq/config, if the file exists. `options` keeps the path and the file's text. Returns
 * 0, or -1 with one sentence in `text` that names the file and a wrong line.
 */
int config_read(Options *options, const char *path, char *text, size_t text_size);

/* Prints $VARIABLE/lumeq/NAME or, if the XDG variable is not an absolute path,
 * $HOME/USUAL/lumeq/NAME. Returns 0 if HOME is not absolute either, or the path is too long. */
int config_print_path(char *path, size_t size, const char *variable, const char *usual,
                      const char *name);

#endif
