#include "app/options/option_jobs.h"

#include <string.h>

#include "app/options/option_inputs.h"
#include "media/error.h"

typedef struct Why {
    const char *name, *text;
} Why;

#define NO_WINDOW "a film in parts is written without a window"
#define FROM_A_FILE "a film in parts is read by several processes, from a file"

/* Whoever writes the film in parts. */
static const Why not_in_parts[] = {
    {"osd-scale", NO_WINDOW},
    {"histogram", NO_WINDOW},
    {"loop", NO_WINDOW},
    {"loop-all", NO_WINDOW},
    {"shuffle", NO_WINDOW},
    {"remember", NO_WINDOW},
    {"keep-open", NO_WINDOW},
    {"screenshot-dir", NO_WINDOW},
    {"speed", NO_WINDOW},
    {"fullscreen", NO_WINDOW},
    {"volume", NO_WINDOW},
    {"mute", NO_WINDOW},
    {"no-audio", NO_WINDOW},
    {"camera", FROM_A_FILE},
    {"network", FROM_A_FILE},
    {"virtual-camera", "what is written in parts has no order in time"},
    {"low-latency", "what is written in parts has no order in time"},
    {"reconnect", FROM_A_FILE},
    {"segment-time", "a job makes one film of its parts"},
    {"null", "there is nothing to write parts of"},
};

static const Why not_of_plan[] = {
    {"jobs", "that takes all steps itself; each `lumeq segment PLAN K` makes one part"},
    {"devices", "each `lumeq segment PLAN K` has its own --device"},
    {"resume", "each step leaves alone what is done"},
};

static const Why not_of_run[] = {
    {"no-measure", "that is for `lumeq plan`, whose parts others measure"},
};

/* What only a film in parts has. */
static const char *const of_parts[] = {"parts", "part-seconds", "no-measure", "devices"};

/* And of these, what many files do not have, each of which is written whole. */
#define OF_ONE_FILM 3

/* Of a GPU's number. */
#define MOST_DIGITS 4

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static int refuse_given(const Why *list, int count, const unsigned char *given, const char *name,
                        const Refusal *refusal)
{
    for (int i = 0; i < count; i++)
        if (option_is_given(given, list[i].name))
            return refuse(refusal, "%s and --%s contradict each other: %s", name, list[i].name,
                          list[i].text);
    return 0;
}

static const char *find_given(const char *const *names, int count, const unsigned char *given)
{
    for (int i = 0; i < count; i++)
        if (option_is_given(given, names[i]))
            return names[i];
    return NULL;
}

/* Numbers with one comma between them. */
static int is_list(const char *text)
{
    for (size_t n; (n = strspn(text, "0123456789")) >= 1 && n <= MOST_DIGITS; text += n + 1)
        if (text[n] != ',')
            return !text[n];
    return 0;
}

static int check_values(const Options *o, const Refusal *refusal)
{
    if (o->devices && strcmp(o->devices, "all") != 0 && !is_list(o->devices))
        return refuse(refusal, "--devices %s: it is all, or numbers of GPUs such as 0,1",
                      media_quote(o->devices));
    if (o->parts && o->part_seconds > 0)
        return refuse(refusal, "--parts and --part-seconds contradict each other");
    return 0;
}

/* Files into a folder, --jobs of them at a time. */
static int check_many(const Options *o, const unsigned char *given, const char *name,
                      const Refusal *refusal)
{
    const char *other = find_given(of_parts, OF_ONE_FILM, given);
    if (other)
        return refuse(refusal, "--%s is for one film in parts, and a folder of outputs is for many",
                      other);
    if (option_is_given(given, "devices") && !o->jobs)
        return refuse(refusal, "--devices is for several files at a time: --jobs is missing");
    return strcmp(name, "lumeq plan") == 0
               ? refuse(refusal, "lumeq plan is for one film: -o %s is a folder of outputs",
                        media_quote(o->output))
               : 0;
}

static int check_film(const Options *o, const unsigned char *given, int is_plan, const char *name,
                      const Refusal *refusal)
{
    if (!is_plan && !o->output && !o->camera)
        return refuse(refusal, "%s is for a film that is written: -o FILE names it", name);
    if (o->sequence || option_inputs_is_pictures(o, o->input))
        return refuse(refusal, "%s is for a film in one file, and pictures are none", name);
    if (refuse_given(not_in_parts, COUNT(not_in_parts), given, name, refusal) < 0)
        return -1;
    if (o->hwdec == OPTIONS_HWDEC_NVDEC)
        return refuse(refusal,
                      "%s and --hwdec nvdec contradict each other: parts are decoded in software",
                      name);
    if (o->input && strcmp(o->input, "-") == 0)
        return refuse(refusal, "%s needs a file: %s", name, FROM_A_FILE);
    if (option_is_given(given, "lookahead") && o->lookahead == 0)
        return refuse(refusal,
                      "%s and --lookahead off contradict each other: a film in parts is measured "
                      "first",
                      name);
    return is_plan ? refuse_given(not_of_plan, COUNT(not_of_plan), given, name, refusal)
                   : refuse_given(not_of_run, COUNT(not_of_run), given, name, refusal);
}

int option_jobs_check(const Options *o, const unsigned char *given, int is_plan,
                      const Refusal *refusal)
{
    const char *name = is_plan        ? "lumeq plan"
                       : o->jobs != 0 ? "--jobs"
                       : o->resume    ? "--resume"
                                      : NULL;
    const char *other = find_given(of_parts, COUNT(of_parts), given);
    if (check_values(o, refusal) < 0)
        return -1;
    if (options_many(o))
        return check_many(o, given, name ? name : "", refusal);
    if (!name && other)
        return refuse(refusal, "--%s is for a film in parts: --jobs, or `lumeq plan`, is missing",
                      other);
    return name ? check_film(o, given, is_plan, name, refusal) : 0;
}
