/* What SIGINT, SIGTERM and SIGHUP do to a run. */
#ifndef LUMEQ_APP_SIGNALS_H
#define LUMEQ_APP_SIGNALS_H

#include <stdatomic.h>

/*
 * The first signal makes RUN_INTERRUPTED of a `stop` that is RUN_ON: the run ends in order. If
 * nothing moves for 5 s meanwhile (activity.h), it hangs, and the program is ended: what it was
 * writing is deleted, and said to be. A later SIGINT or SIGTERM does that at once. Signals that
 * come within a second are one, and SIGHUP is never a later one: a terminal that closes sends
 * several. What was ignored from the start (nohup, a shell's background job) stays so. `stop` must
 * outlive the program's last signal; NULL: nothing runs yet, and the first signal ends the program.
 */
void signals_install(atomic_int *stop);

#endif
