/* The NVIDIA driver, asked without CUDA's toolkit: a build without CUDA can tell what it would have
 * had. To be used in a process of its own: drivers stay loaded. */
#ifndef LUMEQ_APP_DOCTOR_NVIDIA_DRIVER_H
#define LUMEQ_APP_DOCTOR_NVIDIA_DRIVER_H

typedef enum NvidiaState {
    NVIDIA_FINE,          /* there is a GPU at least */
    NVIDIA_NO_GPU,        /* on this machine, or none that is shown to this container */
    NVIDIA_NO_DRIVER,     /* there is a GPU, and its driver is not installed */
    NVIDIA_NOT_LOADED,    /* the driver's library is there, the kernel's module is not */
    NVIDIA_NO_PERMISSION, /* `node` may not be opened */
    NVIDIA_MISMATCH,      /* the driver was updated, and the old one is still running */
    NVIDIA_FAILS,         /* `why` has the driver's word for it */
} NvidiaState;

typedef struct NvidiaDriver {
    NvidiaState state;
    char version[32]; /* "580.65.06", or "" */
    int cuda;         /* 13000: what it knows of CUDA, 0: unknown */
    int count;        /* of GPUs */
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

/* 0, or -1: it does not answer. */
int nvidia_driver_gpu(const NvidiaDriver *driver, int number, NvidiaGpu *gpu);

/* Not 0: the NVIDIA library of this name can be loaded. */
int nvidia_driver_has(const char *library);

/* Not 0: this is a container. */
int nvidia_driver_in_container(void);

#endif
