/* Handlers of signals that end or pause the program. */
#ifndef LUMEQ_APP_SIGNALS_H
#define LUMEQ_APP_SIGNALS_H

#include <stdatomic.h>

/*
 * Installs handlers. The first signal sets *stop from RUN_ON to RUN_INTERRUPTED, and the run ends
 * cleanly. If the run makes no progress for 5 s after it (activity.h), or a SIGINT or SIGTERM comes
 * more than a second later, the program deletes its unfinished files and exits at once. Signals
 * that were ignored at the start, as under nohup, stay ignored. `stop` must never be freed; NULL:
 * the first signal ends the program.
 */
void signals_install(atomic_int *stop);

#endif
