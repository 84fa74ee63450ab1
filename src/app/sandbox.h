/*
 * The sandbox: before a run opens its input, its process gives up all rights that reading one video
 * and writing another do not need, so that a decoder that hostile media has taken over can do
 * little. Landlock limits the files, seccomp the system calls. README.md lists the rights.
 */
#ifndef LUMEQ_APP_SANDBOX_H
#define LUMEQ_APP_SANDBOX_H

#include "app/options/options.h"
#include "media/error.h"

typedef enum SandboxKind {
    SANDBOX_RUN,  /* reads the input; writes the output, the statistics and the report */
    SANDBOX_STEP, /* a step of a job: also makes and removes folders beside the output */
    SANDBOX_JOB,  /* also starts this program for its steps, which stay in the sandbox */
} SandboxKind;

/* The kernel's version of Landlock; 0: missing. */
int sandbox_landlock(void);

/* True if the kernel can filter system calls, and lumeq knows those of this processor. */
int sandbox_can_filter(void);

/* The sentence that says what the sandbox lacks here, or NULL: nothing. */
const char *sandbox_lack(void);

/* True if a run with these options has a sandbox. *why: NULL, or why not. */
int sandbox_suits(const Options *options, const char **why);

/* Gives up the rights for good, also those of future threads and processes. Call before the first
 * thread, and before a driver is loaded. MEDIA_USAGE: --sandbox on, and the kernel cannot. */
int sandbox_enter(const Options *options, SandboxKind kind, MediaError *error);

#endif
