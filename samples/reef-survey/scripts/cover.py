#!/usr/bin/env python3
"""Percent cover from a point-intercept table: mean over transects, standard error, 95 % interval.

Usage: cover.py TABLE.csv [--category NAME] [--json]
"""

import argparse
import csv
import json
import math
import statistics
import sys
from collections import defaultdict

COLUMNS = ("site", "transect", "point", "category")
UNREADABLE = {"", "shadow", "tape"}
# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom; beyond that the normal one is close enough.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]
T95 += [2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def read(path):
    """Return {site: {transect: {category: points}}} and the number of unreadable points."""
    sites = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    unreadable = 0
    with open(path, newline="", encoding="utf-8-sig") as table:
        rows = csv.DictReader(table)
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            sys.exit(f"{path}: no column {', '.join(missing)}; found {', '.join(rows.fieldnames or ()) or 'none'}")
        for row in rows:
            category = (row["category"] or "").strip().lower()
            if category in UNREADABLE:
                unreadable += 1
            else:
                sites[row["site"].strip()][row["transect"].strip()][category] += 1
    return sites, unreadable


def summarise(transects, category):
    """Return mean cover, standard error and interval of one category over the transects of one site."""
    covers = [points.get(category, 0) / sum(points.values()) for points in transects.values()]
    mean = statistics.fmean(covers)
    if len(covers) < 3:
        return {"transects": len(covers), "cover": mean, "se": None, "low": None, "high": None}
    error = statistics.stdev(covers) / math.sqrt(len(covers))
    reach = error * (T95[len(covers) - 2] if len(covers) <= 31 else 1.96)
    return {
        "transects": len(covers),
        "cover": mean,
        "se": error,
        "low": max(0.0, mean - reach),
        "high": min(1.0, mean + reach),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table")
    parser.add_argument("--category", help="only this one")
    parser.add_argument("--json", action="store_true", help="for programs")
    asked = parser.parse_args()
    sites, unreadable = read(asked.table)
    found = {name for transects in sites.values() for points in transects.values() for name in points}
    wanted = [asked.category] if asked.category else sorted(found)
    result = {
        site: {category: summarise(transects, category) for category in wanted}
        for site, transects in sorted(sites.items())
    }
    if asked.json:
        print(json.dumps({"sites": result, "unreadable_points": unreadable}, indent=2))
        return
    for site, categories in result.items():
        print(site)
        for category, row in categories.items():
            interval = "no interval" if row["se"] is None else f"{row['low']:6.1%} to {row['high']:6.1%}"
            print(f"  {category:<12} {row['cover']:6.1%}  {interval}  ({row['transects']} transects)")
    if unreadable:
        print(f"{unreadable} points could not be read and were left out")


if __name__ == "__main__":
    main()
