"""What is told of an exception, whatever it or the code that raised it did to itself."""

from __future__ import annotations

import importlib
import os

NOT_THEIRS = ("<", os.path.dirname(__file__), os.path.dirname(importlib.__file__))


def in_words(problem: BaseException) -> str:
    """With its type, and the place in their code that it came from."""
    import traceback

    text = words_of(problem)
    name = type(problem).__name__
    frames = [
        frame
        for frame in traceback.extract_tb(problem.__traceback__)
        if not frame.filename.startswith(NOT_THEIRS)
    ]
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{name}: {text}{place}" if text else name + place


def root_of(problem: BaseException) -> BaseException:
    """What it comes of by the code's own words, `raise ... from`. What was only being handled when it was raised is
    no cause: a handler may try another way, and fail of that."""
    for _ in range(100):  # a chain may be a circle
        problem = problem if problem.__cause__ is None else problem.__cause__
    return problem


def words_of(problem: BaseException) -> str:
    """Its text; where its own `__str__` fails, that it does."""
    try:
        return str(problem)
    except BaseException:
        return "<exception str() failed>"  # as the interpreter writes it


def print_traceback(problem: BaseException) -> None:
    """To the process's own stderr: whatever runs here may have replaced or closed `sys.stderr`."""
    import traceback  # no trial that passes needs it

    lines = traceback.format_exception(type(problem), problem, problem.__traceback__)
    try:
        os.write(2, "".join(lines).encode("utf-8", "backslashreplace"))
    except OSError:  # it closed that too
        pass
