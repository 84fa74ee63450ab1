#include "media/natural_order.h"

#include <dirent.h>
#include <string.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Compares two numbers of any length and moves past both. */
static int by_value(const char **a, const char **b)
{
    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    const size_t n = strspn(*a, "0123456789"), m = strspn(*b, "0123456789");
    const int order = n == m ? strncmp(*a, *b, n) : n < m ? -1 : 1;
    *a += n;
    *b += m;
    return order;
}

int natural_order(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        if (is_digit(*x) && is_digit(*y)) {
            const int order = by_value(&x, &y);
            if (order)
                return order;
        } else if (*x != *y) {
            break;
        } else {
            x++;
            y++;
        }
    }
    const int order = (int)(unsigned char)*x - (int)(unsigned char)*y;
    return order ? order : strcmp(a, b); /* leading zeros may differ */
}

int natural_order_entries(const struct dirent **a, const struct dirent **b)
{
    return natural_order((*a)->d_name, (*b)->d_name);
}
