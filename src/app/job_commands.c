#include "app/job_commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/headless.h"
#include "app/job_steps.h"
#include "app/signals.h"
#include "app/terminal.h"
#include "media/log.h"

/* Where engines of clusters say which part a process is to make, and the number of their first. */
static const struct {
    const char *name;
    int first;
} numbers[] = {{"SLURM_ARRAY_TASK_ID", 0}, {"JOB_COMPLETION_INDEX", 0}, {"PARALLEL_SEQ", 1}};

enum { PLAN, MEASURE, SEGMENT, JOIN, COMMANDS };
const char *const job_words[] = {
    [PLAN] = "plan", [MEASURE] = "measure", [SEGMENT] = "segment",
    [JOIN] = "join", [COMMANDS] = NULL,
};

static int find_word(const char *name)
{
    int i = 0;
    while (i < COMMANDS && strcmp(job_words[i], name) != 0)
        i++;
    return i;
}

int job_is_command(int argc, char **argv)
{
    return argc > 1 && find_word(argv[1]) < COMMANDS;
}

/* A number, and nothing else; -1: it is none. */
static long read_number(const char *text)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno ? number : -1;
}

/* The part that is to be made: of the arguments, of which *used is how many were it, or else of the
 * environment. */
static int find_part(JobFilm *f, int command, int argc, char **argv, int *used, long *part)
{
    *used = 0;
    if (argc > 0 && argv[0][0] != '-') {
        *part = read_number(argv[0]);
        *used = 1;
        return *part >= 0 ? 0
                          : media_fail(&f->error, MEDIA_USAGE,
                                       "%s is no number of a part; they count from 0",
                                       media_quote(argv[0]));
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const char *text = getenv(numbers[i].name);
        if (!text)
            continue;
        const long number = read_number(text);
        *part = number - numbers[i].first;
        return number >= 0 && *part >= 0 ? 0
                                         : media_fail(&f->error, MEDIA_USAGE, "%s=%s names no part",
                                                      numbers[i].name, media_quote(text));
    }
    return media_fail(&f->error, MEDIA_USAGE,
                      "lumeq %s PLAN K needs the number of a part, K, as an argument, or in "
                      "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or PARALLEL_SEQ",
                      job_words[command]);
}

static int check_part(JobFilm *f, long part)
{
    const int count = f->plan.part_count;
    return part < count || (f->plan.ready && part < f->plan.wanted_parts)
               ? 0
               : media_fail(&f->error, MEDIA_USAGE,
                            "there is no part %ld: the plan has %d, from 0 to %d", part, count,
                            count - 1);
}

static void set_up(const Options *o)
{
    say_set_color((SayColor)o->color);
    say_set_verbosity(o->quiet ? SAY_ERRORS : o->verbose ? SAY_DETAILS : SAY_NORMAL);
    media_log_install(o->verbose, say_detail);
}

static ProgressStyle progress_style(const Options *o)
{
    return headless_progress(o);
}

/* Of a job that was joined nothing is left but the output: whether it is a job's is known as long
 * as the folder says so. 1: it does; 0: it is to be joined, or a fault. */
static int look_at_output(JobFilm *f, const char *plan, int *code)
{
    static const char ending[] = ".lumeq/plan";
    const size_t length = strlen(plan), n = strlen(ending);
    char *output =
        length > n && strcmp(plan + length - n, ending) == 0 ? strndup(plan, length - n) : NULL;
    int ret = 0;
    if (!output)
        return 0;
    if (access(plan, F_OK) < 0 && job_is_joined(output, NULL, NULL, code))
        ret = 1;
    else if (access(plan, F_OK) < 0 && access(output, F_OK) == 0)
        ret = media_fail(&f->error, MEDIA_INPUT,
                         "there is no plan %s, and %s is there, which is left alone: where a job "
                         "made it, it was joined before, and nothing is left to do",
                         media_quote(plan), media_quote(output));
    free(output);
    return ret;
}

/* Of a plan that is there; `argv` begins with its path. */
static int run_step(JobFilm *f, int command, int argc, char **argv, int *code)
{
    long part = 0;
    int used = 0, ret = 0;
    const int has_part = command == MEASURE || command == SEGMENT;
    if (command == PLAN && argc < 1)
        return media_fail(&f->error, MEDIA_USAGE,
                          "lumeq plan needs a film and its name, IN -o OUT, or a plan to finish, "
                          "OUT.lumeq/plan; a file called plan is ./plan");
    if (argc < 1 || argv[0][0] == '-')
        return media_fail(&f->error, MEDIA_USAGE,
                          "lumeq %s needs a plan, OUT.lumeq/plan; a file called %s is ./%s",
                          job_words[command], job_words[command], job_words[command]);
    if (has_part)
        ret = find_part(f, command, argc - 1, argv + 1, &used, &part);
    if (ret >= 0 && command == JOIN)
        ret = look_at_output(f, argv[0], code);
    if (ret > 0)
        return 0;
    if (ret >= 0)
        ret = job_film_read(f, argv[0], argc - 1 - used, argv + 1 + used);
    if (ret >= 0 && has_part)
        ret = check_part(f, part);
    if (ret < 0)
        return ret;
    set_up(&f->options);
    f->progress.style = progress_style(&f->options);
    switch (command) {
    case MEASURE: return job_step_measure(f, (int)part);
    case SEGMENT: return job_step_segment(f, (int)part);
    case JOIN: return job_step_join(f, code);
    default: return job_step_finish(f);
    }
}

/* lumeq plan IN -o OUT */
static int plan_new(JobFilm *f, int argc, char **argv)
{
    char text[1400];
    if (options_parse_plan(&f->options, argc, argv, text, sizeof(text)) < 0)
        return media_fail(&f->error, MEDIA_USAGE, "%s", text);
    if (f->options.help) {
        options_print_help(OPTIONS_HELP_FULL);
        return 0;
    }
    if (options_ask(&f->options))
        return media_fail(&f->error, MEDIA_USAGE,
                          "lumeq plan plans a film; what there is to know is asked for without it, "
                          "as in lumeq --version");
    set_up(&f->options);
    f->progress.style = progress_style(&f->options);
    if (!f->options.output)
        return media_fail(&f->error, MEDIA_USAGE,
                          "lumeq plan IN -o OUT needs the name of the film that is to be written");
    return job_step_plan(f);
}

/* Whether `lumeq plan PLAN` is meant: no output is named. */
static int names_output(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-o") == 0 || strncmp(argv[i], "--output", 8) == 0 ||
            strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
            strncmp(argv[i], "--help=", 7) == 0)
            return 1;
    return 0;
}

int job_command(int argc, char **argv, atomic_int *stop)
{
    JobFilm film = {.stop = stop, .options = options_default()};
    const int command = find_word(argv[1]);
    int code = EXIT_DONE, ret;
    signals_install(stop);
    if (command == PLAN && names_output(argc - 1, argv + 1))
        ret = plan_new(&film, argc - 1, argv + 1);
    else
        ret = run_step(&film, command, argc - 2, argv + 2, &code);
    if (ret < 0)
        code = atomic_load(stop) == RUN_INTERRUPTED ? EXIT_INTERRUPTED : -film.error.fault;
    if (ret < 0)
        say(SAY_ERRORS, "%s",
            code == EXIT_INTERRUPTED ? "interrupted; what was done before stays" : film.error.text);
    job_film_close(&film);
    return code;
}
