/* Records sound with a camera's pictures, from the microphone that the options name to the output.
 * With a NULL CameraSound, the functions record nothing. */
#ifndef LUMEQ_APP_CAMERA_SOUND_H
#define LUMEQ_APP_CAMERA_SOUND_H

#include "app/options/options.h"
#include "media/output/writer.h"
#include "run/run.h"

typedef struct CameraSound CameraSound;

/* Opens the microphone and adds its track to the writer's options. Call it before the camera opens,
 * so that no sound is missed. Sets *sound to NULL if no sound will be recorded, and warns if a
 * missing microphone is the reason. MEDIA_USAGE: no microphone of this name, or --microphone is on
 * the command line but the output cannot hold sound. */
int camera_sound_open(CameraSound **sound, const Options *options, const Writer *writer,
                      TrackOptions *tracks, MediaError *error);

/* Sets source and writer, which must outlive `sound`, and prints the microphone's name. Call after
 * writer_map(). */
void camera_sound_use(CameraSound *sound, const Source *source, Writer *writer);

/* Writes the sound up to a picture's `time`, in AV_TIME_BASE units of the source; AV_NOPTS_VALUE:
 * up to now. The first call with a time starts the sound. Call from one thread. MEDIA_OUTPUT. */
int camera_sound_follow(CameraSound *sound, int64_t time, MediaError *error);

/* Writes the rest of the sound, up to `time`, the end of the last picture, or up to the time of the
 * last camera_sound_follow() if that is later. MEDIA_OUTPUT. */
int camera_sound_end(CameraSound *sound, int64_t time, MediaError *error);

/* The level from 0 (-60 dB or less) to 1 (0 dB); negative if no sound is recorded. Any thread. */
double camera_sound_level(CameraSound *sound);

/* A sink that makes the sound follow the frames of a run. Add it after the writer's sink. */
Sink camera_sound_sink(CameraSound *sound);

void camera_sound_close(CameraSound **sound);

#endif
