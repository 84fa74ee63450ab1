#include "app/options/option_profile.h"

#include <stdio.h>

const Profile profiles[] = {
    {"fog",
     "fog, haze, smoke: removes the veil, near and far, and brings out some grain",
     {{"mode", "haze"}, {"strength", "1"}, {"clip", "4"}, {"tiles", "16x16"}}},
    {"medical-gray",
     "X-ray, ultrasound and the like: mild local contrast, little smoothing over time",
     {{"mode", "clahe"},
      {"strength", "1"},
      {"clip", "2"},
      {"tiles", "4x4"},
      {"smooth", "0.1"},
      {"chroma", "keep"},
      {"bars", "ignore"}}},
    {"night",
     "rooms, roads and faces in the dark: lighter than the default",
     {{"brightness", "0.12"}}},
    {"screen",
     "screen recordings: more contrast, and flat colours stay flat",
     {{"mode", "stretch"}, {"strength", "0.8"}, {"dither", "off"}}},
    {"surveillance",
     "fixed cameras: makes every part of the picture readable, with slow changes",
     {{"mode", "clahe"}, {"strength", "0.9"}, {"clip", "2.8"}, {"tiles", "4x3"}, {"smooth", "2"}}},
    {"thermal",
     "thermal cameras: stretches the used codes and adds local contrast, with slow changes",
     {{"code-range", "used"},
      {"mode", "clahe"},
      {"strength", "0.8"},
      {"clip", "4"},
      {"tiles", "4x3"},
      {"smooth", "2"}}},
    {"water",
     "under water: removes the veil of the water, like fog",
     {{"mode", "haze"}, {"strength", "1"}, {"clip", "4"}, {"tiles", "16x16"}}},
};

const int profile_count = sizeof(profiles) / sizeof(profiles[0]);

void profile_print_all(void)
{
    for (int i = 0; i < profile_count; i++) {
        const Profile *p = &profiles[i];
        printf("%-14s%s\n%14s", p->name, p->purpose, "");
        for (const ProfileSetting *s = p->settings; s->option; s++)
            printf("%s--%s %s", s == p->settings ? "" : " ", s->option, s->value);
        putchar('\n');
    }
}
