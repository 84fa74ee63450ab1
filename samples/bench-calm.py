#!/usr/bin/env python3
"""Measures how calm equalized clips stay: flicker, and how many tracked features survive.

Needs ffmpeg and python3-opencv. Scales wider clips down to 640 pixels. Prints a Markdown table of the source and each method.
  flicker   how much more or less the mean luma changes from frame to frame than the source's, on average, in 8-bit
            codes; cuts are skipped
  tracks    share of features that end within 1 pixel of their start when tracked over 30 frames and back, in spans
            without a cut (at most 500 from goodFeaturesToTrack; pyramidal Lucas-Kanade)
  kept      mean number of features per span that end there
Methods: lumeq live and with a lookahead; OpenCV's equalizeHist and CLAHE (2, 8x8), ffmpeg's histeq, vszip's CLAHE and
Zero-DCE, frame by frame."""

import argparse
import importlib
import os
import sys

import cv2
import numpy as np

sys.dont_write_bytecode = True
look = importlib.import_module("bench-look")
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lumeq-sample.mkv")
WIDTH = "'min(iw,640)':-2:"
SPAN = 30  # frames
CUT = 16  # mean change of luma, in codes, above which there is a cut


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("lumeq", help="the program")
    p.add_argument("clips", nargs="*", metavar="CLIP", help="measure these instead of the bundled clip")
    p.add_argument("--ss", type=float, default=0, help="start at this second [0]")
    p.add_argument("--frames", type=int, default=200, help="frames to take [200]")
    p.add_argument("--options", default="", help="further options of lumeq")
    p.add_argument("--zero-dce", metavar="FILE", help="weights of Zero-DCE (Epoch99.pth); needs torch")
    return p.parse_intermixed_args()


def of_vszip():
    """Returns a function that runs vszip's CLAHE with the settings of OpenCV's CLAHE."""
    import vapoursynth  # pip install vapoursynth vapoursynth-vszip
    core = vapoursynth.core

    def run(y4m, frames):
        height, width = frames[0][0].shape
        blank = core.std.BlankClip(width=width, height=height, format=vapoursynth.GRAY8, length=len(frames))

        def fill(n, f):
            frame = f.copy()
            np.copyto(np.asarray(frame[0]), frames[n][0])
            return frame
        clip = core.vszip.CLAHE(core.std.ModifyFrame(blank, blank, fill), limit=2, tiles=[8, 8])
        return [(np.array(frame[0]), *f[1:]) for frame, f in zip(clip.frames(), frames)]
    return run


def of_zero_dce(path):
    """Returns a function that runs Zero-DCE: C. Guo et al., "Zero-Reference Deep Curve Estimation for Low-Light Image
    Enhancement", 2020."""
    import torch
    weights = torch.load(path, map_location="cpu")

    def enhance(frame):
        y, u, v = frame
        planes = [cv2.resize(p, y.shape[::-1]) for p in (v, u)]
        rgb = cv2.cvtColor(np.dstack([y] + planes), cv2.COLOR_YCrCb2RGB)
        x = torch.from_numpy(rgb.astype(np.float32) / 255).permute(2, 0, 1)[None]

        def layer(i, *inputs):
            return torch.conv2d(torch.cat(inputs, 1), weights["e_conv%d.weight" % i], weights["e_conv%d.bias" % i], padding=1)
        a = torch.relu(layer(1, x))
        b = torch.relu(layer(2, a))
        c = torch.relu(layer(3, b))
        d = torch.relu(layer(4, c))
        e = torch.relu(layer(5, c, d))
        f = torch.relu(layer(6, b, e))
        for r in torch.split(torch.tanh(layer(7, a, f)), 3, 1):
            x = x + r * (x * x - x)
        rgb = (x[0].permute(1, 2, 0).numpy() * 255).clip(0, 255).round().astype(np.uint8)
        return (cv2.cvtColor(rgb, cv2.COLOR_RGB2YCrCb)[:, :, 0], u, v)

    def run(y4m, frames):
        with torch.no_grad():
            return [enhance(frame) for frame in frames]
    return run


def methods(args):
    """Returns pairs: a name, and a function that takes frames as y4m and as arrays, and returns equalized arrays."""
    def by_look(method, *options):
        given = argparse.Namespace(lumeq=args.lumeq, options=" ".join(["--no-config", *options, args.options]))
        return lambda y4m, frames: look.make(method, y4m, frames, given)
    found = [("source", lambda y4m, frames: frames),
             ("lumeq, live", by_look("lumeq", "--lookahead", "off")), ("lumeq, lookahead", by_look("lumeq")),
             ("OpenCV CLAHE", by_look("clahe")),
             ("OpenCV equalizeHist", lambda y4m, frames: [(cv2.equalizeHist(y), u, v) for y, u, v in frames]),
             ("ffmpeg `histeq`", by_look("histeq"))]
    for name, make, why in (("vszip CLAHE", of_vszip, None),
                            ("Zero-DCE", lambda: of_zero_dce(args.zero_dce), None if args.zero_dce else "no --zero-dce")):
        try:
            found += [] if why else [(name, make())]
        except (ImportError, AttributeError, OSError) as error:
            why = error
        if why:
            print("%s: left out: %s" % (name, why), file=sys.stderr)
    return found


def cuts(frames):
    """Returns for each step from frame to frame whether it is a cut."""
    return np.array([look.changed(b[0], a[0]).mean() > CUT for a, b in zip(frames, frames[1:])])


def spans(is_cut):
    """Yields the first frame of each span of SPAN steps without a cut."""
    first = 0
    while first + SPAN <= len(is_cut):
        cut = np.flatnonzero(is_cut[first:first + SPAN])
        if not len(cut):
            yield first
        first += int(cut[-1]) + 1 if len(cut) else SPAN


def track(frames, first):
    """Returns the number of features in the frame `first`, and how many of them return."""
    span = [f[0] for f in frames[first:first + SPAN + 1]]
    start = cv2.goodFeaturesToTrack(span[0], maxCorners=500, qualityLevel=0.01, minDistance=7)
    if start is None:
        return 0, 0
    way = span + span[-2::-1]
    points, alive = start, np.ones(len(start), bool)
    for before, now in zip(way, way[1:]):
        points, status, _ = cv2.calcOpticalFlowPyrLK(before, now, points, None, winSize=(21, 21), maxLevel=3)
        alive &= status.ravel() == 1
    alive &= np.linalg.norm((points - start).reshape(-1, 2), axis=1) < 1
    return len(start), int(alive.sum())


def main():
    args = arguments()
    print("| clip | method | flicker | tracks | kept |\n|---|---|---|---|---|")
    every = methods(args)
    for clip in args.clips or [SAMPLE]:
        name = os.path.splitext(os.path.basename(clip))[0]
        y4m = look.source(clip, args, WIDTH)
        frames = look.parse(y4m)
        is_cut = cuts(frames)
        starts = list(spans(is_cut))
        if not starts:
            sys.exit("%s has no %d consecutive frames without a cut" % (clip, SPAN + 1))
        for method, make in every:
            made = make(y4m, frames)
            before, after = (np.diff([f[0].mean() for f in shown])[~is_cut] for shown in (frames, made))
            found, kept = (sum(n) for n in zip(*(track(made, first) for first in starts)))
            print("| %s | %s | %.3f | %.1f %% | %.0f |" % (
                name, method, np.abs(after - before).mean(), 100 * kept / max(found, 1), kept / len(starts)), flush=True)


if __name__ == "__main__":
    main()
