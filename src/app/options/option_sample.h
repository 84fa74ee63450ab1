/* What --sample allows beside itself. */
#ifndef LUMEQ_APP_OPTION_SAMPLE_H
#define LUMEQ_APP_OPTION_SAMPLE_H

#include "app/options/option_value.h"

/* 0, or -1 with the sentence. Nothing is looked at where --sample is not given. */
int option_sample_check(const Options *options, const unsigned char *given, int is_plan,
                        const Refusal *refusal);

#endif
