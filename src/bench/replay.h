/* Times on the GPU: many pieces of work captured into one graph, which is replayed. */
#ifndef LUMEQ_BENCH_REPLAY_H
#define LUMEQ_BENCH_REPLAY_H

#include <stddef.h>

#include <cuda_runtime_api.h>

/* Pieces take turns in memory of their own, so that each comes from there and not from the cache.
 */
#define BENCH_MAX_PIECES 1024

/* How many pieces of `size` bytes are together several times the device's L2 cache: a few at least,
 * BENCH_MAX_PIECES at most. */
cudaError_t bench_pieces(int *pieces, int device, size_t size);

/* Starts the work of piece number `piece` on the stream. It is called while that is captured: it
 * must not wait or allocate, and from other streams it must have come back after the last piece, or
 * after each where they are alone. */
typedef cudaError_t BenchWork(void *data, int piece, cudaStream_t stream);

typedef struct BenchReplay {
    BenchWork *work;
    void *data; /* of work() */
    int pieces;
    /* 0: one behind the other as a stream has them; a kernel whose launch allows it begins before
     * the one before has ended. Not 0: a piece begins when all of the one before is done. */
    int alone;
} BenchReplay;

/* Microseconds a piece: the median of the replays, and how far apart their quartiles are. */
typedef struct BenchTime {
    double us, spread_us;
} BenchTime;

/* On the current device, which has nothing else to do; memory is ready. Warm-ups do not count. */
cudaError_t bench_replay(BenchTime *time, const BenchReplay *replay);

#endif
