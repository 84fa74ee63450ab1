/* What the options of ffmpeg, mpv and the like are called here. */
#ifndef LUMEQ_APP_OPTION_HABITS_H
#define LUMEQ_APP_OPTION_HABITS_H

#include <stddef.h>

/* What to do instead of the option of this name (`n` bytes, without dashes), as the rest of a
 * sentence that begins with it; NULL: it is nobody's habit. */
const char *option_habit(const char *name, size_t n);

#endif
