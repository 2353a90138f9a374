"""An environment for one release of a library, and the Python worker in it: what bisect makes for each.

    mpsprobe-python-worker environment REQUIREMENT...

installs what is named (`mlx[cpu]==0.31.1`, `numpy`) into an environment of its own, by uv where that is in
PATH, else by venv and pip, and prints the path of a worker with that interpreter. It is kept in
$XDG_CACHE_HOME/mpsprobe/environments, and made once.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

# Of the package that asked, under its own name: nothing else of its environment can be seen.
# Started by sh: the first line of a program ends at a space, and may be no longer than the system allows.
WORKER = """#!/bin/sh
'''exec' {python} "$0" "$@"
' '''
import importlib.util, os, sys

{variables}
place = {package!r}
find = importlib.util.spec_from_file_location
spec = find("mpsprobe", place + "/__init__.py", submodule_search_locations=[place])
sys.modules["mpsprobe"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from mpsprobe.worker import main

sys.exit(main())
"""
LIBRARIES = ("MPSPROBE_WORKER_LIBRARY", "MPSPROBE_SELFTEST_LIBRARY")  # of a build tree


def folder_for(requirements: list[str]) -> Path:
    """Its name tells a person what is in it, and differs where the interpreter does."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    words = "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", each).strip("-") for each in requirements)
    mark = hashlib.sha256("\n".join([sys.base_prefix, sys.version, *requirements]).encode()).hexdigest()
    return Path(cache) / "mpsprobe" / "environments" / f"{words[:60]}-{mark[:12]}"


def install(folder: Path, requirements: list[str]) -> None:
    """Raises CalledProcessError where the library cannot be had: the installer has said why."""
    uv = shutil.which("uv")
    python = folder / "bin" / "python3"
    if uv:
        words = [[uv, "venv", "--quiet", "--python", sys.executable, str(folder)]]
        words += [[uv, "pip", "install", "--quiet", "--python", str(python), *requirements]]
    else:
        venv.create(folder, with_pip=True)
        words = [
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        ]
    for each in words:
        subprocess.run(each, check=True, stdout=sys.stderr.fileno())


def make(requirements: list[str]) -> Path:
    """The path of the worker. It is written last, so that an environment without one is made again."""
    folder = folder_for(requirements)
    worker = folder / "bin" / "mpsprobe-python-worker"
    variables = "\n".join(
        f"os.environ.setdefault({name!r}, {os.environ[name]!r})" for name in LIBRARIES if name in os.environ
    )
    package = str(Path(__file__).resolve().parent)
    text = WORKER.format(
        python=shlex.quote(str(folder / "bin" / "python3")), package=package, variables=variables
    )
    if not worker.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        install(folder, requirements)
    elif worker.read_text() == text:
        return worker
    unfinished = worker.with_suffix(".new")
    unfinished.write_text(text)
    unfinished.chmod(0o755)
    unfinished.replace(worker)
    return worker


def fail(requirements: list[str], problem: str) -> int:
    words = " ".join(requirements)
    print(f"mpsprobe-python-worker: environment with {words}: {problem}", file=sys.stderr)
    return 3


def main(requirements: list[str]) -> int:
    """Prints the worker's path as the last line. 3 where the environment cannot be made."""
    if not requirements or any(each.startswith("-") for each in requirements):
        print(
            "usage: mpsprobe-python-worker environment REQUIREMENT..., as mlx==0.31.1, without options",
            file=sys.stderr,
        )
        return 2
    try:
        print(make(requirements))
    except OSError as problem:
        return fail(requirements, f"{problem}. Name another folder for what is kept: XDG_CACHE_HOME")
    except subprocess.CalledProcessError as problem:
        return fail(requirements, f"{Path(problem.cmd[0]).name} exited with {problem.returncode}")
    return 0
