#!/usr/bin/env python3
"""What came of test programs that CTest ran:

  count_tests.py PROGRAMS FOLDER    PROGRAMS is what ctest --output-junit wrote; FOLDER has GoogleTest's NAME.xml of each

Names each test that failed, and each program that failed without a test that did: it was not started, or died. The last
line on stdout is "N passed, M failed"; what a test skipped counts as neither.

Exit codes: 0 all passed; 1 not; 2 wrong usage.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def tests_of(file):
    """Name -> whether it passed, of one program; none where it wrote nothing, or half of it before it died."""
    try:
        cases = ElementTree.parse(file).iter("testcase")
    except (OSError, ElementTree.ParseError):
        return {}
    return {
        f"{case.get('classname')}.{case.get('name')}": case.find("failure") is None
        for case in cases
        if case.get("status") == "run" and case.find("skipped") is None
    }


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    passed = 0
    failed = []
    try:
        programs = list(ElementTree.parse(sys.argv[1]).iter("testcase"))
    except (OSError, ElementTree.ParseError) as problem:
        print(f"FAILED: {sys.argv[1]} cannot be read, so ctest did not end: {problem}\n0 passed, 1 failed")
        return 1
    for program in programs:
        name = program.get("name")
        tests = tests_of(pathlib.Path(sys.argv[2], f"{name}.xml"))
        passed += sum(tests.values())
        of_it = [f"{name}: {test}" for test, well in tests.items() if not well]
        if program.get("status") == "fail" and not of_it:
            of_it = [f"{name}, after {len(tests)} tests, or it was not started"]
        passed += program.get("status") == "run" and not tests
        failed += of_it
    for line in failed:
        print(f"FAILED: {line}")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
