#!/usr/bin/env python3
"""Lifts dark video in integers. The lift in C, vectors and CUDA must give the same bits.
README.md beside this file explains the names.
    lift_model.py IN OUT.png [--at SECONDS] [--noise CODES] [--past FRAMES]
Treats the frame at SECONDS and up to 48 before it as one shot, and writes the frame beside its lifted version.
    shot:   histogram, noise  ->  decide()  ->  nodes  ->  tables()
    frame:  temporal_mean()  ->  tolerance(), clamp_specks()  ->  a_trous()  ->  finish()  ->  luma;
            chroma(): a_trous(), then lumeq's gain from the curve
Samples are Q6 of 8-bit codes (0..16383) at every depth. All values of the pixel path fit int16;
numpy holds them in int32, and fit() checks their range. Shares and slopes of the rule are Q16.
Shifts round down. Needs numpy and ffmpeg.
"""
import argparse, math, subprocess, sys
import numpy as np

ONE, BLACK, WHITE, LAST = 1 << 16, 16, 235, 219
share = lambda percent: ONE * percent // 100

# ---- The rule: README.md explains the names. ----

def ramp(x, lo, hi):
    return min(max((x - lo) * ONE // (hi - lo), 0), ONE)

def times(a, b):                    # Q16, both at least 0
    return (a * b + ONE // 2) >> 16

def reach(v, y):
    """The lift that maps v to y; 0 if y is not lighter."""
    return ((y - v) << 32) // (v * (ONE - y)) if y > v else 0

def equalize(y, h, total, clip):
    """Places (Q16) of the codes after clipped equalization; y: their lifted places; clip 0: no
    limit."""
    last = len(y) - 1
    w = [b - a for a, b in zip(y, y[1:])] + [ONE // last]
    width, most = sum(w), clip * total >> 16
    limit = [min(most * v // width, total) if clip else total for v in w]
    e = 0                           # clipped excess per unit of width, Q16
    for _ in range(4 if clip else 0):
        cut = [c + (e * v >> 16) >= m for c, v, m in zip(h, w, limit)]
        rest = total - sum(m if k else c for k, c, m in zip(cut, h, limit))
        wide = sum(v for k, v in zip(cut, w) if not k)
        e = min((max(rest, 0) << 16) // max(wide, 1), (most << 16) // width, (1 << 32) - 1)
    t, below = [], 0
    for c, v, m in zip(h, w, limit):
        s = min(c + (e * v >> 16), m)
        t.append(below + (s << 16) // max(v * last, ONE))
        below += s
    return [(v - t[0] << 16) // (t[-1] - t[0]) for v in t] if t[-1] > t[0] else y

def decide(counts, n, black=BLACK, white=WHITE, clip=None, denoise=ONE, awaited=False):
    """counts: 256, of 8-bit codes; n: noise in 64ths of a code; clip: None (by the noise), 0 (no
    limit) or Q16; denoise: the share of the noise that is filtered; awaited: n is only assumed, and
    will soon be measured. Returns (nodes, D, values): nodes are 257 output codes in Q8, for the input
    codes 0..255, the last one twice."""
    h, last = [int(c) for c in counts[black:white + 1]], white - black
    rest = sum(h[1:])
    hidden = (h[0] << 16) // rest if rest > h[0] >> 8 else ONE << 8     # black counts per other count
    h[0] = min(h[0], sum(h[1:]) >> 8) if any(h[1:]) else h[0]       # cap black: it may be bars
    if not any(h):
        return np.append(np.arange(256), 255) * 256, 0, {}
    up = 28 - sum(h).bit_length()   # scales the sum to 28 bits
    h = [c << up if up > 0 else c >> -up for c in h]
    total = sum(h)
    cdf = np.cumsum(h)              # int64
    code = lambda mille: next(i for i in range(last + 1) if int(cdf[i]) * 1000 >= mille * total)
    x = [i * ONE // last for i in range(last + 1)]
    mean_of = lambda v: sum(c * b for c, b in zip(h, v)) // total
    m, floor, p10, p90, p99 = max(share(1) * 2 // 5, mean_of(x)), *map(code, (10, 100, 900, 990))
    quarters = total - total // 4
    room = [max(quarters - int(c) + k, 0) for c, k in zip(cdf, h)]
    darker = max(share(1) * 2 // 5,
                 sum(min(k, r) * b for k, r, b in zip(h, room, x)) // quarters)
    three = [sum(h[i:i + 3]) for i in range(last - 1)]
    even = (max(three[12:]) << 16) // total     # largest sum of three neighbours that are not dark
    page = times(ramp(even, share(35), share(55)),
                 max(ramp(code(995) - floor, 48, 80), ramp(even, share(70), share(85))))
    void = (max(int(cdf[min(4 + (2 * n + 32) // 64, last)]), *three[:32]) << 16) // total
    void = (hidden + void << 16) // (ONE + hidden)
    bright = max(ramp(x[p90], share(36), share(46)), ramp(x[p10], share(14), share(20)))
    D = ONE - min(ramp(darker, share(18), share(32)), bright)
    span = 64 * (code(995) - floor)
    likely = max(n, 4 * 64) if awaited else n
    likely += times(likely, times(share(70), ramp(hidden, ONE // 2, ONE)))   # black hides noise
    half = min(6 * likely, 5 * likely // 2 + 224)   # half the width of 99 % of the noise; black cuts it off
    alone = math.isqrt(max(span ** 2 - (half + min(half, 64 * code(500))) ** 2, 0))
    picture = ramp(alone, 64 * 4, 64 * 12)
    Q = times(picture, ONE - page)
    out = 685 + ((26 * 64 - 685) * denoise >> 16)       # maximum output noise
    G = min(13 * ONE, (out << 16) // max(n, 1))
    voids = ramp(void, share(45), share(65))
    aim = share(9) + times(share(115) // 4, times(ramp(G >> 8, 4 * 256, 8 * 256), ONE - voids))
    a = times(times(D, Q), min(12 * ONE, reach(m, aim), max(reach(x[max(1, p99)], share(70)), reach(2 * m, aim)),
                              max(0, G - ONE)))
    width = lambda v: ramp(v[p90] - v[p10], share(27), share(42))
    lifted = lambda v, a: (ONE + a) * v // (ONE + (a * v >> 16))
    y = [lifted(v, a) for v in x[:last] + [ONE]]
    mean = mean_of(y)
    if clip is None:
        clip = min(max((G << 16) // (ONE + a), share(130)), 5 * ONE // 2 + D // 2)
    wide = min(width(y), ramp(mean, share(12), share(25)))
    need = max(times(ONE - wide, Q), times(share(5), ONE - page), times(share(55), times(D, Q)))
    both = equalize(y, h, total, clip)
    risen = mean_of(both) - mean
    moved, back = abs(risen), 0
    rest = times(share(1) // 2, wide) + times(mean // 25, ONE - wide)
    most = times(D, max(aim - mean, 0)) + times(ONE - D, rest)
    if times(need, moved) > most:
        dull = times(ONE - wide, ONE - D // 2)
        back = times(dull, times(need, moved) - most)
        need = min(need, (most + back << 16) // moved)
    between = lambda v, b: times(v, ONE - need) + times(b, need)
    now = between(mean, mean + risen)
    curve = [max(min(between(v, b), ONE), times(D, v)) for v, b in zip(y, both)]
    low, high = (reach(now - back, now), 0) if risen > 0 else (0, reach(now, now + back))
    lower = lambda: [lifted((v << 16) // (ONE + times(low, ONE - v)), high) for v in curve]
    if low or high:
        went = max(abs(mean_of(curve) - mean_of(lower())), 1)
        low, high = (min(v * back // went, 12 * ONE) for v in (low, high))
    curve = lower()
    curve = [max(c, min(v, x[2])) for c, v in zip(curve, y)]            # codes above black do not become black
    nodes = np.append(np.arange(256), 255) * 256
    nodes[black:white + 1] = [black * 256 + times(c, last * 256) for c in curve]
    q16 = dict(m=m, D=D, voids=voids, Q=Q, G=G, a=a, clip=clip, need=need, low=low,
               page=page)
    return nodes, D, {k: v / ONE for k, v in q16.items()}

# ---- Tables and constants of a frame. ----

TOL_MOST, STEPS, STEPS_ALONE = 152, {900: (12, 4, 1), 600: (8, 3, 1), 0: (4, 2, 1)}, (2, 1, 1)
CHROMA_STEPS, CHROMA_STEPS_ALONE = (4, 1), (3, 1, 1)
GAIN_ONE = 4096                     # Q12
COLOUR = 4096 * 85 // 100           # the share of luma's gain above 1 that chroma takes
LEFT = (128, 91, 74, 64)            # 64 * 2 / sqrt(1 + past): noise left, relative to three past frames

def tables(nodes, D, n, past, denoise=ONE, voids=0):
    """Tables and constants of a frame, from its curve, its noise and the number of previous frames.
    tol    by code: a quarter of the tolerance, Q6
    still  by code: maximum that a past sample moves this one, Q6
    near   5x5 sum of differences at which a past sample is ignored, Q2
    speck  maximum that clamp_specks() moves a sample, Q6
    edge   range of the 5x5 neighbourhood at which the tolerance is 0, Q6
    ctol   by mean luma: a quarter of chroma's tolerance, Q6
    gain, start, end  by mean luma: chroma's gain, Q12; luma before and after, above black, Q8
    """
    n = min(D * n >> 16, 16 * 64)
    n = max(0, min(n, 2 * (n - 32)))        # 0 up to half a code, all of it from one code on
    f = n * denoise >> 16           # the filtered part
    past = past if f else 0
    alone = f > 0 and past == 0
    near = lambda n: n * 75 // 32   # 25 samples, Q2, of 1.5 n
    i = np.clip(np.arange(256), BLACK + 4, WHITE - 3)
    slope = nodes[i + 3] + nodes[i + 2] - nodes[i - 2] - nodes[i - 3]       # Q8, times 10
    lifted = np.clip((slope - 2560) * 6 // 80, 0, 64)                       # Q6: slope 1 to 1.33
    clean = np.clip((slope - 3200) * 4 // 80, 0, TOL_MOST)                  # Q6 codes: 1.25 to 2.75
    noisy = lifted * 5 * f // 128 * LEFT[past] // 64        # 2.5 f, more with fewer past frames
    noisy = np.minimum(noisy, 48 * 64)
    tol = np.maximum(clean, noisy) * 3 // 8                                 # times 3/2; a quarter
    start, end = (np.arange(256) - BLACK) * 256, nodes[:256] - BLACK * 256
    gain = np.array([curve_gain(int(a), int(b), n, voids) for a, b in zip(start, end)])
    ctol = np.clip((2 * gain - 8192 * 6 // 5) * 3 // 128, 0, 256) * 3 // 8
    start, end = np.maximum(start, 0), np.maximum(end, 0)
    return dict(nodes=nodes, noisy=f > 0, past=past, tol=tol, still=lifted * 4 * near(f) // 64,
                near=near(n), alone=alone, speck=(12 if alone else 4) * f,
                edge=(16 if alone else 8) * 64 + 4 * f - 32,
                ctol=ctol, gain=gain, start=start, end=end)

def curve_gain(start, end, n, voids):
    """lumeq's gain of chroma, Q12, whose luma changes from start to end. Divisions round towards 0.
    The more noise, the later the gain begins: 1 to 2 codes above black, complete at 4 to 6; in a
    void, 1 to 6 codes above black, complete at 8 to 32."""
    part, none = min(n, 64), voids >> 8
    dark = 256 + 4 * part + (none * 16 * part >> 8)
    light = 1024 + 8 * part + (none * (1024 + 88 * part) >> 8)
    if start <= dark:
        return GAIN_ONE
    more = min((end << 12) // start if end > 0 else 0, 10 * GAIN_ONE) - GAIN_ONE
    taken = more * COLOUR // GAIN_ONE if more > 0 else more / 4
    if start < light:
        taken = int(taken) * (start - dark) / (light - dark)
    return min(GAIN_ONE + int(taken), 79 * GAIN_ONE // 10)

# ---- The pixel path. Planes are (height, width). ----

def fit(p):
    assert -32768 <= p.min() and p.max() <= 32767
    return p

def at(p, d, axis):
    """The plane shifted by d samples, mirrored about its first and last sample."""
    last, i = p.shape[axis] - 1, np.abs(np.arange(p.shape[axis]) + d)
    return p.take(np.clip(np.minimum(i, 2 * last - i), 0, last), axis)

def around(p, reach, combine):
    """combine over the samples up to `reach` away, across and then down."""
    for axis in (1, 0):
        p = combine([at(p, d, axis) for d in range(-reach, reach + 1)])
    return p

def clamp(p, lo, hi):
    return np.maximum(np.minimum(p, hi), lo)

def temporal_mean(planes, t):
    """planes: newest first. A past sample counts less, the more its 5x5 neighbours differ on average."""
    now, bound, moves = planes[0], t['still'][planes[0] >> 6], 0
    for past in planes[1:t['past'] + 1]:
        off = np.abs(fit(around((now >> 4) - (past >> 4), 2, sum)))
        bound = np.minimum(bound, np.maximum(t['near'] - off, 0) << 2)
        moves = fit(moves + clamp(past - now, -fit(bound), bound))
    shift = (0, 1, 2, 2)[t['past']]
    return now + ((moves + (1 << shift >> 1)) >> shift)

def tolerance(now, f, t):
    """A quarter of the tolerance; now: the source, f: the source after temporal_mean()."""
    if t['noisy']:
        f = fit(around(f >> 4, 1, lambda p: p[0] + 2 * p[1] + p[2]))    # 1 2 1 each way, Q6 again
    span = around(f, 2, lambda p: np.max(p, 0)) - around(f, 2, lambda p: np.min(p, 0))
    return np.minimum(t['tol'][now >> 6], np.maximum(t['edge'] - span, 0) >> 2)

def clamp_specks(f, quarter, t):
    """Moves a sample that is above or below all 8 neighbours towards their range."""
    ends = []
    for pick in (np.minimum, np.maximum):
        beside = pick(at(f, -1, 1), at(f, 1, 1))
        row = pick(beside, f)
        ends.append(pick(beside, pick(at(row, -1, 0), at(row, 1, 0))))
    most = np.minimum(8 * quarter, t['speck'])
    return f + clamp(clamp(f, *ends) - f, -most, most)

def a_trous(f, steps, quarter):
    """Edge-preserving mean of samples at a distance, across and down at each step: f += sum of
    phi(neighbour - f). phi(d) is 3/8 d up to d = quarter, and falls from there to 0 at 4 quarter."""
    whole = 4 * quarter
    for step in steps:
        for axis in (1, 0):
            d = [at(f, -step, axis) - f, at(f, step, axis) - f]
            a, b = (sum(clamp(v, -k, k) for v in d) for k in (quarter, whole))
            f = fit(f + ((fit(4 * a - b) + 4) >> 3))
    return f

def dither(shape, frame):
    """lumeq's dither pattern: thresholds 2, 6, .. 254."""
    y, x = np.mgrid[:shape[0], :shape[1]]
    a = x ^ y
    order = (a & 1) << 5 | (y & 1) << 4 | (a & 2) << 2 | (y & 2) << 1 | (a & 4) >> 1 | (y & 4) >> 2
    return (order + 25 * frame & 63) * 4 + 2

def to_q6(samples, depth):
    """Codes of `depth` bits."""
    s = samples.astype(np.int32)
    return s << 14 - depth if depth <= 14 else s >> depth - 14

def finish(f, nodes, frame, depth, source):
    """Applies the curve and dithers; returns codes of `depth` bits. Samples between black and white stay between them."""
    node, part = nodes[f >> 6], f & 63
    out = node + ((nodes[(f >> 6) + 1] - node) * (part << 9) + (1 << 14) >> 15)
    out = out + (dither(f.shape, frame) >> depth - 8) >> 16 - depth
    return np.clip(out, np.minimum(source, BLACK + 1 << depth - 8), np.maximum(source, WHITE - 1 << depth - 8))

def mean_luma(y, sub_x, sub_y):
    """The mean of the luma codes that each chroma sample covers; edges are repeated."""
    y = np.pad(y, [(0, -y.shape[0] % (1 << sub_y)), (0, -y.shape[1] % (1 << sub_x))], 'edge')
    area = sub_x + sub_y
    sums = sum(y[v::1 << sub_y, u::1 << sub_x]
               for v in range(1 << sub_y) for u in range(1 << sub_x))
    return sums + (1 << area >> 1) >> area

def within(gain, d, start, end):
    """Limits the gain as lumeq does, so that B' and R' stay in range, but not below 7/8; d: chroma above gray, Q6."""
    full = LAST << 8
    used = np.minimum(60 * np.abs(d), 8 * np.where(d > 0, full - start, start))
    most = np.where(d > 0, full - end, end) << 15
    return np.where(used * gain <= most, gain, np.maximum(most // np.maximum(used, 1), GAIN_ONE * 7 // 8))

def chroma(planes, y, t, frame, depth, sub_x=1, sub_y=1):
    """Filters and scales both planes of chroma over the source's luma y; returns codes."""
    mean = mean_luma(y.astype(np.int64), sub_x, sub_y) >> depth - 8
    gain, start, end = (t[k][mean] for k in ('gain', 'start', 'end'))
    planes = [to_q6(c, depth) for c in planes]
    steps = CHROMA_STEPS_ALONE if t['alone'] else CHROMA_STEPS
    d = [a_trous(c, steps, t['ctol'][mean]) - 8192 for c in planes]
    ends, end = (gain > GAIN_ONE) & (start <= LAST << 8), np.minimum(end, LAST << 8)
    for c in d:
        gain = np.where(ends, within(gain, c, start, end), gain)
    add = 64 + (dither(gain.shape, frame) >> 1)         # half of the dither's amplitude
    middle, legal = 128 << depth - 8, 112 << depth - 8
    codes = [middle + (c * gain + (add << 18 - depth) >> 26 - depth) for c in d]
    source = [c >> 14 - depth if depth <= 14 else c << depth - 14 for c in planes]
    return [clamp(c, np.minimum(middle - legal, s), np.maximum(middle + legal, s))
            for c, s in zip(codes, source)]

def lift(frames, nodes, D, n, frame=0, past=3, height=0, depth=8, sub=(1, 1), denoise=ONE,
         voids=0):
    """Lifts the newest of `frames`, which are (Y, U, V), oldest first."""
    planes = [to_q6(f[0], depth) for f in frames[:-past - 2:-1]]
    t = tables(nodes, D, n, min(past, len(planes) - 1), denoise, voids)
    f = temporal_mean(planes, t)
    quarter = tolerance(planes[0], f, t)
    f = clamp_specks(f, quarter, t) if t['noisy'] else f
    steps = next(s for h, s in STEPS.items() if (height or f.shape[0]) >= h)
    steps = STEPS_ALONE if t['alone'] else steps
    y = finish(a_trous(f, steps, quarter), nodes, frame, depth, frames[-1][0].astype(np.int32))
    u, v = (c.astype(np.int64) for c in frames[-1][1:])
    size = np.uint8 if depth == 8 else np.uint16
    return tuple(p.astype(size) for p in (y, *chroma((u, v), frames[-1][0], t, frame, depth, *sub)))

def read(path, at):
    """Frames up to the time `at` (seconds): list of (Y, U, V), uint8, oldest first."""
    def call(*cmd):
        p = subprocess.run(cmd, capture_output=True)
        return p.stdout or sys.exit(p.stderr.decode() or f'{path}: no frame there')
    s = call('ffprobe', '-v', 'error', '-select_streams', 'v:0', '-show_entries',
             'stream=width,height,avg_frame_rate', '-of', 'csv=p=0', path)
    w, h, num, den = map(int, s.split()[0].replace(b'/', b',').split(b',')[:4])
    fps, cw, ch = num / den if num and den else 25., (w + 1) // 2, (h + 1) // 2
    count = min(48, round(at * fps)) + 1
    raw = call('ffmpeg', '-v', 'error', '-noautorotate', '-ss', str(max(0, at - 48.5 / fps)), '-i', path,
               '-map', '0:v:0', '-vf', 'scale=out_range=limited', '-fps_mode', 'passthrough',
               '-frames:v', str(count), '-pix_fmt', 'yuv420p', '-f', 'rawvideo', '-')
    frames = np.frombuffer(raw, np.uint8).reshape(-1, w * h + 2 * cw * ch)
    return [(y.reshape(h, w), u.reshape(ch, cw), v.reshape(ch, cw))
            for y, u, v in (np.split(f, [w * h, w * h + cw * ch]) for f in frames)]

def main():
    p = argparse.ArgumentParser(description='Lifts one frame of dark video in integers.')
    p.add_argument('input')
    p.add_argument('output')
    p.add_argument('--at', type=float, default=2., help='time in seconds (2)')
    p.add_argument('--noise', type=float, default=0., help='noise in codes, as lumeq -v reports it (0)')
    p.add_argument('--past', type=int, default=1, choices=range(4), help='previous frames to use (1)')
    args = p.parse_args()
    frames = read(args.input, args.at)
    counts = sum(np.bincount(f[0].ravel(), minlength=256) for f in frames)
    n = round(64 * args.noise)
    nodes, D, values = decide(counts, n)
    print(', '.join(f'{k} {v:.3g}' for k, v in values.items()))
    lifted = lift(frames, nodes, D, n, past=args.past, voids=round(values.get('voids', 0) * ONE))
    cmd = ('ffmpeg -v error -y -f rawvideo -pix_fmt yuv420p -s %dx%d -i - -frames:v 1 -vf '
           'scale=in_color_matrix=bt709,format=rgb24,tile=2x1' % frames[0][0].shape[::-1]).split()
    planes = b''.join(map(bytes, (*frames[-1], *lifted)))
    sys.exit(subprocess.run(cmd + [args.output], input=planes).returncode)

if __name__ == '__main__':
    main()
