/*
 * Equalizes frames that stay on the GPU: a kernel draws them into device memory, the library
 * equalizes them, another kernel reads them. All work is queued; the host waits only for a frame's
 * measure, for room in the library, and at the end. The event `ready` tells the library that a
 * frame is drawn; `finished` tells the second kernel that it is equalized.
 *
 *   nvcc embed_cuda.cu -o embed_cuda $(pkg-config --cflags --libs lumeq | sed s/-Wl,/-Xlinker=/)
 */
#include <cuda_runtime.h>
#include <lumeq/lumeq.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 1920
#define HEIGHT 1080
#define PITCH 2048 /* bytes from row to row */
#define FRAMES 100
#define BUFFERS 3 /* frames in flight */

static int bad(cudaError_t error)
{
    if (error != cudaSuccess)
        fprintf(stderr, "embed_cuda: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}

/* Draws a dull picture that drifts. */
__global__ void draw(unsigned char *luma, int frame)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < WIDTH)
        luma[y * PITCH + x] = (unsigned char)(90 + (x + y + frame) / 16 % 40);
}

/* Finds the brightest code of all frames. */
__global__ void look(const unsigned char *luma, unsigned *most)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < WIDTH)
        atomicMax(most, (unsigned)luma[y * PITCH + x]);
}

/* One frame in flight. */
struct Buffer {
    unsigned char *in, *out;
    cudaEvent_t ready, finished;
};

static LumeqImage image_at(unsigned char *luma)
{
    LumeqImage image;
    memset(&image, 0, sizeof(image));
    image.plane[0] = luma;
    image.stride[0] = PITCH;
    image.width = WIDTH;
    image.height = HEIGHT;
    image.depth = 8;
    image.memory = LUMEQ_MEMORY_CUDA;
    return image;
}

static int open_buffer(Buffer *b)
{
    return bad(cudaMalloc((void **)&b->in, PITCH * HEIGHT)) ||
           bad(cudaMalloc((void **)&b->out, PITCH * HEIGHT)) ||
           bad(cudaEventCreateWithFlags(&b->ready, cudaEventDisableTiming)) ||
           bad(cudaEventCreateWithFlags(&b->finished, cudaEventDisableTiming));
}

/* Queues all work on frame `n`. */
static int queue_frame(LumeqEqualizer *eq, Buffer *b, int n, unsigned *most, cudaStream_t stream)
{
    const dim3 grid((WIDTH + 255) / 256, HEIGHT);
    draw<<<grid, 256, 0, stream>>>(b->in, n);
    if (bad(cudaGetLastError()) || bad(cudaEventRecord(b->ready, stream)))
        return 1;

    LumeqSync sync;
    LumeqFrame frame;
    memset(&sync, 0, sizeof(sync));
    memset(&frame, 0, sizeof(frame));
    sync.ready = b->ready;
    sync.finished = b->finished;
    frame.in = image_at(b->in);
    frame.out = image_at(b->out);
    frame.time = n * (int64_t)40000000;
    frame.sync = &sync;
    int ret;
    while ((ret = lumeq_submit(eq, &frame)) == LUMEQ_ERR_AGAIN)
        if (lumeq_receive(eq, NULL, NULL) < 0)
            break;
    if (ret < 0) {
        fprintf(stderr, "embed_cuda: %s\n", lumeq_last_error(eq));
        return 1;
    }
    if (bad(cudaStreamWaitEvent(stream, b->finished, 0)))
        return 1;
    look<<<grid, 256, 0, stream>>>(b->out, most);
    return bad(cudaGetLastError());
}

int main(void)
{
    char why[256];
    LumeqEqualizer *eq;
    LumeqConfig config;
    Buffer buffers[BUFFERS];
    cudaStream_t stream;
    unsigned *on_device, most = 0;
    memset(&config, 0, sizeof(config));
    memset(buffers, 0, sizeof(buffers));
    config.backend = LUMEQ_BACKEND_CUDA;
    if (lumeq_create(&eq, &config, why, sizeof(why)) < 0) {
        fprintf(stderr, "embed_cuda: %s\n", why);
        return 77; /* no GPU here */
    }
    int failed = bad(cudaStreamCreate(&stream)) || bad(cudaMalloc((void **)&on_device, 4)) ||
                 bad(cudaMemsetAsync(on_device, 0, 4, stream));
    for (int i = 0; i < BUFFERS && !failed; i++)
        failed = open_buffer(&buffers[i]);
    /* A buffer can be redrawn at once: its `look` precedes its next `draw` on the stream. */
    for (int n = 0; n < FRAMES && !failed; n++)
        failed = queue_frame(eq, &buffers[n % BUFFERS], n, on_device, stream);
    failed = failed || bad(cudaMemcpyAsync(&most, on_device, 4, cudaMemcpyDeviceToHost, stream)) ||
             bad(cudaStreamSynchronize(stream));
    lumeq_destroy(&eq); /* waits for frames in flight; the process frees the rest */
    printf("the brightest code was 129 and is %u\n", most);
    return failed || most <= 129;
}
