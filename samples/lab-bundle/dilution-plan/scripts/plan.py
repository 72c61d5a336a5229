#!/usr/bin/env python3
"""Plan dilutions: plan.py STOCK VOLUME TARGET... [--smallest MICROLITRES]

Concentrations share one unit, volumes are microlitres. Each line says what to draw from where.
"""

import argparse
import sys


def steps(stock, volume, targets, smallest):
    """Yield (target, source, draw, diluent), from the highest concentration to the lowest."""
    source = stock
    for target in sorted(targets, reverse=True):
        if not 0 < target <= stock:
            sys.exit(f"{target:g} cannot be made from a stock of {stock:g}")
        while target * volume / source < smallest:
            between = source * smallest / volume
            yield between, source, smallest, volume - smallest
            source = between
        draw = target * volume / source
        yield target, source, draw, volume - draw
        source = target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stock", type=float)
    parser.add_argument("volume", type=float, help="of each tube, in microlitres")
    parser.add_argument("targets", type=float, nargs="+")
    parser.add_argument("--smallest", type=float, default=2.0, help="smallest volume to pipette, in microlitres")
    asked = parser.parse_args()
    if not 0 < asked.smallest < asked.volume:
        sys.exit("the smallest volume must be above zero and below the volume of a tube")
    for target, source, draw, diluent in steps(asked.stock, asked.volume, asked.targets, asked.smallest):
        print(f"{target:10.4g} = {draw:7.2f} µl of {source:.4g} + {diluent:7.2f} µl diluent")


if __name__ == "__main__":
    main()
