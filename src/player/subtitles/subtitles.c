#include "player/subtitles/subtitles.h"

#include <stdlib.h>

struct Subtitles {
    SubtitleDecoder *decoder; /* NULL: none selected */
    SubtitleText *text;       /* NULL: bitmaps */
    SubtitleImages images;
    int drawn;        /* the last overlay was not empty */
    MediaError error; /* why the selected track cannot be shown */
};

int subtitles_open(Subtitles **subtitles)
{
    *subtitles = calloc(1, sizeof(**subtitles));
    return *subtitles ? 0 : -1;
}

static void deselect(Subtitles *s)
{
    subtitle_images_free(&s->images);
    subtitle_text_close(&s->text);
    subtitle_decoder_close(&s->decoder);
    s->error = (MediaError){0};
}

void subtitles_select(Subtitles *s, const Source *source, const AVStream *stream)
{
    deselect(s);
    if (!stream || subtitle_decoder_open(&s->decoder, source, stream, &s->error) < 0)
        return;
    const SubtitleKind kind = subtitle_kind(stream);
    if (kind == SUBTITLE_KIND_IMAGES)
        return;
    if (subtitle_text_open(&s->text, source, subtitle_decoder_header(s->decoder),
                           kind == SUBTITLE_KIND_PLAIN) < 0) {
        subtitle_decoder_close(&s->decoder);
        media_fail(&s->error, MEDIA_INPUT, "subtitles cannot be shown: out of memory");
    }
}

void subtitles_packet(Subtitles *s, AVPacket *packet)
{
    SubtitleEvent event;
    if (!s->decoder || !subtitle_decoder_decode(s->decoder, packet, &event))
        return;
    if (s->text)
        subtitle_text_add(s->text, &event);
    else
        subtitle_images_add(&s->images, &event);
    subtitle_event_free(&event);
}

void subtitles_reset(Subtitles *s)
{
    if (s->decoder)
        subtitle_decoder_flush(s->decoder);
    subtitle_images_free(&s->images);
}

int subtitles_draw(Subtitles *s, int64_t position, const SubtitlesPlace *place, Overlay *overlay)
{
    int changed = 0;
    const Rect r = place->picture;
    *overlay = (Overlay){0};
    if (s->decoder && r.width > 0 && r.height > 0 && r.width <= SUBTITLES_MAX_SIDE &&
        r.height <= SUBTITLES_MAX_SIDE)
        changed = s->text ? subtitle_text_draw(s->text, position, place, overlay)
                          : subtitle_images_draw(&s->images, position, place, overlay);
    const int drawn = overlay->canvas.width > 0;
    changed = drawn ? changed || !s->drawn : s->drawn;
    s->drawn = drawn;
    return changed;
}

const char *subtitles_trouble(const Subtitles *s)
{
    if (s->error.text[0])
        return s->error.text;
    return s->text ? subtitle_text_trouble(s->text) : NULL;
}

void subtitles_close(Subtitles **subtitles)
{
    if (!*subtitles)
        return;
    deselect(*subtitles);
    free(*subtitles);
    *subtitles = NULL;
}
