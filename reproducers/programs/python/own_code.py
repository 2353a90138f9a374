# Threads call one function at the same time. Run: python3 reproducer.py
# Exit status: 0 not reproduced; 1 reproduced; 2 the control failed (the main thread alone makes
# all calls), and so threads are not what it needs.
# Each attempt is a process of its own. Results are compared with what the main thread gets afterwards.
import importlib, inspect, os, signal, subprocess, sys, threading, traceback

# ---- parameters: begin
MODULE, FOLDER, FUNCTION = "app", ".", "infer"
THREADS, ITERATIONS, ROUNDS, RUNS = 4, 10, 1, 20
LOCKED, IN_TURN, WARM_UP, CLEAR_STREAMS, STACK = False, False, False, False, 0
# ---- parameters: end


def call(function, *given):
    return function(*given[: len(inspect.signature(function).parameters)]) if function else None


def plain(value):  # what is lazy is computed here
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def same(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return abs(a - b) <= 1e-4 * (1 + abs(b)) if isinstance(a, float) and isinstance(b, float) else a == b or a != a


def attempt(threads):
    sys.path.insert(0, FOLDER) if os.path.isdir(FOLDER) else None  # else the copy beside this program
    code = importlib.import_module(MODULE)
    beside = lambda what: getattr(code, f"{FUNCTION}_{what}", None) or getattr(code, what, None)
    function, results, raised, running = getattr(code, FUNCTION), [], [], []
    lock, done, may_end = threading.Lock(), threading.Semaphore(0), threading.Event()
    call(beside("setup"))
    plain(call(function, 0, 0)) if WARM_UP else None

    def work(mine, barrier, is_last):
        try:
            call(beside("thread_setup"), mine[0])
            barrier.wait()
            for n in range(ITERATIONS):
                for thread in mine:
                    with lock if LOCKED else threading.Lock():
                        results.append((thread, n, plain(call(function, thread, n))))
            call(beside("thread_teardown"), mine[0])
        except BaseException:
            raised.append(traceback.format_exc())
            barrier.abort()
        sys.modules["mlx.core"].clear_streams() if CLEAR_STREAMS and threads else None
        done.release()
        may_end.wait() if is_last and threads and not IN_TURN else None  # such threads end with the interpreter

    threading.stack_size(STACK)
    for k in range(ROUNDS):
        barrier, last = threading.Barrier(1 if IN_TURN else threads or 1), k + 1 == ROUNDS
        if not threads:
            work(range(THREADS), barrier, last)
        for thread in range(threads):
            running.append(threading.Thread(target=work, args=([thread], barrier, last), daemon=True))
            running[-1].start()
            running[-1].join() if IN_TURN else None
        [done.acquire() for _ in range(threads or 1)]
        [thread.join() for thread in running if not last]
    print(*raised[:1], file=sys.stderr, end="")
    code = 1 if raised else judge(results, lambda *given: plain(call(beside("expected") or function, *given)))
    may_end.set()
    [thread.join() for thread in running]
    return code


def judge(results, right):
    if not same(right(0, 0), right(0, 0)):
        return print("not compared: two calls by one thread differ") or 0
    for thread, n, got in results:
        if not same(got, right(thread, n)):
            return print(f"thread {thread}, call {n}: expected {right(thread, n)}, got {got}"[:500]) or 3
    return 0


if len(sys.argv) > 1:
    sys.exit(attempt(int(sys.argv[1])))
failed = {}
for arm, threads in {"threads": THREADS, "control: main thread alone": 0}.items():
    failed[arm] = []
    for run in range(RUNS):
        try:
            code = subprocess.run([sys.executable, __file__, str(threads)], timeout=60).returncode
        except subprocess.TimeoutExpired:
            code = "no end after 60 s"
        known = {1: "exception", 3: "wrong result"}
        how = code if isinstance(code, str) else known.get(code) or (signal.Signals(-code).name if code < 0 else code)
        failed[arm] += [how] if code else []
        if code == "no end after 60 s":
            break
    print(f"{arm}: {len(failed[arm])} of {run + 1} failed", *sorted({f"{each}" for each in failed[arm]}))
alone = failed["control: main thread alone"] and THREADS > 1
code = 2 if alone else 1 if failed["threads"] else 0
print(["NOT REPRODUCED", "REPRODUCED", "CONTROL FAILED"][code])
sys.exit(code)
