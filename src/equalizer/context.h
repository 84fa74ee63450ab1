/* What the functions that are about no equalizer have in common. */
#ifndef LUMEQ_CONTEXT_H
#define LUMEQ_CONTEXT_H

#include <stddef.h>

#include "equalizer/backend.h"
#include "lumeq/lumeq.h"

#define LUMEQ_ERROR_SIZE 256

/* Leaves the sentence for lumeq_last_error(NULL) in this thread; the first answers ARGUMENT, the
 * other the error. */
__attribute__((format(printf, 1, 2))) int lumeq_refuse(const char *format, ...);
__attribute__((format(printf, 2, 3))) int lumeq_refuse_with(int error, const char *format, ...);

/* Where that sentence is: LUMEQ_ERROR_SIZE bytes of this thread. */
char *lumeq_error_text(void);

/* A backend that is open. */
typedef struct LumeqWork {
    const LumeqBackend *backend;
    void *priv; /* NULL: none */
} LumeqWork;

/* Opens the backend that the configuration wants; `text` says which it is and why. On failure
 * nothing is open. */
int lumeq_open_backend(LumeqWork *work, const LumeqBackend *backend, const LumeqConfig *config,
                       char *text, size_t text_size);
int lumeq_choose_backend(LumeqWork *work, const LumeqConfig *config, char *text, size_t text_size);
void lumeq_close_backend(LumeqWork *work);

/* The caller's configuration, NULL being the defaults, checked. ARGUMENT, with the sentence. */
int lumeq_take_config(LumeqConfig *to, const LumeqConfig *from, char *text, size_t text_size);

#endif
