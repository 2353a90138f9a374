#!/usr/bin/env python3
"""Verifies images that were cross-built for macOS, after the link:

  check_images.py --library FILE... --stubs FILE-OR-FOLDER... [--headers FOLDER] -- IMAGE...

Each IMAGE is for arm64 and macOS 14.0; each symbol that it takes from elsewhere has a library's name beside it, and
that library, a real one (--library) or a stub of Apple's (--stubs), exports it. And it loads nothing but what a Mac has as it
is bought (/usr/lib, /System/Library), the real libraries, and the images that are verified with it: nothing of
Homebrew's, and nothing by a path of this machine. What it loads by @rpath lies in a folder that it says itself
(LC_RPATH). And what the headers of Apple's C library (--headers) say is newer than macOS 14.0 is not needed. What does not hold is named, one a line, on stderr. The last line on
stdout is "N passed, M failed", in images.

Exit codes: 0 all hold; 1 some do not; 2 wrong usage.
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import availability  # noqa: E402
import mach_o  # noqa: E402
import text_stub  # noqa: E402

MINIMUM = "14.0"
# Where the libraries of a plain macOS lie.
SYSTEM = ("/usr/lib/", "/System/Library/")


class Libraries:
    """What libraries export, by install name."""

    def __init__(self):
        self.symbols = {}
        self.reexports = {}
        self.real = set()

    def add_image(self, image):
        self.symbols[image.install_name] = image.exports()
        self.reexports[image.install_name] = image.reexported

    def add_real(self, path):
        image = mach_o.Image(path)
        self.add_image(image)
        self.real.add(image.install_name)

    def add_stub(self, path):
        for name, (symbols, reexported) in text_stub.read(path).items():
            self.symbols.setdefault(name, set()).update(symbols)
            self.reexports.setdefault(name, []).extend(reexported)

    def known(self, name):
        return name in self.symbols

    def exports(self, name, symbol, seen=()):
        if symbol in self.symbols.get(name, ()):
            return True
        return any(
            self.exports(other, symbol, (*seen, name)) for other in self.reexports.get(name, ()) if other not in seen
        )


def foreign(path, image, ours):
    """Sentences on what the image loads that is neither the system's nor in `ours`, install names."""
    return [
        f"{path}: loads {name}, which a plain macOS {MINIMUM} has not"
        for name in image.libraries
        if name not in ours and not (name.startswith(SYSTEM) and ".." not in name)
    ]


def not_found(path, image):
    """Sentences on what the image loads by @rpath and none of its own folders has."""
    folders = [folder.replace("@loader_path", os.path.dirname(os.path.abspath(path))) for folder in image.run_path]
    names = [name.removeprefix("@rpath/") for name in image.libraries if name.startswith("@rpath/")]
    return [
        f"{path}: @rpath/{name} is in none of the folders that it looks into: {image.run_path or 'it has no LC_RPATH'}"
        for name in names
        if not any(os.path.exists(os.path.join(folder, name)) for folder in folders)
    ]


def problems_of(path, image, libraries, ours, used):
    """Sentences on what does not hold for the image; adds (library, symbol) of each found one to `used`."""
    problems = foreign(path, image, ours) + not_found(path, image)
    if image.cpu != mach_o.CPU_ARM64:
        problems.append(f"{path}: built for processor type {image.cpu:#x}, not arm64")
    if (image.platform, image.minimum) != ("macos", MINIMUM):
        problems.append(f"{path}: built for {image.platform or 'no platform'} {image.minimum}, not macos {MINIMUM}")
    for symbol, library, _ in image.imports():
        if library is None:
            problems.append(f"{path}: {symbol} is undefined, and the link names no library that has it")
        elif not libraries.known(library):
            problems.append(f"{path}: {symbol} is taken from {library}, of which there is no copy and no stub here")
        elif not libraries.exports(library, symbol):
            problems.append(f"{path}: {symbol} is not exported by {library}")
        else:
            used.add((library, symbol))
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", action="append", default=[], metavar="FILE", help="a real library")
    parser.add_argument("--stubs", action="append", default=[], metavar="PATH", help="a .tbd, or a folder of them")
    parser.add_argument("--headers", metavar="FOLDER", help="headers of Apple's that say since when a function is there")
    parser.add_argument("images", nargs="+", metavar="IMAGE")
    arguments = parser.parse_args()

    libraries = Libraries()
    for path in arguments.library:
        libraries.add_real(path)
    for path in arguments.stubs:
        if not os.path.isdir(path):
            libraries.add_stub(path)
        for folder, _, files in os.walk(path):
            for file in files:
                if file.endswith(".tbd"):
                    libraries.add_stub(os.path.join(folder, file))

    images = {}
    problems_read = {}
    for path in arguments.images:
        try:
            images[path] = mach_o.Image(path)
        except (OSError, ValueError) as error:
            problems_read[path] = [str(error)]
    own_libraries = [image for image in images.values() if image.install_name]
    for image in own_libraries:
        libraries.add_image(image)
    ours = libraries.real | {image.install_name for image in own_libraries}
    used = set()
    newer = availability.newer_than(MINIMUM, arguments.headers) if arguments.headers else {}
    if arguments.headers:
        print(f"{len(newer)} functions are newer than macOS {MINIMUM} by {arguments.headers}")
    failed = 0
    for path in arguments.images:
        problems = problems_read.get(path) or problems_of(path, images[path], libraries, ours, used)
        if path in images:
            problems += availability.problems_of(path, images[path], newer)
        failed += bool(problems)
        for problem in problems:
            print(problem, file=sys.stderr)
    of_real = sum(library in libraries.real for library, _ in used)
    others = len(used) - of_real
    print(f"{of_real} symbols of the real libraries and {others} of the system and our own are used and exported")
    print(f"{len(arguments.images) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
