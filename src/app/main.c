#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "app/headless.h"
#include "app/options.h"
#include "app/say.h"
#include "media/log.h"
#include "media/output_file.h"

static atomic_int stop = RUN_ON;
static atomic_int signals;

/* The first signal ends the run in order; the second one ends it now, and still leaves no half
 * file. */
static void on_signal(int number)
{
    (void)number;
    int on = RUN_ON;
    if (atomic_fetch_add(&signals, 1)) {
        output_file_remove_temp();
        _exit(EXIT_INTERRUPTED);
    }
    atomic_compare_exchange_strong(&stop, &on, RUN_INTERRUPTED);
}

static void install_signals(void)
{
    const struct sigaction act = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGPIPE, &ignore, NULL); /* a closed pipe is a write error */
}

static void print_version(void)
{
    char versions[256];
    media_versions(versions, sizeof(versions));
    printf("lumeq %s\n%s\n%s\n", lumeq_version(), lumeq_build_info(), versions);
}

int main(int argc, char **argv)
{
    Options options;
    char text[1024];
    if (options_parse(&options, argc, argv, text, sizeof(text)) < 0) {
        say(SAY_ERRORS, "%s", text);
        return EXIT_USAGE;
    }
    if (options.help || options.version) {
        if (options.help)
            options_print_help(stdout);
        else
            print_version();
        return fflush(stdout) == 0 ? EXIT_DONE : EXIT_OUTPUT;
    }
    say_set_verbosity(options.quiet ? SAY_ERRORS : options.verbose ? SAY_DETAILS : SAY_NORMAL);
    media_log_install(options.verbose, say_detail);
    install_signals();
    return headless_run(&options, &stop);
}
