#include "app/options/option_sample.h"

#include <string.h>
#include <sys/stat.h>

#include "app/options/option_inputs.h"
#include "app/options/option_table.h"
#include "media/error.h"

static const struct {
    const char *name, *text;
} others[] = {
    {"camera", "a camera has no end, of which there could be a sample"},
    {"network", "what comes from the network is read once, and a sample is of a file"},
    {"null", "a sample is of a film that is to be written: -o FILE names it"},
    {"stats", "nothing but pictures of the sample is written"},
    {"report", "nothing but pictures of the sample is written"},
    {"segment-time", "a sample is of a film in one file"},
    {"sequence", "a sample is of a film in one file, and pictures are none"},
    {"virtual-camera", "pieces that are tried are for nobody to watch"},
    {"low-latency", "a sample is of a film in a file"},
    {"jobs",
     "it tries pieces one after the other, and how much of each other's time "
     "a job's workers take is not known from that; without --jobs it tells what one run takes"},
    {"resume", "a sample has no parts that could be there"},
};

int option_sample_check(const Options *o, const unsigned char *given, int is_plan,
                        const Refusal *refusal)
{
    struct stat there;
    if (!o->sample)
        return 0;
    if (is_plan)
        return refuse(refusal, "lumeq plan and --sample contradict each other: a sample is of one "
                               "run, and nothing is planned by it");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (option_is_given(given, others[i].name))
            return refuse(refusal, "--sample and --%s contradict each other: %s", others[i].name,
                          others[i].text);
    if (!o->output)
        return refuse(refusal, "--sample is of a film that is to be written: -o FILE names it");
    if (options_many(o))
        return refuse(refusal, "--sample is of one film, and a folder of outputs is for many");
    if (strcmp(o->output, "-") == 0 || (stat(o->output, &there) == 0 && !S_ISREG(there.st_mode)))
        return refuse(refusal, "--sample is of a film in a file, and %s is none",
                      strcmp(o->output, "-") == 0 ? "standard output" : media_quote(o->output));
    if (strcmp(o->input, "-") == 0)
        return refuse(refusal, "--sample reads here and there in a file: standard input is read "
                               "once, from front to back");
    if (option_inputs_is_pictures(o, o->input) ||
        (stat(o->input, &there) == 0 && !S_ISREG(there.st_mode)))
        return refuse(refusal, "--sample is of a film in one file, and %s is none",
                      media_quote_input(o->input));
    return 0;
}
