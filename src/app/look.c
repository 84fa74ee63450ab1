#include "app/look.h"

#include "app/say.h"
#include "media/convert.h"

/* The codes of HDR are further apart than they look: what is right for others is too much. */
#define HDR_SHARE 0.5

static const char *hdr_name(const AVCodecParameters *video)
{
    switch (video->color_trc) {
    case AVCOL_TRC_SMPTE2084: return "PQ";
    case AVCOL_TRC_ARIB_STD_B67: return "HLG";
    default: return NULL;
    }
}

static int check_reference(const Options *o, const Source *source, MediaError *error)
{
    const int depth = convert_depth(source->video->codecpar->format);
    if (!o->reference || depth <= 8)
        return 0;
    return media_fail(error, MEDIA_USAGE,
                      "--reference is defined for 8 bits a sample: %s has %d; without it deeper "
                      "video is equalized at its own depth",
                      source->name, depth);
}

int look_params(LumeqParams *params, const Options *o, const Source *source, int fine,
                MediaError *error)
{
    const char *hdr = hdr_name(source->video->codecpar);
    *params = options_params(o);
    if (o->dither == OPTIONS_DITHER_AUTO)
        params->dither = fine;
    const int asked = o->strength >= 0 && o->strength != o->profile_strength;
    if (hdr && !asked && params->mode != LUMEQ_MODE_OFF && !o->reference) {
        params->strength *= HDR_SHARE;
        say(SAY_WARNINGS,
            "this is HDR video (%s): it is equalized at half strength, %.2g at most; "
            "--strength sets another",
            hdr, params->strength);
    }
    return check_reference(o, source, error);
}
