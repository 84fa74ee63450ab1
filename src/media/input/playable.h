/* Tests whether a truncated file can be played. */
#ifndef LUMEQ_MEDIA_PLAYABLE_H
#define LUMEQ_MEDIA_PLAYABLE_H

/* Returns 1 if a complete video packet can be read. `muxer`: short name of the muxer that wrote
 * it. */
int playable_has_video(const char *path, const char *muxer);

#endif
