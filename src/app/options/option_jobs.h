/* What may be asked of a film that is written in parts, and what its options are for. */
#ifndef LUMEQ_APP_OPTION_JOBS_H
#define LUMEQ_APP_OPTION_JOBS_H

#include "app/options/option_value.h"

/* `given`: as in option_inputs_check(). `is_plan`: of `lumeq plan`. 0, or -1 with a sentence. */
int option_jobs_check(const Options *options, const unsigned char *given, int is_plan,
                      const Refusal *refusal);

#endif
