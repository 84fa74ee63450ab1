#include "bench/replay.h"

#include "bench/bench.h"

#define TIMES_L2 5
#define MIN_PIECES 4

#define WARM_UPS 5
#define REPLAYS 31
#define LAUNCHES 4 /* of the graph in a replay */

/* Graphs that take longer than this are replayed less often. */
#define LONG_US 3e3
#define LONG_WARM_UPS 2
#define LONG_REPLAYS 7

typedef struct Timer {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
} Timer;

cudaError_t bench_pieces(int *pieces, int device, size_t size)
{
    int l2 = 0;
    const cudaError_t error = cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device);
    const size_t wanted = (size_t)TIMES_L2 * (size_t)l2 / size + 1;
    *pieces = wanted > BENCH_MAX_PIECES ? BENCH_MAX_PIECES
              : wanted < MIN_PIECES     ? MIN_PIECES
                                        : (int)wanted;
    return error;
}

static cudaError_t capture(cudaGraph_t *graph, const BenchReplay *replay, int first, int count,
                           cudaStream_t stream)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error)
        return error;
    for (int i = first; i < first + count && !error; i++)
        error = replay->work(replay->data, i, stream);
    const cudaError_t end = cudaStreamEndCapture(stream, graph);
    return error ? error : end;
}

/* Makes each piece a child graph, so that each depends on all of the one before. */
static cudaError_t capture_alone(cudaGraph_t *graph, const BenchReplay *replay, cudaStream_t stream)
{
    cudaGraphNode_t last = NULL;
    cudaError_t error = cudaGraphCreate(graph, 0);
    for (int i = 0; i < replay->pieces && !error; i++) {
        cudaGraph_t piece = NULL;
        const cudaGraphNode_t before = last;
        error = capture(&piece, replay, i, 1, stream);
        if (!error)
            error = cudaGraphAddChildGraphNode(&last, *graph, &before, i > 0, piece);
        if (piece)
            cudaGraphDestroy(piece);
    }
    return error;
}

static cudaError_t timer_open(Timer *timer, const BenchReplay *replay)
{
    cudaError_t error = cudaStreamCreateWithFlags(&timer->stream, cudaStreamNonBlocking);
    if (!error)
        error = cudaEventCreate(&timer->begin);
    if (!error)
        error = cudaEventCreate(&timer->end);
    if (!error)
        error = replay->alone ? capture_alone(&timer->graph, replay, timer->stream)
                              : capture(&timer->graph, replay, 0, replay->pieces, timer->stream);
    if (!error)
        error = cudaGraphInstantiate(&timer->executable, timer->graph, 0);
    return error;
}

static void timer_close(Timer *timer)
{
    if (timer->executable)
        cudaGraphExecDestroy(timer->executable);
    if (timer->graph)
        cudaGraphDestroy(timer->graph);
    if (timer->begin)
        cudaEventDestroy(timer->begin);
    if (timer->end)
        cudaEventDestroy(timer->end);
    if (timer->stream)
        cudaStreamDestroy(timer->stream);
}

/* Queues the timed launches after an untimed one, to exclude the host's time for launching. */
static cudaError_t time_once(const Timer *timer, double *us)
{
    float ms = 0;
    cudaError_t error = cudaGraphLaunch(timer->executable, timer->stream);
    if (!error)
        error = cudaEventRecord(timer->begin, timer->stream);
    for (int i = 0; i < LAUNCHES && !error; i++)
        error = cudaGraphLaunch(timer->executable, timer->stream);
    if (!error)
        error = cudaEventRecord(timer->end, timer->stream);
    if (!error)
        error = cudaEventSynchronize(timer->end);
    if (!error)
        error = cudaEventElapsedTime(&ms, timer->begin, timer->end);
    *us = 1e3 * (double)ms / LAUNCHES;
    return error;
}

cudaError_t bench_replay(BenchTime *time, const BenchReplay *replay)
{
    Timer timer = {0};
    double times[WARM_UPS + REPLAYS];
    cudaError_t error = timer_open(&timer, replay);
    if (!error)
        error = time_once(&timer, &times[0]);
    const int is_long = !error && times[0] > LONG_US;
    const int warm_ups = is_long ? LONG_WARM_UPS : WARM_UPS;
    const int replays = is_long ? LONG_REPLAYS : REPLAYS;
    for (int i = 1; i < warm_ups + replays && !error; i++)
        error = time_once(&timer, &times[i]);
    timer_close(&timer);
    if (error)
        return error;
    double *const counted = times + warm_ups;
    time->us = bench_median(counted, replays) / replay->pieces; /* sorts */
    time->spread_us = (counted[replays * 3 / 4] - counted[replays / 4]) / replay->pieces;
    return cudaSuccess;
}
