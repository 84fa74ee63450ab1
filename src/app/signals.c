#include "app/signals.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "app/run_end.h"
#include "app/terminal.h"
#include "media/activity.h"
#include "media/output/output_file.h"
#include "media/process.h"

#define TOGETHER_NS 1000000000LL /* signals within this time count as one */
#define PATIENCE_S 5             /* a run without activity for this time is stuck */

#define PAUSE_FLAGS (SA_RESTART | SA_RESETHAND)

#define AGAIN "interrupted again: "
#define STUCK "interrupted, and stuck for 5 s: "

static atomic_int *run_stop;
static atomic_llong first_ns; /* time of the first signal, or 0 */
static atomic_int ending;     /* a thread ends the program; others must not exit */
static atomic_int deleted, stuck;

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec + 1;
}

static void say_deleted(const char *path)
{
    atomic_store(&deleted, 1);
    say_in_signal(atomic_load(&stuck) ? STUCK "the unfinished " : AGAIN "the unfinished ", path,
                  " is deleted");
}

static void end_now(void)
{
    if (atomic_exchange(&ending, 1))
        return;
    output_file_remove_all(say_deleted);
    if (!atomic_load(&deleted))
        say_in_signal(atomic_load(&stuck) ? STUCK : AGAIN, "", "ended at once");
    _exit(EXIT_INTERRUPTED);
}

/* ---- the watchdog ---- */

static atomic_ulong moved_before; /* moved() at the last check */

/* Counts items that stages pass on, and blocks written to disks. */
static unsigned long moved(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage); /* async-signal-safe: only a system call */
    return activity_count() + (unsigned long)usage.ru_oublock;
}

static void on_alarm(int number)
{
    static atomic_int seconds;
    const unsigned long now = moved();
    (void)number;
    atomic_store(&seconds, now == atomic_exchange(&moved_before, now) ? seconds + 1 : 0);
    if (atomic_load(&seconds) >= PATIENCE_S) {
        atomic_store(&stuck, 1);
        end_now();
    }
    (void)alarm(1);
}

/* ---- the signals ---- */

static void on_signal(int number)
{
    const long long now = now_ns();
    long long first = 0;
    int on = RUN_ON;
    process_signal_all(number);
    if (!run_stop) {
        say_in_signal("interrupted", "", "");
        _exit(EXIT_INTERRUPTED);
    }
    if (atomic_compare_exchange_strong(&first_ns, &first, now)) {
        atomic_compare_exchange_strong(run_stop, &on, RUN_INTERRUPTED);
        atomic_store(&moved_before, moved());
        (void)alarm(1);
    } else if (number != SIGHUP && now - first > TOGETHER_NS) {
        end_now();
    }
}

/* Ctrl-Z: stops the children, then this process as if there were no handler. */
static void on_pause(int number)
{
    const struct sigaction again = {.sa_handler = on_pause, .sa_flags = PAUSE_FLAGS};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    process_signal_all(number);
    (void)raise(number);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* the process stops here */
    (void)sigaction(number, &again, NULL);
    process_signal_all(SIGCONT);
}

static void install(int number)
{
    struct sigaction act = {.sa_handler = on_signal}, before;
    sigfillset(&act.sa_mask);
    if (number == SIGTSTP)
        act = (struct sigaction){.sa_handler = on_pause, .sa_flags = PAUSE_FLAGS};
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &act, NULL);
}

void signals_install(atomic_int *stop)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction watch = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigfillset(&watch.sa_mask);
    run_stop = stop;
    if (stop)
        sigaction(SIGALRM, &watch, NULL);
    install(SIGINT);
    install(SIGTERM);
    install(SIGHUP);
    if (!stop)
        return;
    install(SIGTSTP);
    sigaction(SIGXFSZ, &ignore, NULL); /* writing too large a file then fails */
    sigaction(SIGPIPE, &ignore, NULL); /* writing to a closed pipe then fails */
}
