/*
 * Preloaded into a program, this library breaks its GPU. GPU_FAULT_MS milliseconds after the start,
 * a kernel in the primary context writes to an invalid address. All later CUDA calls fail.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char kernel[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                             ".visible .entry fault()\n{\n"
                             "  .reg .b64 at;\n  mov.u64 at, 16;\n"
                             "  st.global.u32 [at], 1;\n  ret;\n}\n";

/* Finds a function by name, because the program may not be linked with the driver. */
static void *find(void *driver, const char *name)
{
    void *function = driver ? dlsym(driver, name) : NULL;
    if (!function)
        fprintf(stderr, "gpu_fault: %s is missing\n", name);
    return function;
}

static int run_kernel(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL, *module = NULL, *entry = NULL;
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *),
        (*get)(void **, void *, const char *),
        (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **),
        (*synchronize)(void);
    *(void **)&init = find(driver, "cuInit");
    *(void **)&retain = find(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = find(driver, "cuCtxSetCurrent");
    *(void **)&load = find(driver, "cuModuleLoadData");
    *(void **)&get = find(driver, "cuModuleGetFunction");
    *(void **)&launch = find(driver, "cuLaunchKernel");
    *(void **)&synchronize = find(driver, "cuCtxSynchronize");
    if (!init || !retain || !set || !load || !get || !launch || !synchronize)
        return -1;
    if (init(0) || retain(&context, 0) || set(context) || load(&module, kernel) ||
        get(&entry, module, "fault") || launch(entry, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL))
        return -1;
    return synchronize();
}

static void *wait_and_run(void *milliseconds)
{
    const long ms = strtol(milliseconds, NULL, 10);
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
    fprintf(stderr, "gpu_fault: CUDA error %d\n", run_kernel());
    return NULL;
}

__attribute__((constructor)) static void begin(void)
{
    char *ms = getenv("GPU_FAULT_MS");
    pthread_t thread;
    if (ms && pthread_create(&thread, NULL, wait_and_run, ms) == 0)
        pthread_detach(thread);
}
