"""libmpsprobe_worker by ctypes: has a program of Python's called back by the worker's C library.

Threads are `threading`'s: each calls into the library, which releases the interpreter's lock for it,
and a callback takes the lock again with the same thread state. Barriers and waits are the library's,
without the lock.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import math
import os
import sys
import threading

from . import interruptions
from .program import Cell, Failure, Program, SetupFailed, Unsupported
from .telling import print_traceback, root_of, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NoReturn

ABI = 2
PROTOCOL = 2  # docs/protocol.md
OK = 0
STATUS = {
    "exception": 1,
    "wrong_result": 2,
    "gpu_error": 3,
    "out_of_memory": 4,
    "unsupported": 5,
    "setup_failed": 6,
}

_Handle = ctypes.c_void_p
_Out = ctypes.POINTER(ctypes.c_void_p)
_Text = ctypes.c_void_p  # a callback cannot return c_char_p: whose memory would it be?
_Status = ctypes.c_int


class _Checked(ctypes.Structure):
    _fields_ = (
        ("checked", ctypes.c_uint64),
        ("unchecked", ctypes.c_uint64),
        ("wrong_iteration", ctypes.c_int32),
    )


_ThreadBody = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# struct mpsprobe_worker after its first two fields: name, what it returns, what it takes.
_CALLBACKS = (
    ("begin", None, (_Handle,)),
    ("describe", _Text, (_Handle,)),
    ("provenance", _Text, (_Handle, ctypes.c_char_p)),
    ("make_workload", _Status, (_Handle, ctypes.c_void_p, ctypes.c_uint64, _Out)),
    ("touch_device", _Status, (_Handle,)),
    ("make_lane", _Status, (_Handle, ctypes.c_int32, _Out)),
    ("settle", _Status, (_Handle,)),
    ("wait_beside", _Status, (_Handle,)),
    ("observed_path", _Text, (_Handle,)),
    ("free_workload", None, (_Handle,)),
    ("operation", _Text, (_Handle,)),
    ("enter", _Status, (_Handle,)),
    ("launch", _Status, (_Handle, ctypes.c_int32)),
    ("synchronise", _Status, (_Handle,)),
    ("leave", None, (_Handle,)),
    ("check", _Status, (_Handle, ctypes.POINTER(_Checked))),
    ("free_lane", None, (_Handle,)),
    ("start_thread", _Status, (_Handle, ctypes.c_int32, _ThreadBody, ctypes.c_void_p, _Out)),
    ("join_thread", None, (_Handle, _Handle)),
)
_TYPES = {name: ctypes.CFUNCTYPE(result, *takes) for name, result, takes in _CALLBACKS}


_Sizes = ctypes.POINTER(ctypes.c_int64)
_TextOut = (ctypes.c_char_p, ctypes.c_size_t)
# mpsprobe/worker.h and mpsprobe/numbers.h: name, what it returns, what it takes.
_FUNCTIONS: tuple[tuple[str, Any, tuple[Any, ...]], ...] = (
    ("mpsprobe_explain", None, (ctypes.c_char_p,)),
    ("mpsprobe_tell_exception", None, (ctypes.c_char_p,)),
    ("mpsprobe_cell_value", ctypes.c_char_p, (ctypes.c_void_p, ctypes.c_char_p)),
    ("mpsprobe_worker_main", ctypes.c_int, (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
    ("mpsprobe_numbers_new", ctypes.c_void_p, (ctypes.c_uint64, ctypes.c_uint64)),
    ("mpsprobe_numbers_normal", None, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)),
    (
        "mpsprobe_numbers_uniform",
        None,
        (ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_void_p, ctypes.c_size_t),
    ),
    ("mpsprobe_numbers_free", None, (ctypes.c_void_p,)),
    (
        "mpsprobe_compare",
        ctypes.c_int,
        (
            *(ctypes.c_char_p, ctypes.c_char, ctypes.c_char_p, ctypes.c_char, _Sizes, ctypes.c_size_t),
            *(ctypes.c_int, ctypes.c_double, ctypes.c_int64, *_TextOut),
        ),
    ),
    (
        "mpsprobe_compare_with_normal",
        ctypes.c_int,
        (ctypes.c_char_p, ctypes.c_char, _Sizes, ctypes.c_size_t, *_TextOut),
    ),
    (
        "mpsprobe_positive_product",
        None,
        (ctypes.c_char_p, ctypes.c_char_p, *(ctypes.c_int64,) * 3, ctypes.c_void_p),
    ),
    ("mpsprobe_read_shape", ctypes.c_int, (*(ctypes.c_char_p,) * 4, _Sizes, *_TextOut)),
    ("mpsprobe_loaded_image", ctypes.c_int, (ctypes.c_char_p, *_TextOut)),
)


class _Worker(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        *((name, _TYPES[name]) for name, _, _ in _CALLBACKS),
    )


def _library_path() -> str:
    """Beside the package, or where MPSPROBE_WORKER_LIBRARY says."""
    given = os.environ.get("MPSPROBE_WORKER_LIBRARY")
    if given:
        return given
    name = "libmpsprobe_worker." + ("dylib" if sys.platform == "darwin" else "so")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    if not os.path.exists(path):
        raise SetupFailed(
            f"{path} is missing. Install the package again, or name the library: MPSPROBE_WORKER_LIBRARY"
        )
    return path


_loaded: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    """The worker's C library, loaded once."""
    global _loaded
    if _loaded is None:
        try:
            _loaded = ctypes.CDLL(_library_path())
        except OSError as problem:
            raise SetupFailed(f"the worker's C library cannot be loaded: {problem}") from None
        for name, result, takes in _FUNCTIONS:
            function = getattr(_loaded, name)
            function.restype, function.argtypes = result, takes
    return _loaded


