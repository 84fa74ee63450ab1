/*
 * The sandbox. Before a run opens its input, its process gives up all rights that reading one video
 * and writing another do not need. If hostile media takes over a decoder, it can then do little.
 * Landlock limits files, and seccomp limits system calls. options/README.md lists the rights.
 */
#ifndef LUMEQ_APP_SANDBOX_H
#define LUMEQ_APP_SANDBOX_H

#include <stdbool.h>

#include "app/options/options.h"
#include "media/error.h"

typedef enum SandboxKind {
    SANDBOX_RUN,  /* reads the input; writes the output, the statistics and the report */
    SANDBOX_STEP, /* a step of a job: also makes and removes folders beside the output */
} SandboxKind;

/* The kernel's version of Landlock; 0: missing. */
int sandbox_landlock(void);

/* True if the kernel can filter system calls, and lumeq knows this processor's system calls. */
bool sandbox_can_filter(void);

/* A sentence about what this kernel lacks for the sandbox, or NULL. */
const char *sandbox_lack(void);

/* Returns 1 if a run with these options should get a sandbox, else 0. If the sandbox is missing or
 * incomplete, prints the reason once; child processes do not repeat it. MEDIA_USAGE: the kernel
 * lacks what --sandbox on needs. */
int sandbox_say(const Options *options, MediaError *error);

/* Gives up the rights for good. Call it before threads start or a driver is loaded. Closes
 * inherited files that no option names. MEDIA_USAGE: the kernel refuses --sandbox on. */
int sandbox_enter(const Options *options, SandboxKind kind, MediaError *error);

/* If the sandbox may be why an encoder cannot be opened, returns a hint; else NULL. */
const char *sandbox_hint(const Options *options);

/* Gives up system calls that no player needs; does nothing with --sandbox off. */
void sandbox_enter_window(const Options *options);

#endif
