#!/usr/bin/env python3
"""Writes the decisions of lift_model.py for 53 histograms; test_lift compares the library with them:
    make_vectors.py > ../equalizer/lift_vectors.h
Each histogram consists of humps, spikes and flat parts: (what, place, width, weight). Counts are
computed in integers, so C computes the same. Needs numpy.
"""
import zlib
from lift_model import ONE, decide

FLAT, HUMP, SPIKE = 0, 1, 2
CASES = [   # name, noise, clip (-1: auto), full range, parts; optional: share of the noise that is filtered, in 16ths; 1 if the noise is not measured yet
    ('dark, clean', 6, -1, 0, [(HUMP, 16, 14, 900), (HUMP, 26, 20, 300), (FLAT, 30, 90, 1)]),
    ('dark, clean, full range', 6, -1, 1, [(HUMP, 3, 14, 900), (HUMP, 14, 20, 300), (FLAT, 20, 90, 1)]),
    ('dark, noise of 2.5', 160, -1, 0, [(HUMP, 17, 16, 900), (HUMP, 27, 22, 300), (FLAT, 30, 90, 1)]),
    ('dark, noise of 6', 384, -1, 0, [(HUMP, 20, 24, 900), (HUMP, 30, 26, 300), (FLAT, 30, 90, 1)]),
    ('dark, nothing known', 45, -1, 0, [(HUMP, 16, 14, 900), (HUMP, 26, 20, 300), (FLAT, 30, 90, 1)]),
    ('dark with lamps', 10, -1, 0, [(HUMP, 18, 20, 900), (FLAT, 40, 60, 2), (HUMP, 225, 10, 120)]),
    ('dark with one lamp', 10, -1, 0, [(HUMP, 18, 20, 900), (SPIKE, 235, 0, 3)]),
    ('dusk', 20, -1, 0, [(HUMP, 30, 40, 500), (HUMP, 60, 50, 300), (FLAT, 20, 160, 1)]),
    ('dim, between', 20, -1, 0, [(HUMP, 45, 50, 500), (HUMP, 80, 60, 200), (FLAT, 20, 180, 1)]),
    ('dim, full range', 20, -1, 1, [(HUMP, 35, 50, 500), (HUMP, 70, 60, 200), (FLAT, 0, 200, 1)]),
    ('well exposed', 30, -1, 0, [(HUMP, 60, 80, 300), (HUMP, 130, 90, 300), (FLAT, 16, 219, 2)]),
    ('well exposed, full', 30, -1, 1, [(HUMP, 60, 80, 300), (HUMP, 130, 90, 300), (FLAT, 0, 255, 2)]),
    ('well exposed, noisy', 460, -1, 0, [(HUMP, 60, 80, 300), (HUMP, 130, 90, 300), (FLAT, 16, 219, 2)]),
    ('bright', 5, -1, 0, [(HUMP, 150, 90, 300), (HUMP, 200, 60, 200)]),
    ('dim', 20, -1, 0, [(HUMP, 76, 22, 900), (HUMP, 40, 30, 200), (FLAT, 90, 130, 2)]),
    ('dull', 25, -1, 0, [(HUMP, 114, 36, 900)]),
    ('dull, noisy', 200, -1, 0, [(HUMP, 114, 36, 900)]),
    ('dull, full range', 25, -1, 1, [(HUMP, 114, 36, 900)]),
    ('page', 0, -1, 0, [(SPIKE, 46, 0, 8000), (HUMP, 180, 80, 20), (FLAT, 46, 20, 30)]),
    ('page in part', 0, -1, 0, [(SPIKE, 46, 0, 400), (HUMP, 70, 60, 20), (FLAT, 46, 20, 3)]),
    ('dark and narrow', 6, -1, 0, [(HUMP, 38, 4, 900), (HUMP, 28, 12, 100)]),
    ('dark, narrow, noisy', 100, -1, 0, [(HUMP, 38, 4, 900), (HUMP, 28, 12, 100)]),
    ('dim and narrow', 6, -1, 0, [(HUMP, 52, 4, 900), (HUMP, 28, 12, 100), (FLAT, 20, 46, 9)]),
    ('white page', 0, -1, 0, [(SPIKE, 235, 0, 8000), (HUMP, 40, 30, 20)]),
    ('bars', 8, -1, 0, [(SPIKE, 16, 0, 90000), (HUMP, 70, 60, 300), (HUMP, 140, 80, 200)]),
    ('bars, dark', 8, -1, 0, [(SPIKE, 16, 0, 90000), (HUMP, 22, 18, 300)]),
    ('flat', 0, -1, 0, [(FLAT, 16, 219, 50)]),
    ('flat, full range', 0, -1, 1, [(FLAT, 0, 255, 50)]),
    ('one code', 0, -1, 0, [(SPIKE, 90, 0, 1000)]),
    ('one dark code', 0, -1, 0, [(SPIKE, 18, 0, 1000)]),
    ('one code, full', 45, -1, 1, [(SPIKE, 1, 0, 1)]),
    ('all black', 45, -1, 0, [(SPIKE, 16, 0, 1000)]),
    ('all white', 45, -1, 0, [(SPIKE, 235, 0, 1000)]),
    ('black and white', 45, -1, 0, [(SPIKE, 16, 0, 1000), (SPIKE, 235, 0, 1000)]),
    ('nothing in range', 45, -1, 0, [(SPIKE, 3, 0, 1000), (SPIKE, 250, 0, 1000)]),
    ('covered lens, noisy', 256, -1, 0, [(HUMP, 17, 14, 900)]),
    ('one sample', 0, -1, 0, [(SPIKE, 100, 0, 1)]),
    ('huge picture', 6, -1, 0, [(HUMP, 16, 14, 9000000), (HUMP, 26, 20, 3000000), (FLAT, 30, 90, 9999)]),
    ('no clip limit', 6, 0, 0, [(HUMP, 16, 14, 900), (HUMP, 26, 20, 300), (FLAT, 30, 90, 1)]),
    ('clip 1', 6, ONE, 0, [(HUMP, 114, 36, 900)]),
    ('clip 1.7', 6, ONE * 17 // 10, 0, [(HUMP, 18, 20, 900), (FLAT, 40, 60, 2)]),
    ('clip 1000', 6, 1000 * ONE, 1, [(HUMP, 90, 20, 900), (SPIKE, 90, 0, 90000)]),
    ('no clip limit, one code', 6, 0, 1, [(SPIKE, 0, 0, 900)]),
    ('2.5, none filtered', 160, -1, 0, [(HUMP, 17, 16, 900), (HUMP, 27, 22, 300), (FLAT, 30, 90, 1)], 0),
    ('2.5, some filtered', 160, -1, 0, [(HUMP, 17, 16, 900), (HUMP, 27, 22, 300), (FLAT, 30, 90, 1)], 5),
    ('6, none filtered', 384, -1, 1, [(HUMP, 20, 24, 900), (HUMP, 30, 26, 300), (FLAT, 30, 90, 1)], 0),
    ('clean, none filtered', 6, -1, 0, [(HUMP, 16, 14, 900), (HUMP, 26, 20, 300), (FLAT, 30, 90, 1)], 0),
    ('dark, noise awaited', 45, -1, 0, [(HUMP, 16, 14, 900), (HUMP, 26, 20, 300), (FLAT, 30, 90, 1)], 16, 1),
    ('narrow, noise awaited', 45, -1, 0, [(HUMP, 22, 16, 900)], 16, 1),
    ('much noise, more awaited', 512, -1, 1, [(HUMP, 20, 24, 900), (HUMP, 40, 56, 300)], 16, 1),
    ('noise around black', 224, -1, 0, [(SPIKE, 16, 0, 1000), (HUMP, 16, 18, 90)]),
    ('noise above much black', 130, -1, 0, [(SPIKE, 16, 0, 850), (HUMP, 20, 22, 90)]),
    ('no clip limit, two codes', 6, 0, 0, [(SPIKE, 16, 0, 900), (SPIKE, 17, 0, 1)]),
]

def counts_of(parts):
    """HUMP: a parabola that is `weight` high at `place` and ends `width` away. FLAT: `weight` counts of
    each code from `place` to `place` + `width`. SPIKE: `weight` counts at `place`."""
    counts = [0] * 256
    for what, place, width, weight in parts:
        for i in range(256):
            d = abs(i - place)
            if what == HUMP and d < width:
                counts[i] += weight * (width * width - d * d) // (width * width)
            if (what == FLAT and place <= i <= place + width) or (what == SPIKE and i == place):
                counts[i] += weight
    return counts

def main():
    print('/* Made by tests/lift/make_vectors.py from the model: not to be edited. */')
    print('#ifndef LUMEQ_TESTS_LIFT_VECTORS_H\n#define LUMEQ_TESTS_LIFT_VECTORS_H\n\n#include <stdint.h>\n')
    print('enum { FLAT, HUMP, SPIKE };\n')
    print('typedef struct LiftVector {\n    const char *name;\n    int noise;\n    int64_t clip; /* -1: auto */')
    print('    int full;\n    int parts[3][4];   /* what, place, width, weight */')
    print('    uint32_t denoise;  /* 16ths of the noise that are filtered */')
    print('    int awaited;       /* the noise will soon be measured */')
    print('    uint32_t dark, voids, lift, need;')
    print('    uint32_t some[7];  /* nodes 16, 40, 64, .. */\n    uint32_t crc;      /* of all 256 nodes, 32 bits each, little-endian */\n} LiftVector;\n')
    print('/* clang-format off */\nstatic const LiftVector lift_vectors[] = {')
    for name, noise, clip, full, parts, *more in CASES:
        counts, (denoise, awaited) = counts_of(parts), more + [16, 0][len(more):]
        black, white = (0, 255) if full else (16, 235)
        nodes, dark, v = decide(counts, noise, black, white, None if clip < 0 else clip, denoise * ONE // 16, bool(awaited))
        crc = zlib.crc32(b''.join(int(n).to_bytes(4, 'little') for n in nodes[:256]))
        some = ', '.join(str(nodes[i]) for i in range(16, 184, 24))
        q16 = ', '.join(str(round(v.get(k, 0) * ONE)) for k in ('voids', 'a', 'need'))
        rows = ', '.join('{%d, %d, %d, %d}' % p for p in parts)
        print(f'    {{"{name}", {noise}, {clip}, {full}, {{{rows}}}, {denoise},')
        print(f'     {awaited}, {dark}, {q16}, {{{some}}},\n     0x{crc:08x}}},')
    print('};\n/* clang-format on */\n\n#endif')

if __name__ == '__main__':
    main()
