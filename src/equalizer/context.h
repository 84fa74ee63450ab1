/* What the functions that are about no equalizer have in common. */
#ifndef LUMEQ_CONTEXT_H
#define LUMEQ_CONTEXT_H

#include <stddef.h>

#include "equalizer/backend.h"
#include "equalizer/last_error.h"
#include "lumeq/lumeq.h"

/* Opens the backend that the configuration wants; `text` says which it is and why. On failure
 * nothing is open. */
int lumeq_open_backend(LumeqWork *work, const LumeqBackend *backend, const LumeqConfig *config,
                       char *text, size_t text_size);
int lumeq_choose_backend(LumeqWork *work, const LumeqConfig *config, char *text, size_t text_size);
void lumeq_close_backend(LumeqWork *work);

/* The caller's configuration, NULL being the defaults, checked. ARGUMENT, with the sentence. */
int lumeq_take_config(LumeqConfig *to, const LumeqConfig *from, char *text, size_t text_size);

#endif
