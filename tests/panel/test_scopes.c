/* Compares the scopes' counts with counts made by hand. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "panel/scopes.h"

static Scopes scopes;

static ScopesPlane plane(const void *samples, int width, int height, int bytes, int depth,
                         int shift)
{
    return (ScopesPlane){samples, bytes, (ptrdiff_t)width * bytes, width, height, bytes,
                         depth,   shift};
}

static uint32_t all_luma(void)
{
    uint32_t sum = 0;
    for (int x = 0; x < SCOPES_COLUMNS; x++)
        for (int level = 0; level < SCOPES_LEVELS; level++)
            sum += scopes.waveform[x][level];
    return sum;
}

/* Each column is counted separately; gray has no vectors. */
TEST(gray)
{
    static const uint8_t luma[3][4] = {{0, 16, 235, 255}, {0, 17, 235, 7}, {1, 17, 235, 7}};
    const ScopesPicture picture = {.luma = plane(luma, 4, 3, 1, 8, 0), .full_range = 1};
    scopes_count(&scopes, &picture);
    CHECK(scopes.columns == 4 && !scopes.has_chroma && scopes.full_range, "%d columns",
          scopes.columns);
    CHECK(scopes.waveform[0][0] == 2 && scopes.waveform[0][1] == 1, "the first column is wrong");
    CHECK(scopes.waveform[1][16] == 1 && scopes.waveform[1][17] == 2, "the second column is wrong");
    CHECK(scopes.waveform[2][235] == 3, "the third column is wrong");
    CHECK(scopes.waveform[3][255] == 1 && scopes.waveform[3][7] == 2, "the last column is wrong");
    CHECK(all_luma() == 12 && scopes.column_samples == 3, "%u in all, %u a column", all_luma(),
          scopes.column_samples);
    CHECK(scopes.most_vectors == 0, "gray has vectors");
}

/* Scopes count a code's upper 8 bits, wherever the code lies in its sample. Values beyond the last
 * code count as the last code. */
TEST(deep)
{
    static const uint16_t low[2] = {1023, 515}, high[2] = {1023 << 6, 515 << 6};
    static const uint16_t wrong[2] = {0xFFFF, 3};
    ScopesPicture picture = {.luma = plane(low, 2, 1, 2, 10, 0)};
    for (int i = 0; i < 2; i++) {
        scopes_count(&scopes, &picture);
        CHECK(scopes.waveform[0][255] == 1 && scopes.waveform[1][128] == 1 && all_luma() == 2,
              "10 bits, case %d: wrong counts", i);
        picture.luma = plane(high, 2, 1, 2, 10, 6);
    }
    picture.luma = plane(wrong, 2, 1, 2, 10, 0);
    scopes_count(&scopes, &picture);
    CHECK(scopes.waveform[0][255] == 1 && scopes.waveform[1][0] == 1, "values above the last code");
}

/* Chroma is in one plane or in two. Each frame starts new counts. */
TEST(vectors)
{
    static const uint8_t luma[2][4] = {{0}};
    static const uint8_t cb[2] = {90, 128}, cr[2] = {240, 128};
    static const uint8_t both[1][4] = {{90, 240, 90, 240}};
    ScopesPicture picture = {.luma = plane(luma, 4, 2, 1, 8, 0),
                             .cb = plane(cb, 2, 1, 1, 8, 0),
                             .cr = plane(cr, 2, 1, 1, 8, 0),
                             .kr = 0.25,
                             .kb = 0.125};
    scopes_count(&scopes, &picture);
    CHECK(scopes.has_chroma && scopes.kr == 0.25 && scopes.kb == 0.125,
          "the chroma or the matrix is wrong");
    CHECK(scopes.vectors[240][90] == 1 && scopes.vectors[128][128] == 1, "a colour is missing");
    CHECK(scopes.most_vectors == 1, "at most %u", scopes.most_vectors);
    picture.cb = (ScopesPlane){&both[0][0], 2, 4, 2, 1, 1, 8, 0};
    picture.cr = (ScopesPlane){&both[0][1], 2, 4, 2, 1, 1, 8, 0};
    scopes_count(&scopes, &picture);
    CHECK(scopes.vectors[240][90] == 2 && scopes.most_vectors == 2,
          "one colour does not count twice");
    CHECK(scopes.vectors[128][128] == 0, "counts of the previous picture remain");
}

/* A quarter turn: stored columns are shown as rows, the first one at the bottom. */
TEST(turned)
{
    static const uint8_t luma[2][3] = {{10, 20, 30}, {40, 50, 60}};
    /* Displayed: 30 60 above 20 50 above 10 40. */
    const ScopesPicture picture = {.luma = {&luma[0][2], 3, -1, 2, 3, 1, 8, 0}};
    scopes_count(&scopes, &picture);
    for (int i = 0; i < 3; i++)
        CHECK(scopes.waveform[0][10 + 10 * i] == 1 && scopes.waveform[1][40 + 10 * i] == 1,
              "row %d has wrong counts", i);
}

/* A large picture is sampled in even steps. A scope's column covers several picture columns. */
TEST(large)
{
    enum { WIDTH = 1921, HEIGHT = 1080 };
    uint8_t *luma = malloc((size_t)WIDTH * HEIGHT);
    if (!CHECK(luma != NULL, "no memory"))
        return;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            luma[y * WIDTH + x] = (uint8_t)(x * 200 / WIDTH);
    const ScopesPicture picture = {.luma = plane(luma, WIDTH, HEIGHT, 1, 8, 0)};
    scopes_count(&scopes, &picture);
    CHECK(scopes.columns == SCOPES_COLUMNS, "%d columns", scopes.columns);
    CHECK(all_luma() == 641 * 270, "%u samples", all_luma()); /* every 3rd column and 4th row */
    for (int x = 0; x < SCOPES_COLUMNS; x++) {
        const int from = x * 200 / SCOPES_COLUMNS, to = (x + 1) * 200 / SCOPES_COLUMNS;
        uint32_t there = 0, column = 0;
        for (int level = 0; level < SCOPES_LEVELS; level++) {
            column += scopes.waveform[x][level];
            if (level >= from - 1 && level <= to + 1)
                there += scopes.waveform[x][level];
        }
        CHECK(column > 0 && column == there && column <= scopes.column_samples,
              "column %d has %u of %u samples at the right level", x, there, column);
    }
    free(luma);
}

TEST_MAIN
