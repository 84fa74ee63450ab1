#include "obs_host.h"

#include <X11/Xlib.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <obs-module.h>
#include <obs-nix-platform.h>
#include <util/platform.h>

#include "../check.h"
#include "../player/keep_libraries.h"

#define LIMIT (20 * CHECK_SLOWER) /* seconds to wait for a frame */
#define CANVAS 64

struct HostSource {
    obs_source_t *input, *filter, *after;
    struct obs_source_frame *got;
    int64_t count; /* frames */
};

static pid_t server;
static Display *display;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static char last_line[512];
static int line_count;
static double canvas;
static int64_t canvas_count;

/* Waits for *count to exceed `old`. The mutex is locked. */
static int wait_beyond(const int64_t *count, int64_t old)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += LIMIT;
    while (*count <= old)
        if (pthread_cond_timedwait(&arrived, &mutex, &end) == ETIMEDOUT)
            return CHECK(0, "nothing comes out of OBS");
    return 1;
}

/* ---- sources ---- */

static const char *name_of(void *type)
{
    return type;
}

static void *create(obs_data_t *settings, obs_source_t *source)
{
    (void)source;
    return (void *)(intptr_t)obs_data_get_int(settings, "host");
}

static void destroy(void *data)
{
    (void)data;
}

static struct obs_source_frame *after(void *data, struct obs_source_frame *frame)
{
    HostSource *h = data;
    pthread_mutex_lock(&mutex);
    obs_source_frame_destroy(h->got);
    h->got = obs_source_frame_create(frame->format, frame->width, frame->height);
    obs_source_frame_copy(h->got, frame);
    h->count++;
    pthread_cond_broadcast(&arrived);
    pthread_mutex_unlock(&mutex);
    return frame;
}

static void add_sources(void)
{
    struct obs_source_info info = {.id = "test_input",
                                   .type = OBS_SOURCE_TYPE_INPUT,
                                   .output_flags = OBS_SOURCE_ASYNC_VIDEO,
                                   .get_name = name_of,
                                   .create = create,
                                   .destroy = destroy};
    obs_register_source(&info);
    info.type = OBS_SOURCE_TYPE_FILTER;
    info.id = "test_after";
    info.filter_video = after;
    obs_register_source(&info);
}

static obs_source_t *new_source(const HostSource *h, const char *id)
{
    obs_data_t *settings = obs_data_create();
    obs_data_set_int(settings, "host", (long long)(intptr_t)h);
    obs_source_t *source = obs_source_create_private(id, id, settings);
    obs_data_release(settings);
    return source;
}

HostSource *host_source(obs_data_t *settings)
{
    HostSource *h = calloc(1, sizeof(*h));
    if (!h)
        abort();
    h->input = new_source(h, "test_input");
    h->filter = obs_source_create_private("lumeq_filter", "lumeq", settings);
    h->after = new_source(h, "test_after");
    obs_data_release(settings);
    CHECK(h->input && h->filter && h->after, "a source cannot be created");
    /* Shows the newest frame at once, whatever its timestamp is. */
    obs_source_set_async_unbuffered(h->input, true);
    obs_source_filter_add(h->input, h->filter);
    obs_source_filter_add(h->input, h->after);
    return h;
}

void host_source_free(HostSource **source)
{
    HostSource *h = *source;
    obs_set_output_source(0, NULL);
    obs_source_t *all[] = {h->filter, h->after, h->input};
    for (int i = 0; i < 2; i++)
        obs_source_filter_remove(h->input, all[i]);
    for (int i = 0; i < 3; i++)
        obs_source_release(all[i]);
    obs_wait_for_destroy_queue();
    obs_source_frame_destroy(h->got);
    free(h);
    *source = NULL;
}

obs_source_t *host_input(const HostSource *source)
{
    return source->input;
}

obs_source_t *host_filter(const HostSource *source)
{
    return source->filter;
}

const struct obs_source_frame *host_filtered(HostSource *h, const struct obs_source_frame *frame)
{
    pthread_mutex_lock(&mutex);
    const int64_t old = h->count;
    pthread_mutex_unlock(&mutex);
    obs_source_output_video(h->input, frame);
    pthread_mutex_lock(&mutex);
    const int ok = wait_beyond(&h->count, old);
    pthread_mutex_unlock(&mutex);
    return ok ? h->got : NULL;
}

/* ---- canvas ---- */

