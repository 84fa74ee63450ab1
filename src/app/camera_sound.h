/* The sound of camera recordings: the microphone that the options name, its messages, and its way
 * into the output. All functions accept NULL, which records no sound. */
#ifndef LUMEQ_APP_CAMERA_SOUND_H
#define LUMEQ_APP_CAMERA_SOUND_H

#include "app/options/options.h"
#include "media/output/writer.h"
#include "run/run.h"

typedef struct CameraSound CameraSound;

/* Opens the microphone for an output of a camera, before the camera, so that nothing is missed, and
 * adds its track to the writer's options. *sound is NULL if no sound is recorded; if there is no
 * microphone, a line says so. MEDIA_USAGE: no microphone of this name, or the output holds no
 * sound. */
int camera_sound_open(CameraSound **sound, const Options *options, const Writer *writer,
                      TrackOptions *tracks, MediaError *error);

/* Prints the name of the microphone. Call after writer_map(). The others must outlive it. */
void camera_sound_use(CameraSound *sound, const Source *source, Writer *writer);

/* Writes the sound that came until a picture with this time, in AV_TIME_BASE units of the source;
 * the first call sets the start. `time` AV_NOPTS_VALUE: until now. One thread. MEDIA_OUTPUT. */
int camera_sound_follow(CameraSound *sound, int64_t time, MediaError *error);

/* Completes the sound up to the end of a picture that ends at this time, or up to the last
 * camera_sound_follow() if that was later. MEDIA_OUTPUT. */
int camera_sound_end(CameraSound *sound, int64_t time, MediaError *error);

/* The level as a share of the usual scale from -60 dB to 0; negative: no sound is recorded. Any
 * thread. */
double camera_sound_level(CameraSound *sound);

/* For a run whose frames have their times shifted. After the sink of the writer. */
Sink camera_sound_sink(CameraSound *sound);

void camera_sound_close(CameraSound **sound);

#endif