def text_of(problem: BaseException, tells_runtime_error: bool = False) -> str:
    """What the runner is told: what the exception comes of, with its type (Program.tells_runtime_error)."""
    problem = root_of(problem)
    text = words_of(problem)
    bare = type(problem) is RuntimeError and text and not tells_runtime_error
    if isinstance(problem, Failure) or bare:
        return text
    name = type(problem).__name__
    return f"{name}: {text}" if text else name


def _status_of(problem: BaseException) -> int:
    if isinstance(problem, Failure):
        return STATUS[problem.kind]
    print_traceback(problem)
    return STATUS["out_of_memory" if isinstance(root_of(problem), MemoryError) else "exception"]


def stack_of(cell: Cell) -> int:
    """What the cell asks for. Raises Unsupported where threads of Python's cannot have it."""
    size = cell.number("stack")
    try:
        threading.stack_size(threading.stack_size(size))
    except ValueError as problem:
        raise Unsupported(f"stack={size}: threading.stack_size takes no such: {problem}") from None
    return size


class HostThread:
    """A thread of `threading`. Its end comes after its work, when it may: see ThreadEnds."""

    def __init__(
        self, work: Callable[[], None], slot: int, stack: int, may_end: threading.Event | None
    ) -> None:
        """`stack` in bytes; 0 is the interpreter's default."""
        self._done = threading.Event() if may_end else None
        self._may_end = may_end
        self._work = work
        run = self._run if may_end else work
        self.thread = threading.Thread(target=run, name=f"mpsprobe {slot}", daemon=True)
        before = threading.stack_size(stack) if stack else 0
        try:
            self.thread.start()
        finally:
            if stack:
                threading.stack_size(before)  # theirs have what they ask for

    def _run(self) -> None:
        assert self._done is not None and self._may_end is not None
        try:
            self._work()
        finally:
            self._done.set()
        self._may_end.wait()

    def wait(self) -> None:
        """Until its work is done, and where it may end, until it has ended."""
        if self._done is None:
            self.thread.join()
        else:
            self._done.wait()


