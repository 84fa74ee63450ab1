/* Plans of jobs. An input is the text of a plan without its last line, the checksum. */
#include "fuzz.h"
#include "job/job_plan.h"
#include "media/checksum.h"

#define PROGRAM "lumeq"

int fuzz_valid;

static char output[300], path[300]; /* paths of the output and of the plan */

static void make_folder(void)
{
    const char *job = in_folder("out.lumeq");
    snprintf(output, sizeof(output), "%s", in_folder("out"));
    snprintf(path, sizeof(path), "%s", in_folder("out.lumeq/plan"));
    FUZZ_CHECK(mkdir(job, 0700) == 0, "cannot make %s", job);
}

static int read_plan(JobPlan *plan)
{
    MediaError error = {0};
    *plan = (JobPlan){0};
    const int ret = job_plan_read(plan, path, PROGRAM, &error);
    FUZZ_CHECK(ret <= 0 && (ret == 0) == !error.text[0], "%d: %s", ret, error.text);
    return ret;
}

/* Checks that a plan stays the same if it is written and read again. */
static void write_again(JobPlan *plan)
{
    MediaError error = {0};
    JobPlan again;
    FUZZ_CHECK(job_plan_write(plan, &error) == 0, "%s", error.text);
    FUZZ_CHECK(read_plan(&again) == 0 && again.mark == plan->mark &&
                   again.part_count == plan->part_count &&
                   again.arguments.count == plan->arguments.count,
               "the plan differs");
    job_plan_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    JobPlan plan;
    if (!path[0])
        make_folder();
    /* The fuzzer cannot know the output's folder or the checksum. */
    const size_t room = size + sizeof(output) + 64;
    char *text = malloc(room);
    FUZZ_CHECK(text, "out of memory");
    memcpy(text, bytes, size);
    int n = (int)size + snprintf(text + size, room - size, "output %s\n", output);
    n += snprintf(text + n, room - (size_t)n, "end %08x\n", checksum(0, text, (size_t)n));
    fuzz_write(path, text, (size_t)n);
    free(text);
    if (read_plan(&plan) == 0) {
        fuzz_valid++;
        write_again(&plan);
    }
    job_plan_free(&plan);
    return 0;
}
