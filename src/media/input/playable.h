/* Whether a file that broke off can still be played. */
#ifndef LUMEQ_MEDIA_PLAYABLE_H
#define LUMEQ_MEDIA_PLAYABLE_H

/* Not 0: a whole packet of video can be read of it. `muxer`: the short name of what wrote it. */
int playable_has_video(const char *path, const char *muxer);

#endif
