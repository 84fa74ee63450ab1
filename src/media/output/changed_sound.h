/* Copied sound that changes within the track. Most containers describe a track's sound once. */
#ifndef LUMEQ_MEDIA_CHANGED_SOUND_H
#define LUMEQ_MEDIA_CHANGED_SOUND_H

#include <libavformat/avformat.h>

#include "media/output/transcode.h"

typedef struct ChangedSound ChangedSound;

/* `in`: the track; `name`: for the note about the first change. NULL: out of memory. */
ChangedSound *changed_sound_create(const AVStream *in, const AVOutputFormat *muxer,
                                   const char *name, void (*note)(const char *line));

/*
 * Looks at a packet (NULL at the end). Returns 1 if it can be copied as it is. Else returns 0: it
 * is part of sound of another kind, which is encoded like the beginning of the track and passed to
 * `take` in the time base of changed_sound_base(), or left out without such an encoder. Or AVERROR,
 * or the error of `take`.
 */
int changed_sound_run(ChangedSound *sound, const AVPacket *packet, PacketTaker take, void *opaque);

/* Time base of the encoded packets. */
AVRational changed_sound_base(const ChangedSound *sound);

/* Sound that was not encoded or not decoded. `missing`: AV_TIME_BASE units without an encoder. */
SoundLoss changed_sound_loss(const ChangedSound *sound, int64_t *missing);

void changed_sound_close(ChangedSound **sound);

#endif
