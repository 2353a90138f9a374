"""What a handler of a signal raises while the main thread runs code of this package, and what a thread of the code under
test dies of.

Python runs handlers on the main thread, between any two of its instructions. What one raises while the
package waits for threads must not make it go on without them. It is told to the runner at once, as an
exception of the main thread, which it would end in a program of one's own, and the trial goes on. So is
what a thread dies of: printed at the same time by several it could not be read. Code under test may set
a handler, or take hold of signal.signal, when it is imported: watched before that.
"""

from __future__ import annotations

import os
import signal
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
STANDARD = os.path.dirname(os.__file__) + os.sep


def runs_package(frame: FrameType | None) -> bool:
    """Whether it is code of this package, or of the interpreter's library for it, that is interrupted."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE):
            return True
        if not file.startswith((STANDARD, "<")) or "-packages" in file:
            return False
        frame = frame.f_back
    return True


# Gets it from when the run begins.
tell: Callable[[BaseException], None] | None = None


def watch() -> None:
    """The handler of SIGINT, and those that are set from now on."""
    set_handler, get_handler = signal.signal, signal.getsignal
    told: set[type] = set()
    given: dict[Any, Any] = {}  # by the handler that stands in its place
    print_of_thread = threading.excepthook

    def tell_once(problem: BaseException) -> None:
        if type(problem) not in told:  # a timer may ring a thousand times a second
            told.add(type(problem))
            tell(problem)

    def tell_of_thread(args: Any) -> None:
        if tell is None or args.exc_type is SystemExit:
            print_of_thread(args)
        else:
            tell_once(args.exc_value)

    def guarded(handler: Any) -> Any:
        handling = False

        def handle(number: int, frame: FrameType | None) -> None:
            nonlocal handling
            if handling:  # a timer that rings faster than this takes would nest until the stack is full
                return
            handling = True
            try:
                handler(number, frame)
            except BaseException as problem:
                if tell is None or not runs_package(frame):
                    raise
                tell_once(problem)
            finally:
                handling = False

        if not callable(handler):
            return handler
        given[handle] = handler
        return handle

    def set_guarded(number: int, handler: Any) -> Any:
        before = set_handler(number, guarded(handler))
        return given.get(before, before)

    def get_given(number: int) -> Any:
        handler = get_handler(number)
        return given.get(handler, handler)

    if get_handler(signal.SIGINT) is signal.default_int_handler:
        set_guarded(signal.SIGINT, signal.default_int_handler)
    threading.excepthook = tell_of_thread
    signal.signal, signal.getsignal = set_guarded, get_given  # type: ignore[assignment]
