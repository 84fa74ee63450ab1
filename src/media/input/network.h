/* Inputs from the network: which URLs can be read, and the bytes that come from one. */
#ifndef LUMEQ_MEDIA_NETWORK_H
#define LUMEQ_MEDIA_NETWORK_H

#include <libavformat/avformat.h>

#include "media/error.h"

typedef struct NetworkScheme {
    const char *name;
    const char *protocols; /* the only ones that FFmpeg may use for it */
    const char *session;   /* the demuxer that opens it; NULL: it is a stream of bytes */
    int has_no_end;        /* not 0: silence is the only end there is */
} NetworkScheme;

typedef struct NetworkOptions {
    int (*is_stopped)(const void *opaque); /* not 0: give up waiting */
    const void *opaque;
    double silence_s; /* without a byte for so long, a connection counts as lost */
} NetworkOptions;

/* Fields are to be read only. Of one thread. */
typedef struct Network {
    const NetworkScheme *scheme;
    NetworkOptions options;
    AVIOContext *io; /* NULL: a session */
    int patient;     /* not 0: it waits for data as long as it takes */
    int64_t heard;   /* when data came last, or began to be waited for */
    int lost; /* AVERROR: why it broke off, AVERROR_EOF where silence is its end; 0: not yet */
} Network;

/* The scheme of a URL, or NULL: the name is none, or this FFmpeg cannot read it. */
const NetworkScheme *network_scheme(const char *name);

/* "http://, https://, ...": those that can be read. */
void network_list_schemes(char *text, size_t size);

/* Connects; a session is only prepared. MEDIA_INPUT with a sentence, *network is NULL then. */
int network_open(Network **network, const char *url, const NetworkOptions *options,
                 MediaError *error);

/* Bytes, AVERROR_EOF, AVERROR_EXIT (stopped) or what it was lost by. */
int network_read(Network *network, uint8_t *buffer, int size);

/* As avio_seek(), with AVSEEK_SIZE. */
int64_t network_seek(Network *network, int64_t offset, int whence);

/* 0: it can only be read from front to back. */
int network_can_seek(const Network *network);

/* For FFmpeg's interrupt callback: not 0 when it is stopped, or silent for too long. */
int network_is_interrupted(void *network);

/* A wait for data begins. */
void network_begin_wait(Network *network);

/* A look for tracks begins: a session tells nothing of the data that comes meanwhile. */
void network_begin_analysis(Network *network);

/* Notes what a read ended with; answers it, a timeout told from a stop. */
int network_end_wait(Network *network, int ret);

/* Whether it was silent for too long. */
int network_is_silent(const Network *network);

void network_close(Network **network);

#endif