static void take_canvas(void *unused, struct video_data *frame)
{
    double sum = 0;
    (void)unused;
    for (int y = 0; y < CANVAS; y++)
        for (int x = 0; x < CANVAS; x++)
            sum += frame->data[0][(uint32_t)y * frame->linesize[0] + (uint32_t)x];
    pthread_mutex_lock(&mutex);
    canvas = sum / (CANVAS * CANVAS);
    canvas_count++;
    pthread_cond_broadcast(&arrived);
    pthread_mutex_unlock(&mutex);
}

void host_show(const HostSource *source)
{
    obs_set_output_source(0, source->input);
}

double host_canvas(void)
{
    obs_add_raw_video_callback(NULL, take_canvas, NULL);
    pthread_mutex_lock(&mutex);
    wait_beyond(&canvas_count, canvas_count + 5); /* frames in flight show the old picture */
    const double mean = canvas;
    pthread_mutex_unlock(&mutex);
    obs_remove_raw_video_callback(take_canvas, NULL);
    return mean;
}

/* ---- libobs ---- */

static void take_log(int level, const char *format, va_list args, void *unused)
{
    char line[sizeof(last_line)];
    (void)unused;
    vsnprintf(line, sizeof(line), format, args);
    if (level <= LOG_WARNING || getenv("OBS_LOG"))
        fprintf(stderr, "%s\n", line);
    if (!strstr(line, "[lumeq]"))
        return;
    pthread_mutex_lock(&mutex);
    memcpy(last_line, line, sizeof(line));
    line_count++;
    pthread_mutex_unlock(&mutex);
}

const char *host_log(int *lines)
{
    pthread_mutex_lock(&mutex);
    *lines = line_count;
    pthread_mutex_unlock(&mutex);
    return last_line;
}

/* Starts an X server on a free display. */
static int start_server(void)
{
    int fds[2];
    char fd[16],
        number[16] = ":", *const args[] = {"Xvfb",       "-displayfd", fd,    "-screen", "0",
                                           "640x480x24", "-nolisten",  "tcp", NULL};
    if (pipe(fds) != 0)
        return -1;
    snprintf(fd, sizeof(fd), "%d", fds[1]);
    server = fork();
    if (server == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(127);
        execvp(args[0], args);
        _exit(127);
    }
    close(fds[1]);
    const ssize_t got = server > 0 ? read(fds[0], number + 1, sizeof(number) - 2) : 0;
    close(fds[0]);
    if (got <= 0)
        return -1;
    number[strcspn(number, "\n")] = '\0';
    return setenv("DISPLAY", number, 1);
}

static int start_video(void)
{
    struct obs_video_info video = {.graphics_module = "libobs-opengl",
                                   .fps_num = 500, /* high, because tests wait for frames */
                                   .fps_den = 1,
                                   .base_width = CANVAS,
                                   .base_height = CANVAS,
                                   .output_width = CANVAS,
                                   .output_height = CANVAS,
                                   .output_format = VIDEO_FORMAT_NV12,
                                   .colorspace = VIDEO_CS_709,
                                   .range = VIDEO_RANGE_PARTIAL,
                                   .gpu_conversion = true,
                                   .scale_type = OBS_SCALE_BILINEAR};
    return obs_reset_video(&video);
}

static int load_plugin(void)
{
    obs_module_t *module = NULL;
    const int error = obs_open_module(&module, LUMEQ_OBS_PLUGIN, LUMEQ_OBS_DATA);
    return CHECK(error == MODULE_SUCCESS, "OBS cannot open the plugin: %d", error) &&
                   CHECK(obs_init_module(module), "the plugin does not start")
               ? 0
               : -1;
}

int host_start(void)
{
    if (start_server() != 0 || !(display = XOpenDisplay(NULL))) {
        check_skip("OBS needs an X server, and Xvfb does not start");
        return -1;
    }
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    base_set_log_handler(take_log, NULL);
    obs_set_nix_platform(OBS_NIX_PLATFORM_X11_EGL);
    obs_set_nix_platform_display(display);
    if (!CHECK(obs_startup("en-US", NULL, NULL), "libobs does not start"))
        return -1;
    if (start_video() != OBS_VIDEO_SUCCESS) {
        check_skip("OBS cannot draw without OpenGL (libgl1-mesa-dri)");
        return -1;
    }
    keep_libraries();
    add_sources();
    return load_plugin();
}

long host_stop(void)
{
    obs_shutdown();
    if (display)
        XCloseDisplay(display);
    if (server > 0) {
        kill(server, SIGTERM);
        waitpid(server, NULL, 0);
    }
    return bnum_allocs();
}
