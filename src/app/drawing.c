#include "app/drawing.h"

int drawing_open(Drawing *d, const Options *options, MediaError *error)
{
    if (options->overlay && overlay_open(&d->overlay, overlay_look(options), error) < 0)
        return error->fault;
    return comparison_open(&d->comparison, options, error);
}

/* The scopes count the picture before anything is drawn into it. */
static int draw(void *self, SinkFrame *f)
{
    const Drawing *d = self;
    AVFrame *frame = f->item->message.output;
    overlay_count(d->overlay, frame);
    const int ret = comparison_make(d->comparison, f->item->message.frame, frame, f->error);
    return ret >= 0 && d->overlay
               ? overlay_draw(d->overlay, frame, &f->item->stats, f->words, f->error)
               : ret;
}

Sink drawing_sink(Drawing *d)
{
    return (Sink){.self = d->overlay || d->comparison ? d : NULL, .frame = draw};
}

void drawing_close(Drawing *d)
{
    overlay_close(&d->overlay);
    comparison_close(&d->comparison);
}
