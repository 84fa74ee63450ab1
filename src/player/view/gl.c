#include "player/view/gl.h"

#include <string.h>

#include <SDL.h>

int gl_load(Gl *gl, MediaError *error)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define GL_ENTRY(name) {"gl" #name, offsetof(Gl, name)},
        GL_EACH(GL_ENTRY)
#undef GL_ENTRY
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *function = SDL_GL_GetProcAddress(functions[i].name);
        if (!function)
            return media_fail(error, MEDIA_INPUT, "the OpenGL driver lacks %s", functions[i].name);
        memcpy((char *)gl + functions[i].offset, &function, sizeof(function));
    }
    return 0;
}

/* A lost context may report errors forever. */
#define MAX_ERRORS 16

int gl_check(const Gl *gl, const char *doing, MediaError *error)
{
    const GLenum first = gl->GetError();
    if (first == GL_NO_ERROR)
        return 0;
    for (int i = 0; i < MAX_ERRORS && gl->GetError() != GL_NO_ERROR; i++)
        continue;
    return media_fail(error, MEDIA_INPUT, "%s failed: OpenGL error 0x%04X%s", doing, first,
                      first == GL_OUT_OF_MEMORY ? ", out of memory" : "");
}

bool gl_is_software(const char *renderer)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "SWR", "Software"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strstr(renderer, names[i]))
            return 1;
    return 0;
}
