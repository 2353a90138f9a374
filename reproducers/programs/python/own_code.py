# Threads call one function at the same time. Run: python3 reproducer.py
# Exit status: 0 not reproduced; 1 reproduced; 2 the control failed (one thread that makes all calls).
# Each attempt is a process of its own. Results are compared with what one thread alone gets.
import importlib, inspect, subprocess, sys, threading, traceback

# ---- parameters: begin
MODULE, FOLDER, FUNCTION = "app", ".", "infer"
THREADS, ITERATIONS, ROUNDS, RUNS, LOCKED = 4, 10, 1, 20, False
# ---- parameters: end


def call(function, *given):
    return function(*given[: len(inspect.signature(function).parameters)]) if function else None


def plain(value):
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
    sys.path.append(FOLDER)
    code = importlib.import_module(MODULE)
    beside = lambda what: getattr(code, f"{FUNCTION}_{what}", None) or getattr(code, what, None)
    function, results, raised, lock = getattr(code, FUNCTION), [], [], threading.Lock()
    call(beside("setup"))

    def work(first):
        try:
            call(beside("thread_setup"), first)
            barrier.wait()
            for n in range(ITERATIONS):
                for thread in range(first, THREADS, threads):
                    with lock if LOCKED else threading.Lock():
                        results.append((thread, n, plain(call(function, thread, n))))
            call(beside("thread_teardown"), first)
        except Exception:
            raised.append(traceback.format_exc())

    for _ in range(ROUNDS):
        barrier = threading.Barrier(threads)
        running = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
        [t.start() for t in running]
        [t.join() for t in running]
    if raised:
        sys.exit(raised[0])
    call(beside("thread_setup"), 0)
    right = lambda thread, n: plain(call(beside("expected") or function, thread, n))
    if not same(right(0, 0), right(0, 0)):
        return print("not compared: two calls by one thread differ") or 0
    for thread, n, got in results:
        if not same(got, right(thread, n)):
            return print(f"thread {thread}, call {n}: expected {right(thread, n)}, got {got}"[:500]) or 1
    return 0


if len(sys.argv) > 1:
    sys.exit(attempt(int(sys.argv[1])))
failed = {}
for arm, threads in {"threads": THREADS, "control: one thread": 1}.items():
    codes = []
    for _ in range(RUNS):
        try:
            codes.append(subprocess.run([sys.executable, __file__, str(threads)], timeout=60).returncode)
        except subprocess.TimeoutExpired:
            codes.append("no end after 60 s")
    failed[arm] = [code for code in codes if code]
    print(f"{arm}: {len(failed[arm])} of {RUNS} failed {sorted(map(str, set(failed[arm])))}")
    if THREADS == 1:
        break
code = 2 if failed.get("control: one thread") else 1 if failed["threads"] else 0
print(["NOT REPRODUCED", "REPRODUCED", "CONTROL FAILED"][code])
sys.exit(code)