class ThreadEnds:
    """When threads end. Those of the last round live until the process ends, as a pool's do, and the
    main thread joins them right before the interpreter ends: what is torn down when a thread ends then
    meets an interpreter that ends. Those of earlier rounds end when they are joined, as do all where each
    starts after the one before it has ended. With end=exit nobody waits for any."""

    def __init__(self) -> None:
        self.go_on = False
        self._kept: list[threading.Thread] = []
        self._may_end = threading.Event()
        self._to_come: float = 0  # threads that end when they are joined; then come those that do not

    def plan(self, cell: Cell) -> None:
        self.go_on = cell["end"] == "exit"
        rounds_before = cell.number("threads") * (cell.number("churn") - 1)
        self._to_come = math.inf if cell["start"] == "sequential" else rounds_before

    def of_next(self) -> threading.Event | None:
        self._to_come -= 1
        return self._may_end if self._to_come < 0 else None

    def keep(self, thread: threading.Thread) -> None:
        self._kept.append(thread)

    def end_all(self) -> None:
        self._may_end.set()
        for thread in self._kept:
            thread.join()


def _calling(name: str) -> Callable[..., int]:
    """A method of _Adapter that calls the one of that name of what the library holds, which returns nothing."""

    def call(self: _Adapter, held: int, *arguments: int) -> int:
        getattr(self._objects[held], name)(*arguments)
        return OK

    return call


class _Adapter:
    """The callbacks of struct mpsprobe_worker over a program. Their names are those of the struct."""

    def __init__(self, program: Program, forked: Callable[[], bool]) -> None:
        self._program = program
        self._objects: dict[int, Any] = {}  # what the library holds by a number: workloads, lanes, threads
        self._texts: dict[Any, ctypes.Array[ctypes.c_char]] = {}
        self._forked = forked
        self._ends = ThreadEnds()
        self._stack = 0

    def _hold(self, thing: Any) -> int:
        self._objects[id(thing)] = thing
        return id(thing)

    def _text(self, owner: Any, text: str) -> int:
        """The address of a text that lives until its owner gives another."""
        buffer = ctypes.create_string_buffer(text.encode("utf-8", "replace"))
        self._texts[owner] = buffer
        return ctypes.addressof(buffer)

    # of the program
    def begin(self, _context: int) -> None:
        if self._forked():
            ctypes.pythonapi.PyOS_AfterFork_Child()
        self._program.begin()

    def describe(self, _context: int) -> int:
        answer = {"mpsprobe_worker": PROTOCOL, **self._program.describe()}
        answer.setdefault("axes", [])
        for entry in (answer, *answer["backends"], *answer["operations"]):
            if "axes" in entry:  # of the threads here, whatever the lanes honour
                entry["axes"] = [*entry["axes"], "stack"]
        return self._text("describe", json.dumps(answer))

    def provenance(self, _context: int, cell_text: bytes) -> int:
        return self._text(
            "provenance", json.dumps(self._program.provenance(cell_of_text(cell_text.decode())))
        )

    def make_workload(self, _context: int, cell: int, seed: int, out: Any) -> int:
        def value_of(axis: str) -> str | None:
            value = library().mpsprobe_cell_value(cell, axis.encode())
            return None if value is None else value.decode()

        asked = Cell(value_of)
        self._ends.plan(asked)
        self._stack = stack_of(asked)
        out[0] = self._hold(self._program.make_workload(asked, seed))
        return OK

    # of the workload
    touch_device, settle, wait_beside = map(_calling, ("touch_device", "settle", "wait_beside"))

    def make_lane(self, workload: int, thread: int, out: Any) -> int:
        out[0] = self._hold(self._objects[workload].make_lane(thread))
        return OK

    def observed_path(self, workload: int) -> int:
        return self._text("observed_path", self._objects[workload].observed_path())

    def free_workload(self, workload: int) -> None:
        self._objects[workload].close()
        self._objects.pop(workload, None)

    # of a lane
    enter, launch, synchronise, leave = map(_calling, ("enter", "launch", "synchronise", "leave"))

    def operation(self, lane: int) -> int:
        if lane not in self._texts:
            self._text(lane, self._objects[lane].operation())
        return ctypes.addressof(self._texts[lane])

    def check(self, lane: int, out: Any) -> int:
        checked = self._objects[lane].check()
        out[0].checked = checked.checked
        out[0].unchecked = checked.unchecked
        out[0].wrong_iteration = checked.wrong_iteration
        if checked.difference:
            library().mpsprobe_explain(checked.difference.encode("utf-8", "replace"))
        return OK

    def free_lane(self, lane: int) -> None:
        self._texts.pop(lane, None)
        self._objects.pop(lane, None)

    # of threads
    def start_thread(self, _context: int, slot: int, body: Any, argument: int, out: Any) -> int:
        may_end = self._ends.of_next()
        thread = HostThread(lambda: body(argument), slot, self._stack, may_end)
        if may_end is not None:
            self._ends.keep(thread.thread)
        out[0] = self._hold(thread)
        return OK

    def join_thread(self, _context: int, thread: int) -> None:
        self._objects[thread].wait()
        self._objects.pop(thread, None)

    def end_threads(self) -> bool:
        """The rest of them, unless their work goes on until the process has ended: false then."""
        if not self._ends.go_on:
            self._ends.end_all()
        return not self._ends.go_on


