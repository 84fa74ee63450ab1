/* Measures work on the GPU: many pieces of it are captured into one graph, which is replayed. */
#ifndef LUMEQ_BENCH_REPLAY_H
#define LUMEQ_BENCH_REPLAY_H

#include <stddef.h>

#include <cuda_runtime_api.h>

/* Each piece has memory of its own, so that its data do not come from the cache. */
#define BENCH_MAX_PIECES 1024

/* Finds how many pieces of `size` bytes are several times as large as the device's L2 cache,
 * between 4 and BENCH_MAX_PIECES. */
cudaError_t bench_pieces(int *pieces, int device, size_t size);

/* Queues the work of a piece on the stream, which is being captured: it must not wait or allocate.
 * If it uses other streams, it must join them with this one after the last piece, or after each
 * piece if pieces are alone. */
typedef cudaError_t BenchWork(void *data, int piece, cudaStream_t stream);

typedef struct BenchReplay {
    BenchWork *work;
    void *data; /* for work() */
    int pieces;
    int alone; /* a piece begins after the one before has finished; else kernels may overlap if
                * their launch allows it */
} BenchReplay;

/* Microseconds per piece: the median of the replays, and the distance of their quartiles. */
typedef struct BenchTime {
    double us, spread_us;
} BenchTime;

/* Measures on the current device, which must be idle. */
cudaError_t bench_replay(BenchTime *time, const BenchReplay *replay);

#endif
