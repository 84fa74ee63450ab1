/* Queries the NVIDIA driver without CUDA's toolkit, so that builds without CUDA can report it. Use
 * it in a separate process: drivers stay loaded. */
#ifndef LUMEQ_APP_DOCTOR_NVIDIA_DRIVER_H
#define LUMEQ_APP_DOCTOR_NVIDIA_DRIVER_H

typedef enum NvidiaState {
    NVIDIA_FINE,          /* at least one GPU works */
    NVIDIA_NO_GPU,        /* none on this machine, or visible in this container */
    NVIDIA_NO_DRIVER,     /* a GPU without an installed driver */
    NVIDIA_NOT_LOADED,    /* the library is installed, the kernel module is not loaded */
    NVIDIA_NO_PERMISSION, /* no permission to open `node` */
    NVIDIA_MISMATCH,      /* the driver was updated, but the old one still runs */
    NVIDIA_FAILS,         /* `why` has the driver's message */
} NvidiaState;

typedef struct NvidiaDriver {
    NvidiaState state;
    char version[32]; /* "580.65.06", or "" */
    int cuda;         /* newest supported CUDA, such as 13000; 0: unknown */
    int count;        /* number of GPUs */
    const char *node; /* a device file */
    char why[128];
    void *library;
} NvidiaDriver;

void nvidia_driver_ask(NvidiaDriver *driver);

typedef struct NvidiaGpu {
    char name[128];
    double memory; /* bytes */
    int major, minor, processors;
} NvidiaGpu;

/* Returns 0, or -1 if the GPU does not answer. */
int nvidia_driver_gpu(const NvidiaDriver *driver, int number, NvidiaGpu *gpu);

/* True if this NVIDIA library can be loaded. */
int nvidia_driver_has(const char *library);

/* True in a container. */
int nvidia_driver_in_container(void);

#endif
