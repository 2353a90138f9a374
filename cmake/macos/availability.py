"""Functions that a system has only from a release on, by the headers that Apple publishes with its C library."""
import os
import re

# What is no declaration: comments, and lines of the preprocessor.
_ASIDE = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
_SINCE = re.compile(r"\bmacosx?\s*\(\s*(\d+)(?:\.(\d+))?|\b__OSX_AVAILABLE(?:_STARTING)?\s*\(\s*(?:__MAC_)?(\d+)(?:[._](\d+))?")
# A macro or attribute with its arguments, two deep.
_MARK = re.compile(r"\b(?:[A-Z_]*(?:AVAILABLE|DEPRECATED|SWIFT|ENUM|OPTIONS)\w*|__(?:sized|counted)_by\w*|__attribute__)\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))")
_NAME = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def newer_than(minimum, folder):
    """{symbol: release} of what the headers below the folder declare for macOS releases after the minimum, "14.0"."""
    oldest = tuple(int(part) for part in minimum.split("."))
    symbols = {}
    for root, _, files in os.walk(folder):
        for file in files:
            with open(os.path.join(root, file), encoding="utf-8", errors="replace") as header:
                text = _ASIDE.sub("", header.read())
            for statement in re.split(r"[;{}]", text):
                since = _SINCE.search(statement)
                if not since:
                    continue
                release = int(since[1] or since[3]), int(since[2] or since[4] or 0)
                name = _NAME.search(_MARK.sub("", statement))
                if release > oldest and name and "static" not in statement:
                    symbols["_" + name[1]] = ".".join(str(part) for part in release)
    return symbols


def problems_of(name, image, newer):
    """Sentences on what the image cannot do without, and its system need not have. What is weak may be missing."""
    return [
        f"{name}: {symbol} is in macOS from {newer[symbol]} on, and the image is for {image.minimum}"
        for symbol, _, weak in image.imports()
        if symbol in newer and not weak
    ]
