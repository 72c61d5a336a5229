#!/usr/bin/env python3
"""Look a CSV table over and report what a machine can see: audit.py TABLE.csv

Reads the table once and changes nothing. Rows count from 1 below the header. Exit status 1 where something was found.
"""

import csv
import sys
from collections import Counter, defaultdict


def rows_text(rows, limit=8):
    """Return row numbers as text, the first few of many."""
    text = ", ".join(map(str, rows[:limit]))
    return text if len(rows) <= limit else f"{text} and {len(rows) - limit} more"


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def audit(path):
    """Yield one finding after the other, as text."""
    with open(path, newline="", encoding="utf-8-sig") as table:
        reader = csv.reader(table)
        header = next(reader, None)
        if header is None:
            yield "the table is empty"
            return
        rows = list(reader)
    for name, count in Counter(name.strip() for name in header).items():
        if not name or count > 1:
            yield f"column name {name!r} stands {count} times"
    for name in header:
        if name != name.strip():
            yield f"column name {name!r} has spaces at its ends"
    ragged = [number for number, row in enumerate(rows, 1) if len(row) != len(header)]
    if ragged:
        yield f"rows with more or fewer than {len(header)} cells: {rows_text(ragged)}"
    seen = defaultdict(list)
    for number, row in enumerate(rows, 1):
        seen[tuple(row)].append(number)
    for numbers in seen.values():
        if len(numbers) > 1:
            yield f"rows that are the same: {rows_text(numbers)}"
    for column, name in enumerate(header):
        yield from audit_column(name.strip(), [row[column] if column < len(row) else "" for row in rows])


def audit_column(name, cells):
    """Yield the findings of one column."""
    empty = [number for number, cell in enumerate(cells, 1) if not cell.strip()]
    if empty:
        yield f"{name}: empty in rows {rows_text(empty)}"
    filled = [(number, cell) for number, cell in enumerate(cells, 1) if cell.strip()]
    odd = [(number, cell) for number, cell in filled if not is_number(cell)]
    if filled and 0 < len(odd) <= len(filled) * 0.2:
        examples = ", ".join(repr(cell) for _, cell in odd[:3])
        yield f"{name}: numbers except for {examples} in rows {rows_text([number for number, _ in odd])}"
    spellings = defaultdict(set)
    for _, cell in filled:
        spellings[" ".join(cell.split()).casefold()].add(cell)
    for forms in spellings.values():
        if len(forms) > 1:
            yield f"{name}: one word in several spellings: {', '.join(map(repr, sorted(forms)))}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    findings = list(audit(sys.argv[1]))
    for finding in findings:
        print(f"- {finding}")
    print(f"{len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