def _guarded(program: Program, call: Callable[..., Any], result: Any) -> Callable[..., Any]:
    """No exception leaves a callback: ctypes would print it and go on as if nothing were. Of one that returns
    nothing, such as `leave`, nobody asks how it ended: that is told."""

    def guarded(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except BaseException as problem:  # SystemExit of a program under test as well
            if result is None:
                _tell(program, problem)
                return None
            status = _status_of(problem)
            text = text_of(problem, program.tells_runtime_error)
            library().mpsprobe_explain(text.encode("utf-8", "replace"))
            return status if result is _Status else None

    return guarded


def _tell(program: Program, problem: BaseException) -> None:
    """What ended nothing that the library asks about, as an exception of the main thread: see interruptions."""
    _status_of(problem)
    text = text_of(problem, program.tells_runtime_error)
    library().mpsprobe_tell_exception(text.encode("utf-8", "replace"))


def cell_of_text(text: str) -> Cell:
    """A cell of its text form; axes at their default are not in it."""
    backend, operation, path, *rest = text.split("/")
    values = {"backend": backend, "op": operation, "path": path}
    values.update(part.partition("=")[::2] for part in rest)
    return Cell(values.get)


def exit_beside_threads(status: int) -> NoReturn:
    """The interpreter's end as threads that go on meet it: its exit functions run beside them. Then it keeps its lock,
    so that they get on in what needs none, beside the libraries' destructors. It is not taken apart: before Python 3.14
    that unwinds each thread that wants the lock, through frames of the worker's library, which ends the process."""
    try:
        atexit._run_exitfuncs()
    finally:
        ctypes.PyDLL(None).exit(status)


def run(program: Program, arguments: list[str]) -> int:
    """The whole life of a worker: describe, run, standby, fork. Returns what main returns."""
    main_process = os.getpid()
    interruptions.tell = lambda problem: _tell(program, problem)
    adapter = _Adapter(program, lambda: os.getpid() != main_process)
    worker = _Worker(abi=ABI, context=None)
    for name, result, _ in _CALLBACKS:
        if name == "wait_beside" and not program.waits_beside:
            continue
        setattr(worker, name, _TYPES[name](_guarded(program, getattr(adapter, name), result)))
    words = [b"mpsprobe-python-worker", *(os.fsencode(word) for word in arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    status: int = library().mpsprobe_worker_main(len(words), argv, ctypes.byref(worker))
    have_ended = adapter.end_threads()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):  # none, closed, or full: theirs
            pass
    program.end(os.getpid() != main_process, status)
    if not have_ended:
        exit_beside_threads(status)
    return status
