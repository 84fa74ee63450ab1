#include "media/natural_order.h"

#include <string.h>

#include <libavutil/avstring.h>

int natural_order(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        if (av_isdigit(*x) && av_isdigit(*y)) {
            /* Compare numbers of any length. */
            x += strspn(x, "0");
            y += strspn(y, "0");
            const size_t n = strspn(x, "0123456789"), m = strspn(y, "0123456789");
            const int order = n == m ? strncmp(x, y, n) : n < m ? -1 : 1;
            if (order)
                return order;
            x += n;
            y += m;
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
