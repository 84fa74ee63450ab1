/* Versions, whether the processor can equalize, and whether the kernel can limit a run. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "app/doctor/doctor_section.h"
#include "app/engine.h"
#include "app/sandbox.h"
#include "lumeq/lumeq.h"
#include "media/log.h"
#include "panel/text.h"
#include "player/desktop_check.h"

#define SIZE 64 /* of the test picture */

/* ---- versions ---- */

void probe_versions(Section *s)
{
    char version[32], sdl[32], ass[32];
    const char *name;
    const int own = lumeq_version();
    snprintf(version, sizeof(version), "%d.%d.%d", own / 1000000, own / 1000 % 1000, own % 1000);
    desktop_sdl_version(sdl);
    text_library_version(ass);
    section_set(s, SECTION_FINE, "ok", "lumeq %s, %s, FFmpeg %s, SDL %s, libass %s", version,
                lumeq_build_info(), media_ffmpeg_version(), sdl, ass);
    section_text(s, "lumeq", version);
    const char *cuda = strstr(lumeq_build_info(), "and CUDA ");
    section_text(s, "cuda", cuda ? cuda + strlen("and CUDA ") : NULL);
    section_text(s, "ffmpeg", media_ffmpeg_version());
    for (int i = 0; (name = media_library(i, version)); i++)
        section_text(s, name, version);
    section_text(s, "sdl", sdl);
    section_text(s, "libass", ass);
}

/* ---- the processor ---- */

/* Reads the value of the first line of /proc/cpuinfo with this key, or "". */
static void read_cpuinfo(const char *key, char *value, size_t size)
{
    char line[8192];
    FILE *file = fopen("/proc/cpuinfo", "r");
    *value = '\0';
    while (file && !*value && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    }
    if (file)
        fclose(file);
}

/* Lists processor features that kernels use. */
static void add_features(Section *s)
{
    static const char *const names[] = {"sse4_2",        "avx2",     "avx512f",
                                        "avx512bw",      "avx512vl", "avx512vbmi",
                                        "avx512_bitalg", "gfni",     "asimd"};
    char flags[8192], word[32];
    read_cpuinfo("flags", flags, sizeof(flags) - 2);
    if (!*flags) /* on ARM */
        read_cpuinfo("Features", flags, sizeof(flags) - 2);
    strcat(flags, " ");
    section_begin(s, "features", '[');
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(word, sizeof(word), " %s ", names[i]);
        if (strstr(flags, word))
            section_text(s, NULL, names[i]);
    }
    section_end(s, ']');
}

/* Equalizes a test picture. Returns 0, or an error with `why`. */
static int equalize(LumeqEqualizer *equalizer, char *why, size_t size)
{
    static uint8_t in[SIZE * SIZE], out[SIZE * SIZE];
    const LumeqImage image = {.width = SIZE, .height = SIZE, .depth = 8};
    LumeqFrame frame = {.in = image, .out = image};
    frame.in.plane[0] = in;
    frame.out.plane[0] = out;
    frame.in.stride[0] = frame.out.stride[0] = SIZE;
    for (int i = 0; i < SIZE * SIZE; i++)
        in[i] = (uint8_t)(64 + i % 64);
    const int ret = lumeq_process(equalizer, &frame, NULL);
    if (ret < 0)
        snprintf(why, size, "%s", lumeq_last_error(equalizer));
    return ret;
}

void probe_processor(Section *s)
{
    char name[128], where[256];
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .cpu_without = engine_cpu_without()};
    LumeqEqualizer *equalizer = NULL;
    int ret = lumeq_create(&equalizer, &config, where, sizeof(where));
    const char *kernels = strstr(where, "AVX-512")  ? "AVX-512"
                          : strstr(where, "AVX2")   ? "AVX2"
                          : strstr(where, "SSE4.2") ? "SSE4.2"
                          : strstr(where, "NEON")   ? "NEON"
                                                    : "plain C";
    if (ret >= 0)
        ret = equalize(equalizer, where, sizeof(where));
    lumeq_destroy(&equalizer);
    read_cpuinfo("model name", name, sizeof(name));
    section_text(s, "name", name);
    add_features(s);
    section_text(s, "kernels", ret < 0 ? NULL : kernels);
    if (ret < 0) {
        section_set(s, SECTION_MEND, "fails", "cannot equalize: %s", where);
        section_mend(s, "allow more memory (ulimit -v, limits of the container)");
        return;
    }
    section_set(s, SECTION_FINE, "ok", "%s%s%s kernels", name, *name ? ", " : "", kernels);
    if (config.cpu_without) {
        section_line(s, "LUMEQ_CPU_MASK disables some instruction sets");
        section_mend(s, "unset LUMEQ_CPU_MASK");
    }
}

/* ---- the sandbox ---- */

void probe_sandbox(Section *s)
{
    Options options = options_default();
    MediaError error = {0};
    const char *lack = sandbox_lack();
    const int version = sandbox_landlock(), filters = sandbox_can_filter();
    options.null_output = 1;
    options.input = "-";
    options.sandbox = OPTIONS_AUTO;
    section_number(s, "landlock", version);
    section_flag(s, "seccomp", filters);
    const int ret = sandbox_enter(&options, SANDBOX_RUN, &error);
    const int reads = open("/", O_RDONLY | O_DIRECTORY) >= 0;
    const int connects = socket(AF_INET, SOCK_STREAM, 0) >= 0;
    if (ret < 0 || (version && !lack && reads) || (filters && connects)) {
        section_set(s, SECTION_MEND, "fails", "the kernel does not limit this process");
        section_mend(s, "update the kernel; until then: --sandbox off");
    } else if (lack) {
        section_set(s, SECTION_NONE, version ? "no-seccomp" : "no-landlock", "%s", lack);
    } else {
        section_set(s, SECTION_FINE, "ok", "Landlock %d%s: decoders reach few files%s", version,
                    filters ? " and seccomp" : "", filters ? ", no programs and no sockets" : "");
    }
}
