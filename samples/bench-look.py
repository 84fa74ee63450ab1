#!/usr/bin/env python3
"""Measures clips equalized by lumeq and others: light, contrast, blocks, noise, hue, flicker, per clip.

Needs ffmpeg and python3-opencv. Prints a Markdown table with a line for the source and one for each method.
  mean, median, 99 %   luma in codes of 8 bits, limited range
  dev, local           standard deviation of luma, in the picture and in 15x15 samples, as a multiple of the source's
  block                mean luma step at the edges of 8x8 blocks, divided by the step inside, where the source is flat
  steps                share of horizontal steps above 3 codes where the source is flat, per 1000
  still                mean change of luma from frame to frame where the source is still, in codes
  chroma               mean change of chroma where the source is still and dark (luma below 60), in codes
  black, white         samples per 1000 that became black or white
  hue                  mean angle by which the hue of chroma of 8 codes and more changes, in degrees
  ssim                 structural similarity to the source's luma
  MABD                 mean absolute change of the mean luma from frame to frame, in codes
  flicker              mean absolute difference between the change of mean luma and the source's, in codes
nan: the source has no such area."""

import argparse
import os
import subprocess
import sys

import cv2
import numpy as np

METHODS = ("lumeq", "histeq", "normalize", "clahe")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("lumeq", help="the program")
    p.add_argument("clips", nargs="+", metavar="CLIP")
    p.add_argument("--methods", default="lumeq", help="comma-separated list of %s [lumeq]" % ", ".join(METHODS))
    p.add_argument("--ss", type=float, default=0, help="start at this second [0]")
    p.add_argument("--frames", type=int, default=50, help="frames to take [50]")
    p.add_argument("--options", default="", help="further options of lumeq")
    p.add_argument("--pictures", metavar="DIR", help="write the last frame of the source and of each method there")
    return p.parse_args()


