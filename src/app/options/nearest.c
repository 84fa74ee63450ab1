#include "app/options/nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LONGEST 40   /* letters of a name; longer names are not compared */
#define MIN_PREFIX 2 /* letters that may abbreviate a name */
#define WRONG_PART 3 /* one letter in three may be wrong, and at least one */

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance, ignoring case: letters to insert, remove, replace or swap with
 * their neighbour. Both names have at most LONGEST letters. */
static int edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            now[j] = min(min(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                now[j] = min(now[j], before[j - 2] + 1);
        }
        int *const free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

void nearest_start(Nearest *nearest, const char *typed, size_t n)
{
    const int allowed = n < 2 * WRONG_PART ? 1 : (int)n / WRONG_PART;
    *nearest = (Nearest){.typed = typed, .n = n, .distance = allowed + 1, .index = -1};
}

void nearest_try(Nearest *nearest, const char *name, size_t n, int index)
{
    if (nearest->n == 0 || nearest->n > LONGEST || n > LONGEST)
        return;
    int distance = edit_distance(nearest->typed, nearest->n, name, n);
    if (nearest->n >= MIN_PREFIX && nearest->n < n &&
        strncasecmp(nearest->typed, name, nearest->n) == 0)
        distance = min(distance, 1);
    if (distance >= nearest->distance)
        return;
    nearest->distance = distance;
    nearest->index = index;
}
