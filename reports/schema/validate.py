#!/usr/bin/env python3
"""Checks JSON files against a JSON Schema (2020-12).

usage: validate.py SCHEMA FILE [FILE ...]

Exit codes: 0 all are valid, 1 at least one is not, 2 wrong usage or unreadable file,
3 the Python package jsonschema (4.0 or later) is missing.
"""

import itertools
import json
import sys


MOST_LINES = 20  # for one file


def problems(validator, file):
    """Returns one line for each of the first violations in the file."""
    with open(file, encoding="utf-8") as stream:
        instance = json.load(stream)
    lines = []
    for error in itertools.islice(validator.iter_errors(instance), MOST_LINES):
        place = "/".join(map(str, error.absolute_path)) or "top"
        lines.append(f"{file}: {place}: {error.message[:300]}")
    return lines


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("validate.py: the Python package jsonschema (4.0 or later) is missing; install it with "
              "`apt install python3-jsonschema` or `pip install jsonschema`", file=sys.stderr)
        return 3
    try:
        with open(arguments[0], encoding="utf-8") as stream:
            schema = json.load(stream)
        Draft202012Validator.check_schema(schema)
        found = [line for file in arguments[1:]
                 for line in problems(Draft202012Validator(schema), file)]
    except (OSError, ValueError) as error:
        print(f"validate.py: {error}", file=sys.stderr)
        return 2
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
