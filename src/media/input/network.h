/* Opens URLs of supported schemes and reads their bytes. */
#ifndef LUMEQ_MEDIA_NETWORK_H
#define LUMEQ_MEDIA_NETWORK_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "media/error.h"

typedef struct NetworkScheme {
    const char *name;
    const char *protocols; /* the only protocols FFmpeg may use */
    const char *session;   /* the demuxer that opens the URL; NULL: network_read() reads it */
    bool has_no_end;       /* the protocol cannot report an end; silence counts as the end */
    bool is_live;          /* a stream of unknown length is live */
} NetworkScheme;

typedef struct NetworkOptions {
    int (*is_stopped)(void *opaque); /* returns not 0 to stop waiting */
    void *opaque;
    double silence_s; /* seconds without data before the connection counts as lost */
} NetworkOptions;

/* For one thread. */
typedef struct Network {
    const NetworkScheme *scheme;
    NetworkOptions options;
    AVIOContext *io;   /* NULL for a session */
    int patient;       /* not 0: no silence limit */
    bool has_segments; /* a playlist; long silences between its segments are usual */
    int64_t heard;     /* the silence is measured from this time on */
    int lost; /* AVERROR of a lost connection (AVERROR_EOF with `has_no_end`); 0: not lost */
} Network;

/* The scheme of a URL; NULL: not a URL, or unsupported by this FFmpeg. */
const NetworkScheme *network_scheme(const char *name);

/* True if the name of a URL's host ends in ".local". */
bool network_is_local(const char *url);

/* Lists the supported schemes: "http://, https://, ...". */
void network_list_schemes(char *text, size_t size);

/* Reports a failed connection. Returns MEDIA_INPUT. */
int network_fail(const char *url, int averror, MediaError *error);

/* Connects, or prepares a session. MEDIA_INPUT with a message; *network is then NULL. */
int network_open(Network **network, const char *url, const NetworkOptions *options,
                 MediaError *error);

/* Returns the number of bytes read, AVERROR_EOF, AVERROR_EXIT (stopped), or Network.lost. */
int network_read(Network *network, uint8_t *buffer, int size);

/* Like avio_seek(), including AVSEEK_SIZE. */
int64_t network_seek(Network *network, int64_t offset, int whence);

/* For FFmpeg's interrupt callback: returns 1 if stopped or silent for too long. */
int network_is_interrupted(void *network);

/* Call before waiting for data. */
void network_begin_wait(Network *network);

/* Call before stream analysis. A session then reports no data, so a longer silence is allowed. */
void network_begin_analysis(Network *network);

/* Call with the result of a read. Returns `ret`, or an error if stopped or silent for too long. */
int network_end_wait(Network *network, int ret);

bool network_is_silent(const Network *network);

void network_close(Network **network);

#endif
