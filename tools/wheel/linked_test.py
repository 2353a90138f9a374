#!/usr/bin/env python3
"""Would a package of these programs run where nothing was installed for them? Of the build tree, which takes a second,
where a package takes minutes: that each program and library of the package links what every system has, what its build
compiles in, or what it lays beside them; and that the package stays as small as it must.

  linked_test.py PARTS    PARTS is what mpsprobe_install (cmake/Layout.cmake) writes of the package
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from check_wheel import DATA, LIBRARY, MEGABYTES, PROGRAMS, SYSTEM_LINUX  # noqa: E402

PARTS = {}
# What the package adds to the programs of the preset dev: three libraries compiled in, others beside, data, notices.
# 5.36 MB where these programs were 4.00 MB, packed in the same way.
OTHERS_MEGABYTES = 1.36


def needed_by(file):
    """The names of the libraries that the loader looks for."""
    told = subprocess.run(["readelf", "--dynamic", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", told)


def problems_of(file, given):
    """What it links that the package does not have."""
    name = pathlib.Path(file).name
    return [
        f"{name} links {library}, which no system has to have. What a program of the package links is compiled in or "
        "laid beside it: see MPSPROBE_COMPILED_IN and MPSPROBE_LAID_BESIDE in cmake/Layout.cmake"
        for library in needed_by(file)
        if not SYSTEM_LINUX.fullmatch(library)
        and re.sub(r"^lib(.*?)\.so.*", r"\1", library) not in given
    ]


def packed_size(file, strip):
    """In bytes, as the package holds it: without what the linker leaves out there (mpsprobe_stands_alone)."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder, "stripped")
        subprocess.run(["strip", strip, "-o", stripped, file], check=True)
        return len(zlib.compress(stripped.read_bytes()))


class Linked(unittest.TestCase):
    def test_what_a_package_must_have_is_there(self):
        """Else check_wheel.py refuses every package."""
        packed = [pathlib.Path(file) for file in PARTS["programs"]]
        self.assertEqual({file.stem for file in packed}, {*PROGRAMS, LIBRARY})
        share = packed[0].parent.parent / "share/mpsprobe"
        self.assertEqual([name for name in sorted(DATA) if not (share / name).is_file()], [])

    def test_programs_link_what_the_package_has(self):
        given = {*PARTS["compiled_in"], *PARTS["beside"]}
        self.assertEqual([line for file in PARTS["programs"] for line in problems_of(file, given)], [])

    def test_the_library_of_workers_links_what_every_system_has(self):
        """The package has it beside its modules in Python, where it looks for nothing."""
        self.assertEqual(problems_of(PARTS["library"], {"fmt"}), [])  # there compiled in

    def test_what_the_package_has_not_is_told(self):
        [program] = [file for file in PARTS["programs"] if pathlib.Path(file).name == "mpsprobe"]
        told = "\n".join(problems_of(program, set(PARTS["beside"])))
        self.assertIn("mpsprobe links libarchive.so", told)
        self.assertNotIn("libdw", told)

    def test_it_stays_small(self):
        # The runner's functions are in no stack that a report shows.
        sizes = {
            pathlib.Path(file).name: packed_size(file, "-s" if file.endswith("/mpsprobe") else "--strip-debug")
            for file in [*PARTS["programs"], PARTS["library"]]
        }
        megabytes = sum(sizes.values()) / 1e6
        self.assertLess(megabytes + OTHERS_MEGABYTES, MEGABYTES["linux"], f"{megabytes:.2f} MB: {sizes}")


if __name__ == "__main__":
    PARTS = json.loads(pathlib.Path(sys.argv.pop(1)).read_text())
    unittest.main()
