#!/usr/bin/env python3
"""Writes the model's results for small drawn pictures, as a table for tests in C:
    make_filter_vectors.py > ../equalizer/lift_filter_vectors.h
The tests draw the same pictures (equalizer/lift_pictures.h) and compare hashes of the planes.
Needs numpy.
"""
import itertools
import numpy as np
import lift_model

KINDS = 'random', 'flat', 'gradient', 'steps', 'extremes', 'blocks'

def numbers(seed):
    """Pseudo-random numbers of 16 bits."""
    state = seed
    while True:
        state = (state * 1664525 + 1013904223) & 0xffffffff
        yield state >> 16

def draw(kind, width, height, depth, chroma, noise, seed):
    """A plane; noise: in 64ths of a code; seed: differs for each plane and frame."""
    fixed, moving, unit = numbers(7 + chroma), numbers(seed), 1 << depth - 8
    last, reach = 256 * unit - 1, -(-noise * unit // 64)
    block = [next(fixed) for _ in range(64)]
    plane = np.empty((height, width), np.int32)
    for y, x in itertools.product(range(height), range(width)):
        r = next(moving)
        level = {2: 16 + 60 * x // width + 20 * y // height, 3: 20 + (x // 7 + y // 5) % 6 * 9,
                 5: 16 + block[(x // 8 + y // 8 * 5) % 64] % 45}.get(kind, 30)
        code = (level * (-1 if chroma == 2 else 1) + (128 if chroma else 0)) * unit
        code += r % (2 * reach + 1) - reach
        code = r & last if kind == 0 else last * (r & 1) if kind == 4 else code
        plane[y, x] = min(max(code, 0), last)
    return plane

def curve(lift):
    """Nodes of a curve that multiplies codes near black by `lift`."""
    x = np.clip(np.arange(257), 0, 255)
    inside = np.clip(x - 16, 0, 219)
    lifted = 4096 + 219 * 256 * lift * inside // (219 + (lift - 1) * inside)
    return np.where((x >= 16) & (x <= 235), lifted, x * 256)

def fnv(plane):
    value = 0xcbf29ce484222325
    for byte in plane.astype('<u2' if plane.dtype.itemsize == 2 else np.uint8).tobytes():
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value & 0xffffffff

def cases():
    """kind, width, height, rows of the frame, lift, noise, past, depth, sub_x, sub_y, frame, and
    the share of the noise that is filtered, Q16"""
    for case in whole_cases():
        yield *case, 1 << 16
    for past, noise, denoise in itertools.product((0, 1, 3), (64, 160), (0, 100, 20000, 45000)):
        yield 5, 61, 47, 1080, 3, noise, past, 8, 1, 1, noise + past, denoise

def whole_cases():
    for kind in range(len(KINDS)):
        yield kind, 61, 47, 1080, 6, 0, 0, 8, 1, 1, 5
        yield kind, 61, 47, 720, 4, 160, 1, 8, 1, 1, 6
        yield kind, 40, 33, 1080, 13, 64, kind % 4, 10, 1, 1, 7
    for past, noise in itertools.product(range(4), (0, 64, 160, 384)):
        yield 5, 61, 47, 1080, 3, noise, past, 8, 1, 1, noise + past
    for sub_x, sub_y in (0, 0), (1, 0), (2, 0), (2, 2), (0, 1):
        yield 3, 61, 47, 480, 5, 40, 1, 8, sub_x, sub_y, 8
        yield 0, 61, 47, 480, 5, 40, 1, 10, sub_x, sub_y, 9
    for depth in 9, 12, 14, 16:
        yield 2, 61, 47, 480, 6, 70, 2, depth, 1, 1, 10
        yield 0, 61, 47, 480, 6, 0, 0, depth, 1, 0, 11
    for width, height in (1, 1), (2, 3), (5, 2), (64, 9), (65, 1), (1, 40), (130, 30):
        yield 0, width, height, 1080, 6, 64, 3, 8, 1, 1, 12
        yield 5, width, height, 1080, 6, 0, 0, 8, 1, 1, 13

def result(case):
    kind, width, height, rows, lift, noise, past, depth, sub_x, sub_y, frame, denoise = case
    chroma_size = (width + (1 << sub_x) - 1) >> sub_x, (height + (1 << sub_y) - 1) >> sub_y
    frames = [tuple(draw(kind, *(chroma_size if c else (width, height)), depth, c, noise,
                         1 + 3 * age + c) for c in range(3)) for age in range(past, -1, -1)]
    return lift_model.lift(frames, curve(lift), 1 << 16, noise, frame, past, rows, depth,
                           (sub_x, sub_y), denoise, noise % 512 << 7)

def main():
    print('/* Written by tests/lift/make_filter_vectors.py: results of the model for drawn pictures. */')
    print('static const LiftVector lift_vectors[] = {')
    for case in cases():
        hashes = ', '.join('0x%08x' % fnv(p) for p in result(case))
        print('    {%s, {%s}},' % (', '.join(map(str, case)), hashes))
    print('};')

if __name__ == '__main__':
    main()
