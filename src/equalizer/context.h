/* Shared by the functions that need no equalizer: opening a backend, checking a configuration. */
#ifndef LUMEQ_CONTEXT_H
#define LUMEQ_CONTEXT_H

#include <stddef.h>

#include "equalizer/backend.h"
#include "equalizer/last_error.h"
#include "lumeq/lumeq.h"

/* Opens the backend that the configuration requests; `text` gets the choice and its reason. On
 * failure nothing is open. */
int lumeq_open_backend(LumeqWork *work, const LumeqBackend *backend, const LumeqConfig *config,
                       char *text, size_t text_size);
int lumeq_choose_backend(LumeqWork *work, const LumeqConfig *config, char *text, size_t text_size);
void lumeq_close_backend(LumeqWork *work);

/* Copies and checks the caller's configuration; NULL: the defaults. ARGUMENT, with a sentence in
 * `text`. */
int lumeq_take_config(LumeqConfig *to, const LumeqConfig *from, char *text, size_t text_size);

#endif
