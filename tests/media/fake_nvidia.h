/* Counters of the fake driver, for tests that are linked with it. */
#ifndef LUMEQ_TESTS_FAKE_NVIDIA_H
#define LUMEQ_TESTS_FAKE_NVIDIA_H

typedef struct FakeNvidia {
    int contexts, copies;         /* so far */
    int blocks, decoders, mapped; /* memory blocks, decoders and mapped pictures not yet released */
    int most_mapped;              /* maximum of pictures mapped at a time */
    int refused;                  /* requests for more pictures than a decoder was created for */
} FakeNvidia;

extern FakeNvidia fake_nvidia;

static inline int fake_nvidia_open(void)
{
    return fake_nvidia.blocks + fake_nvidia.decoders + fake_nvidia.mapped;
}

/* Logs that something was released. */
void fake_nvidia_log(const char *what);

#endif
