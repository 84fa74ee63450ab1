/* OBS without its window: libobs draws with Mesa on Xvfb. A test sends frames to a source with two
 * filters: lumeq's, and one that keeps lumeq's frames for the test. */
#ifndef LUMEQ_TESTS_OBS_HOST_H
#define LUMEQ_TESTS_OBS_HOST_H

#include <stdint.h>

#include <obs.h>

/* Starts libobs and loads the plugin. Returns 0, or -1 after check_skip() or a failed check. */
int host_start(void);

/* Stops libobs. Returns the number of memory blocks that libobs has not freed. */
long host_stop(void);

/* A source with lumeq's filter. */
typedef struct HostSource HostSource;

/* `settings`: the filter's first settings; NULL: the defaults. Releases the settings. */
HostSource *host_source(obs_data_t *settings);
void host_source_free(HostSource **source);
obs_source_t *host_input(const HostSource *source);
obs_source_t *host_filter(const HostSource *source);

/* Sends a frame through OBS. Returns the filtered frame, which is valid until the next call, or
 * NULL after a failed check. */
const struct obs_source_frame *host_filtered(HostSource *source,
                                             const struct obs_source_frame *frame);

/* Returns the log's last line that contains "[lumeq]". *lines: number of such lines. */
const char *host_log(int *lines);

/* Draws the source's frames on OBS's canvas from now on. */
void host_show(const HostSource *source);

/* Mean luma of the canvas. */
double host_canvas(void);

#endif
