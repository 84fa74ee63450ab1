#include "app/signals.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "app/run_end.h"
#include "app/terminal.h"
#include "media/output/temp_file.h"

#define TOGETHER_NS 1000000000LL

static atomic_int *run_stop;
static atomic_llong first_ns; /* when the first one came; 0: none yet */
static atomic_int ending;     /* a thread ends the program: another one's exit would cut it short */
static atomic_int deleted;

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec + 1;
}

static void say_deleted(const char *path)
{
    atomic_store(&deleted, 1);
    say_in_signal("interrupted again: what was written of ", path, " is deleted");
}

static void end_now(void)
{
    if (atomic_exchange(&ending, 1))
        return;
    temp_file_remove_all(say_deleted);
    if (!atomic_load(&deleted))
        say_in_signal("interrupted again: ended at once", "", "");
    _exit(EXIT_INTERRUPTED);
}

static void on_signal(int number)
{
    const long long now = now_ns();
    long long first = 0;
    int on = RUN_ON;
    if (atomic_compare_exchange_strong(&first_ns, &first, now))
        atomic_compare_exchange_strong(run_stop, &on, RUN_INTERRUPTED);
    else if (number != SIGHUP && now - first > TOGETHER_NS)
        end_now();
}

static void install(int number)
{
    struct sigaction act = {.sa_handler = on_signal}, before;
    sigfillset(&act.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &act, NULL);
}

void signals_install(atomic_int *stop)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    run_stop = stop;
    install(SIGINT);
    install(SIGTERM);
    install(SIGHUP);
    sigaction(SIGXFSZ, &ignore, NULL); /* a file too large is a write error, too */
    sigaction(SIGPIPE, &ignore, NULL); /* a closed pipe is one */
}
