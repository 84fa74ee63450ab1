/* Preloaded into a program, this hides libx265, as if FFmpeg was built without it. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct AVCodec;

const struct AVCodec *avcodec_find_encoder_by_name(const char *name);

const struct AVCodec *avcodec_find_encoder_by_name(const char *name)
{
    const struct AVCodec *(*find)(const char *) = NULL;
    *(void **)&find = dlsym(RTLD_NEXT, "avcodec_find_encoder_by_name");
    return find && strcmp(name, "libx265") != 0 ? find(name) : NULL;
}
