/* Handlers of signals that end or pause the program. */
#ifndef LUMEQ_APP_SIGNALS_H
#define LUMEQ_APP_SIGNALS_H

#include <stdatomic.h>

/*
 * Installs handlers. The first signal sets *stop from RUN_ON to RUN_INTERRUPTED, and the run ends
 * cleanly. The program deletes its unfinished files and exits at once if the run then makes no
 * progress for 5 s (activity.h), or if a SIGINT or SIGTERM comes more than 1 s after the first
 * signal. Signals that were ignored at the start, as under nohup, stay ignored. `stop` must never
 * be freed. If `stop` is NULL, the first signal ends the program.
 */
void signals_install(atomic_int *stop);

#endif
