/* The settings file: `key = value` lines, the long options without dashes. */
#ifndef LUMEQ_APP_CONFIG_H
#define LUMEQ_APP_CONFIG_H

#include "app/options/options.h"

/*
 * Sets what the file at `path` says; NULL: $XDG_CONFIG_HOME/lumeq/config or ~/.config/lumeq/config,
 * if it is there. Notes in `options` which file it was, and its text, into which values point.
 * 0, or -1 with one sentence in `text` that names file, line, key and what is allowed.
 */
int config_read(Options *options, const char *path, char *text, size_t text_size);

#endif
