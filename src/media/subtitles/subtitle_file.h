/* Subtitle files beside a video, such as film.en.srt, and a store of subtitle packets. */
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
    PacketSet known; /* the stored packets, to recognize packets that arrive again */
} PacketStore;

/* Maximum size of a store in bytes. A larger store drops its oldest quarter. */
#define PACKET_STORE_BYTES (32 << 20)

/* Stores a reference to the packet unless it is already stored or memory runs out. */
void packet_store_add(PacketStore *store, const AVPacket *packet);

void packet_store_clear(PacketStore *store);

/* A file of text subtitles, read as a whole. Fields are read-only for callers. */
typedef struct SubtitleFile {
    Source *source; /* without video; source_share() adds an owner */
    const AVStream *track;
    PacketStore packets; /* of the track, up to PACKET_STORE_BYTES */
} SubtitleFile;

/* Maximum size of a subtitle file in bytes. Larger files are refused. */
#define SUBTITLE_FILE_BYTES (16 << 20)

/* Reads a text file in UTF-8, UTF-16 with a byte order mark, or else Windows-1252. Opens no other
 * file, even if the text refers to one. MEDIA_INPUT; *file is then NULL. */
int subtitle_file_open(SubtitleFile **file, const char *path, MediaError *error);

/* *file may be NULL. */
void subtitle_file_close(SubtitleFile **file);

/* True if the name has the extension of a subtitle file. */
bool subtitle_file_is_name(const char *path);

/* Finds a video's subtitle files by their names: for film.mkv, film.srt and film.en.srt. Stores
 * up to `room` paths, the shortest first, and returns their number. Free each path with free(). */
int subtitle_file_find(const char *video, char **paths, int room);

#endif
