#!/usr/bin/env python3
"""Lay out samples on a 96-well plate: layout.py SAMPLES.txt [--replicates N] [--seed N]

SAMPLES.txt has one name a line. Every column gets a positive and a negative control; the rest is shuffled.
"""

import argparse
import random
import sys

ROWS = "ABCDEFGH"
COLUMNS = range(1, 13)


def layout(samples, replicates, seed):
    """Return {well: content} for one plate."""
    chance = random.Random(seed)
    wells = {}
    free = []
    for column in COLUMNS:
        positive, negative, *rest = chance.sample(ROWS, len(ROWS))
        wells[f"{positive}{column}"] = "positive"
        wells[f"{negative}{column}"] = "negative"
        free += [f"{row}{column}" for row in rest]
    if len(samples) * replicates > len(free):
        sys.exit(f"{len(samples)} samples x {replicates} need {len(samples) * replicates} wells, {len(free)} are free")
    chance.shuffle(free)
    # One replicate of all the samples after the other, so that replicates of one sample land far apart.
    for content in [name for _ in range(replicates) for name in chance.sample(samples, len(samples))]:
        wells[free.pop()] = content
    return wells


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples")
    parser.add_argument("--replicates", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with open(asked.samples, encoding="utf-8") as lines:
        samples = [line.strip() for line in lines if line.strip()]
    wells = layout(samples, asked.replicates, asked.seed)
    print("well\tcontent")
    for column in COLUMNS:
        for row in ROWS:
            print(f"{row}{column}\t{wells.get(f'{row}{column}', 'empty')}")


if __name__ == "__main__":
    main()
