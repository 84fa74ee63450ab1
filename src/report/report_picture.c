#include "report/report_picture.h"

#include <stdlib.h>

void report_picture_free(ReportPicture *picture)
{
    if (!picture)
        return;
    free(picture->jpeg[0]);
    free(picture->jpeg[1]);
    free(picture->words);
    free(picture);
}

int picture_choice_wants(const PictureChoice *c, int64_t number, int cut)
{
    return cut || !c->step || number % c->step == 0;
}

int picture_choice_take(PictureChoice *c, int64_t number, int cut)
{
    if (!picture_choice_wants(c, number, cut))
        return 0;
    if (cut || !c->step)
        *c = (PictureChoice){.step = 1};
    c->number[c->count++] = number;
    const int thin = c->count > CHOICE_MOST;
    while (c->count > CHOICE_MOST) {
        int left = 0;
        c->step *= 2;
        for (int i = 0; i < c->count; i++)
            if (c->number[i] % c->step == 0)
                c->number[left++] = c->number[i];
        c->count = left;
    }
    return thin;
}
