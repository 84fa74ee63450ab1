/* Makes and reads the names of numbered pictures. */

#include <libavutil/mem.h>

#include "check.h"
#include "media/picture_pattern.h"

TEST(patterns_are_recognized)
{
    static const char *const are[] = {"f%d.png", "%04d", "a/b%09d", "%dir/f%1/%03d.png", "100%%d"};
    static const char *const are_not[] = {"",      "f.png", "f%s", "f%4d",     "f%00d",    "f%010d",
                                          "f%d%d", "f%",    "f%0", "%d/f.png", "f%20d.png"};
    for (size_t i = 0; i < sizeof(are) / sizeof(are[0]); i++)
        CHECK(picture_pattern_is(are[i]), "%s is not taken for a pattern", are[i]);
    for (size_t i = 0; i < sizeof(are_not) / sizeof(are_not[0]); i++)
        CHECK(!picture_pattern_is(are_not[i]), "%s is taken for a pattern", are_not[i]);
}

/* Names that do not match the pattern give -1. */
TEST(numbers_are_read_from_names)
{
    static const char *const patterns[] = {"x/f%d.png", "f%04d.png", "f%02d", "%d.5%s"};
    static const int64_t numbers[] = {0, 7, 10, 99, 100, 9999, 10000, 123456789012};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
            char *name = picture_pattern_name(patterns[i], numbers[k]);
            if (!CHECK(name != NULL, "no name"))
                continue;
            const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
            CHECK(picture_pattern_number(patterns[i], base) == numbers[k],
                  "the number of %s differs", name);
            av_free(name);
        }
    static const char *const others[][2] = {
        {"f%04d.png", "f007.png"}, {"f%04d.png", "f00007.png"},
        {"f%d.png", "f07.png"},    {"f%d.png", "f.png"},
        {"f%d.png", "f1.png.x"},   {"f%d.png", "g1.png"},
        {"f%d.png", "f-1.png"},    {"f%d.png", "f1a.png"},
        {"f%d.png", "f1.pn"},      {"f%d.png", "f1234567890123456789.png"},
        {"f.png", "f.png"},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(picture_pattern_number(others[i][0], others[i][1]) == -1, "%s matches %s",
              others[i][0], others[i][1]);
}

TEST_MAIN