def call(*command, data=None):
    result = subprocess.run([str(c) for c in command], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode or not result.stdout:
        sys.exit("%s\n%s" % (" ".join(map(str, command)), result.stderr.decode(errors="replace")))
    return result.stdout


def source(clip, args, size=""):
    """Returns the clip's frames as y4m of 8 bits, 4:2:0, limited range. `size`: arguments of ffmpeg's scale, with a colon."""
    return call("ffmpeg", "-v", "error", "-nostdin", "-noautorotate", "-ss", args.ss, "-i", clip, "-map", "0:v:0",
                "-frames:v", args.frames, "-vf", "scale=%sout_range=limited" % size, "-pix_fmt", "yuv420p",
                "-fps_mode", "passthrough", "-f", "yuv4mpegpipe", "-strict", "-1", "-")


def parse(y4m):
    """Returns the frames as tuples (Y, U, V) of arrays of 8 bits."""
    head, rest = y4m.split(b"\n", 1)
    w, h = (int(next(f[1:] for f in head.split() if f[:1] == k)) for k in (b"W", b"H"))
    cw, ch = (w + 1) // 2, (h + 1) // 2
    size = w * h + 2 * cw * ch
    frames = []
    while rest:
        rest = rest.split(b"\n", 1)[1]
        planes = np.frombuffer(rest[:size], np.uint8)
        y, u, v = np.split(planes, [w * h, w * h + cw * ch])
        frames.append((y.reshape(h, w), u.reshape(ch, cw), v.reshape(ch, cw)))
        rest = rest[size:]
    return frames


def filtered(y4m, graph):
    return call("ffmpeg", "-v", "error", "-f", "yuv4mpegpipe", "-i", "-", "-vf",
                graph + ",scale=out_range=limited,format=yuv420p", "-f", "yuv4mpegpipe", "-strict", "-1", "-",
                data=y4m)


def make(method, y4m, frames, args):
    """Applies the method to the frames."""
    if method == "clahe":
        clahe = cv2.createCLAHE(2, (8, 8))
        return [(clahe.apply(f[0]), f[1], f[2]) for f in frames]
    if method != "lumeq":
        return parse(filtered(y4m, method))
    path = "judged.%d.y4m" % os.getpid()
    folder = os.environ.get("TMPDIR", "/tmp")
    path, out = (os.path.join(folder, name + path) for name in ("in-", "out-"))
    try:
        with open(path, "wb") as f:
            f.write(y4m)
        subprocess.run([args.lumeq, path, "-o", out, "-y", "-q", "--progress", "none", *args.options.split()],
                       check=True)
        with open(out, "rb") as f:
            return parse(f.read())
    except subprocess.CalledProcessError:
        sys.exit("lumeq failed")
    finally:
        for name in (path, out):
            if os.path.exists(name):
                os.remove(name)


def mean(values):
    return float(values.mean()) if values.size else float("nan")


def local(y):
    y = y.astype(np.float32)
    return mean(np.sqrt(np.maximum(cv2.blur(y * y, (15, 15)) - cv2.blur(y, (15, 15)) ** 2, 0)))


def ssim(a, b):
    a, b = a.astype(np.float32), b.astype(np.float32)

    def blur(x):
        return cv2.GaussianBlur(x, (11, 11), 1.5)

    ma, mb = blur(a), blur(b)
    va, vb, both = blur(a * a) - ma * ma, blur(b * b) - mb * mb, blur(a * b) - ma * mb
    return mean((2 * ma * mb + 6.5) * (2 * both + 58.5) / ((ma * ma + mb * mb + 6.5) * (va + vb + 58.5)))


def hue(before, after):
    u, v, u2, v2 = (p.astype(float) - 128 for p in (*before[1:], *after[1:]))
    k = np.hypot(u, v) >= 8
    if k.sum() < 50:
        return float("nan")
    return float(np.degrees(np.abs(np.angle(np.exp(1j * (np.arctan2(v2, u2) - np.arctan2(v, u)))))[k]).mean())


def blocks(y, out):
    """Returns the measures `block` and `steps` of `out`, where 9x9 samples of the source y are within 3 codes."""
    k = np.ones((9, 9))
    flat = cv2.dilate(y, k).astype(int) - cv2.erode(y, k) <= 3
    step = np.abs(np.diff(out.astype(np.float32)))
    at = [step[:, i::8][flat[:, i + 1::8]] for i in (7, 3)]
    if min(a.size for a in at) < 1000:
        return float("nan"), float("nan")
    return (mean(at[0]) + 1e-6) / (mean(at[1]) + 1e-6), 1000 * mean((step > 3)[flat[:, 1:]].astype(float))


def changed(now, before):
    return np.abs(now.astype(np.float32) - before)


def still(frames, made):
    """Returns the change of luma where the source is still, and of chroma where it is also dark, in codes."""
    y = frames[-1][0]
    apart = cv2.blur(changed(y, frames[-2:][0][0]), (9, 9))
    stands = apart < max(.3, 1.5 * np.percentile(apart, 25))
    dark = (stands & (cv2.blur(y, (9, 9)) < 60))[::2, ::2]
    luma, u, v = (changed(a, b) for a, b in zip(made[-1], made[-2:][0]))
    return mean(luma[stands]), (mean(u[dark]) + mean(v[dark])) / 2


def flicker(frames, made):
    """Returns MABD and flicker."""
    a, b = (np.diff([mean(f[0]) for f in s]) for s in (frames, made))
    return (mean(np.abs(b)), mean(np.abs(b - a))) if len(a) else (float("nan"),) * 2


def judge(frames, made):
    before, after = frames[-1], made[-1]
    y, out = before[0], after[0]
    ratio, steps = blocks(y, out)
    return (mean(out), np.median(out), np.percentile(out, 99), out.std() / max(y.std(), 1e-6),
            local(out) / max(local(y), 1e-6), ratio, steps, *still(frames, made),
            1000 * mean(((out <= 16) & (y > 16)).astype(float)), 1000 * mean(((out >= 235) & (y < 235)).astype(float)),
            hue(before, after), ssim(y, out), *flicker(frames, made))


def picture(frame, path):
    y, u, v = frame
    data = b"YUV4MPEG2 W%d H%d F1:1 C420jpeg\nFRAME\n" % y.shape[::-1] + b"".join(map(bytes, (y, u, v)))
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "yuv4mpegpipe", "-i", "-", "-vf",
                    "scale=in_color_matrix=bt709", "-frames:v", "1", "-update", "1", path], input=data, check=True)


def main():
    args = arguments()
    methods = args.methods.split(",")
    for method in methods:
        if method not in METHODS:
            sys.exit("unknown method %s (allowed: %s)" % (method, ", ".join(METHODS)))
    print("| clip | method | mean | median | 99 % | dev | local | block | steps | still | chroma | black | white | hue "
          "| ssim | MABD | flicker |")
    print("|---" * 17 + "|")
    for clip in args.clips:
        name = os.path.splitext(os.path.basename(clip))[0]
        y4m = source(clip, args)
        frames = parse(y4m)
        for method in ["source"] + methods:
            made = frames if method == "source" else make(method, y4m, frames, args)
            if len(made) != len(frames):
                sys.exit("%s: %s returned %d frames instead of %d" % (clip, method, len(made), len(frames)))
            m = judge(frames, made)
            print("| %s | %s | %.1f | %.0f | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.3f "
                  "| %.3f | %.3f |" % ((name, method) + m), flush=True)
            if args.pictures:
                os.makedirs(args.pictures, exist_ok=True)
                picture(made[-1], os.path.join(args.pictures, "%s-%s.png" % (name, method)))


if __name__ == "__main__":
    main()
