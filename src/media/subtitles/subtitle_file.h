/* Subtitle files beside a video, such as film.srt or film.en.ass. */
#ifndef LUMEQ_MEDIA_SUBTITLE_FILE_H
#define LUMEQ_MEDIA_SUBTITLE_FILE_H

#include <stdbool.h>

#include "media/error.h"
#include "media/input/source.h"
#include "media/packet_set.h"

/* {0} is empty. For one thread. */
typedef struct PacketStore {
    AVPacket **packets; /* in order of arrival */
    int count;
    size_t bytes;
    PacketSet known; /* contains the stored packets */
} PacketStore;

/* Maximum size of a store in bytes. If it is exceeded, the oldest quarter is dropped. */
#define PACKET_STORE_BYTES (32 << 20)

/* Stores a reference to the packet unless it is already stored or memory runs out. */
void packet_store_add(PacketStore *store, const AVPacket *packet);

void packet_store_clear(PacketStore *store);

/* A file of text subtitles, read as a whole. Fields are read-only for callers. */
typedef struct SubtitleFile {
    Source *source; /* has no video; other owners can share it with source_share() */
    const AVStream *track;
    PacketStore packets; /* of the track, up to PACKET_STORE_BYTES */
} SubtitleFile;

/* Maximum size of a subtitle file, in bytes. Larger ones are refused. */
#define SUBTITLE_FILE_BYTES (16 << 20)

/* Reads a file; never opens other files that it refers to. Text that is neither UTF-8 nor UTF-16
 * with a byte order mark is read as Windows-1252. MEDIA_INPUT; *file is then NULL. */
int subtitle_file_open(SubtitleFile **file, const char *path, MediaError *error);

/* *file may be NULL. */
void subtitle_file_close(SubtitleFile **file);

/* True if the name has the extension of a subtitle file. */
bool subtitle_file_is_name(const char *path);

/* Finds the files that belong to a video by name, the shortest first: film.srt and film.en.srt for
 * film.mkv. Returns their number, at most `room`; the caller frees each path with free(). */
int subtitle_file_find(const char *video, char **paths, int room);

#endif
