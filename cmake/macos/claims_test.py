#!/usr/bin/env python3
"""Looks up in LibTorch's own libraries what a page claims about them:

  claims_test.py PAGE VERSION=LIBRARY...

The page has one table with a column "LibTorch VERSION" for each VERSION. Each cell of such a column claims, in any
words around them,

  selector `a:b:`   that the library calls it                      class `MPSx`   that it asks for that class
  kernel `x`        that it brings a Metal kernel of that name     graph of `f`   that its function f builds an MPSGraph

and the opposite with "no" in front. What does not hold is named, one a line. The last line is "N passed, M failed", in
claims.

Exit codes: 0 all hold; 1 some do not; 2 wrong usage.
"""
import mmap
import re
import struct
import sys

CLAIM = re.compile(r"\b(no )?(selector|class|kernel|graph of) `([^`]+)`")


def bytes_of(kind, name):
    """What stands in the library where the claim holds, as a regular expression."""
    text = name.encode()
    if kind == "selector":
        return re.escape(b"\0" + text + b"\0")
    if kind == "class":
        return re.escape(b"_OBJC_CLASS_$_" + text + b"\0")
    if kind == "kernel":  # as a compiled Metal library lists a function: length, name, and the tag behind it
        return re.escape(b"NAME" + struct.pack("<H", len(text) + 1) + text + b"\0TYPE")
    # The type of the function object that LookUpOrCreateCachedGraph takes, which is named after who made it.
    return str(len(name)).encode() + re.escape(text) + rb"[^\0]{0,2000}P8MPSGraph"


def table_of(page):
    """Rows of the table whose head has a column for LibTorch, as lists of cells; the head first."""
    rows = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if rows and len(cells) != len(rows[0]):
            break
        if rows or any(re.fullmatch(r"LibTorch [0-9.]+", cell) for cell in cells):
            rows.append(cells)
    return rows


def check(path, libraries):
    with open(path, encoding="utf-8") as file:
        rows = table_of(file.read())
    passed, failed = 0, []
    for version, library in libraries.items():
        column = f"LibTorch {version}"
        if not rows or column not in rows[0]:
            failed.append(f"{path}: no column {column} in the table: look up each row in that release")
            continue
        at = rows[0].index(column)
        with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for row in rows[2:]:
                claims = CLAIM.findall(row[at])
                if not claims:
                    failed.append(f"{path}: {row[0]}, {column}: claims nothing that can be looked up")
                for no, kind, name in claims:
                    there = re.search(bytes_of(kind, name), data) is not None
                    if there == (no == ""):
                        passed += 1
                    else:
                        said = "is there" if there else "is not there"
                        failed.append(f"{path}: {row[0]}: {kind} {name} {said}, LibTorch {version}")
    return passed, failed


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 2 or not all("=" in each for each in arguments[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    passed, failed = check(arguments[0], dict(each.split("=", 1) for each in arguments[1:]))
    for problem in failed:
        print(problem)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
