#!/usr/bin/env python3
"""Verifies a wheel of mpsprobe, before anybody installs it:

  check_wheel.py WHEEL

- what has to be in it: programs, data, the notices of what it contains of others
- programs and libraries take nothing from the machine but what the platform in its name guarantees, look for the
  libraries that come along where pip puts them, and nowhere else
- no file names a folder of the machine that built it
- its size

What does not hold is named, one a line, on stderr. The last line on stdout is "N passed, M failed".

Exit codes: 0 all holds; 1 something does not; 2 wrong usage.
"""

import glob
import io
import os
import re
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "cmake", "macos"))
sys.path.insert(0, os.path.join(ROOT, ".deps", "wheel-tools"))

import availability  # noqa: E402
import mach_o  # noqa: E402

PROGRAMS = {"mpsprobe", "mpsprobe-selftest-worker", "mpsprobe-sim-worker", "mpsprobe-command-worker"}
LIBRARY = "libmpsprobe_preload"
DATA = {"matrices/quick.json", "schema/report.schema.json", "programs/threads.cpp.mustache"}
# What every system has on which the platform of a wheel lets pip install it (PEP 600), and that only a Mac has.
SYSTEM_LINUX = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz|ld-linux-[a-z0-9-]+)\.so\.\d+")
SYSTEM_MAC = re.compile(r"/usr/lib/|/System/Library/Frameworks/")
HEADERS = glob.glob(os.path.join(ROOT, ".deps/macos/zig-*/ziglang/lib/libc/include/any-darwin-any"))
BESIDE = "$ORIGIN/../lib/mpsprobe"
MEGABYTES = {"linux": 6, "macosx": 4.5}


class Elf:
    """What an ELF file asks of the loader."""

    def __init__(self, data):
        from elftools.elf.elffile import ELFFile

        dynamic = ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic")
        tags = list(dynamic.iter_tags()) if dynamic else []
        self.needed = [tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"]
        paths = [
            getattr(tag, "rpath", None) or getattr(tag, "runpath", "")
            for tag in tags
            if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")
        ]
        self.run_path = [folder for path in paths for folder in path.split(":")]


class MachO:
    def __init__(self, data):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            self.image = mach_o.Image(file.name)


class Wheel:
    def __init__(self, path):
        self.path = path
        self.platform = path.rsplit("-", 1)[1].removesuffix(".whl")
        self.mac = self.platform.startswith("macosx")
        with zipfile.ZipFile(path) as archive:
            self.files = {name: archive.read(name) for name in archive.namelist()}

    def below(self, folder):
        """Name below the folder -> content, of all files there."""
        pattern = re.compile(folder)
        return {name[match.end() :]: data for name, data in self.files.items() if (match := pattern.match(name))}

    def images(self):
        """Name -> content of what the loader loads."""
        return {name: data for name, data in self.files.items() if data[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")}


def contents(wheel):
    """What is missing."""
    missing = [f"the program {name}" for name in sorted(PROGRAMS - set(wheel.below(r"mpsprobe-[^/]*\.data/scripts/")))]
    if not any(name.startswith(LIBRARY) for name in wheel.below(r"mpsprobe-[^/]*\.data/data/lib/")):
        missing.append(f"the library {LIBRARY}")
    data = wheel.below(r"mpsprobe-[^/]*\.data/data/share/mpsprobe/")
    return [f"{what} is missing" for what in missing + sorted(DATA - set(data))]


def notices(wheel):
    """What is contained of others without a word on its terms."""
    texts = wheel.below(r"mpsprobe-[^/]*\.dist-info/licenses/")
    page = texts.get("THIRD-PARTY.txt", b"").decode()
    problems = [] if page else ["THIRD-PARTY.txt is missing: it says what is contained of others"]
    problems += [] if "LICENSE" in texts else ["LICENSE is missing: mpsprobe's own terms"]
    problems += [
        f"THIRD-PARTY.txt names {name}, which is missing"
        for name in sorted(set(re.findall(r"[\w.-]+\.txt", page)))
        if name not in texts
    ]
    for library in wheel.below(r"mpsprobe-[^/]*\.data/data/lib/mpsprobe/"):
        name = library.split(".so")[0]
        if not re.search(rf"^{re.escape(name)}\b", page, re.MULTILINE):
            problems.append(f"{library} is in it, and THIRD-PARTY.txt does not name {name}")
    return problems


def imports(wheel):
    """What a program or library takes from where it need not be."""
    problems = []
    beside = set(wheel.below(r"mpsprobe-[^/]*\.data/data/lib/mpsprobe/"))
    for name, data in wheel.images().items():
        if wheel.mac:
            image = MachO(data).image
            problems += [
                f"{name} takes {library} from the machine"
                for library in image.libraries
                if not SYSTEM_MAC.match(library)
            ]
            wanted = ".".join(wheel.platform.split("_")[1:3])
            if (image.platform, image.minimum) != ("macos", wanted):
                problems.append(f"{name} is for {image.platform} {image.minimum}, the wheel for macOS {wanted}")
            for headers in HEADERS:
                problems += availability.problems_of(name, image, availability.newer_than(wanted, headers))
            continue
        elf = Elf(data)
        for library in elf.needed:
            if not SYSTEM_LINUX.fullmatch(library) and not (
                library in beside and (BESIDE in elf.run_path or "/lib/mpsprobe/" in name)
            ):
                problems.append(f"{name} takes {library} from the machine")
        problems += [
            f"{name} looks for libraries in {folder}" for folder in elf.run_path if not folder.startswith("$ORIGIN/")
        ]
    return problems


def folders(wheel):
    """What names a folder of the machine that built it."""
    return [f"{name} names {ROOT}" for name, data in wheel.files.items() if ROOT.encode() + b"/" in data]


def size(wheel):
    most = MEGABYTES["macosx" if wheel.mac else "linux"]
    megabytes = os.path.getsize(wheel.path) / 1e6
    return [f"{megabytes:.2f} MB, more than {most}"] if megabytes > most else []


def platform(wheel):
    """A name that lets pip install it on machines which it was not made for."""
    good = re.fullmatch(r"manylinux_2_(\d+)_(x86_64|aarch64)|macosx_14_0_arm64", wheel.platform)
    if not good or (good[1] and int(good[1]) > 36):
        return [f"{wheel.platform} is no platform that it is built for"]
    return []


CHECKS = (platform, contents, notices, imports, folders, size)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    wheel = Wheel(sys.argv[1])
    failed = 0
    for check in CHECKS:
        problems = check(wheel)
        failed += bool(problems)
        for problem in problems:
            print(f"{os.path.basename(wheel.path)}: {problem}", file=sys.stderr)
    print(f"{os.path.getsize(wheel.path) / 1e6:.2f} MB, {wheel.platform}")
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
