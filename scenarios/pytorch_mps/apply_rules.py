#!/usr/bin/env python3
"""Copies the sources that RULES changes from SOURCE to TO, changed:

  apply_rules.py RULES SOURCE TO [FIX...]

A rule whose text is not there is an error: it was written for other sources. Rules that begin with a word in [brackets]
are fixes, for who names that word.
"""
import pathlib
import re
import sys

rules, source, to, *fixes = sys.argv[1:]
changed = {}
for line in pathlib.Path(rules).read_text().splitlines():
    kind, rule = re.fullmatch(r"(?:\[([a-z]+)\])?(.*)", line).groups()
    if not rule or rule.startswith("#") or kind and kind not in fixes:
        continue
    file, text, instead = rule.split("|", 2)
    content = changed.get(file) or pathlib.Path(source, file).read_text()
    if text not in content:
        sys.exit(f'{rules}: "{text}" is not in {source}/{file}')
    changed[file] = content.replace(text, instead)
for file, content in changed.items():
    place = pathlib.Path(to, file)
    place.parent.mkdir(parents=True, exist_ok=True)
    # What is as it was keeps its date, and is not compiled anew.
    if not place.exists() or place.read_text() != content:
        place.write_text(content)
