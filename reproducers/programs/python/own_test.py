# Threads call one test of pytest's at the same time, with the same fixtures. Run: python3 reproducer.py
# Exit status: 0 not reproduced; 1 reproduced; 2 the control failed (the main thread alone makes all calls),
# and so threads are not what it needs. Each attempt is a process of its own.
import os, signal, subprocess, sys, threading

import pytest

# ---- parameters: begin
FILE, NAME = "test_app.py", "test_infer"
THREADS, ITERATIONS, ROUNDS, RUNS = 4, 10, 1, 20
LOCKED, IN_TURN, WARM_UP, CLEAR_STREAMS, STACK = False, False, False, False, 0
# ---- parameters: end


class Threads:
    def __init__(self, threads):
        self.threads, self.running, self.may_end = threads, [], threading.Event()

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        raised, lock, done = [], threading.Lock(), threading.Semaphore(0)
        pyfuncitem.obj(**given) if WARM_UP else None

        def work(calls, barrier, is_last):
            try:
                barrier.wait()
                for _ in range(calls):
                    with lock if LOCKED else threading.Lock():
                        pyfuncitem.obj(**given)
            except BaseException as problem:
                raised.append(problem)
                barrier.abort()
            sys.modules["mlx.core"].clear_streams() if CLEAR_STREAMS and self.threads else None
            done.release()
            # Such threads end with the interpreter.
            self.may_end.wait() if is_last and self.threads and not IN_TURN else None

        threading.stack_size(STACK)
        for k in range(ROUNDS):
            barrier, last = threading.Barrier(1 if IN_TURN else self.threads or 1), k + 1 == ROUNDS
            if not self.threads:
                work(ITERATIONS * THREADS, barrier, last)
            for _ in range(self.threads):
                self.running.append(threading.Thread(target=work, args=(ITERATIONS, barrier, last), daemon=True))
                self.running[-1].start()
                self.running[-1].join() if IN_TURN else None
            [done.acquire() for _ in range(self.threads or 1)]
            [thread.join() for thread in self.running if not last]
        if raised:
            raise raised[0]
        return True


def attempt(threads):
    plugin = Threads(threads)
    file = FILE if os.path.exists(FILE) else os.path.join(os.path.dirname(__file__), os.path.basename(FILE))
    code = pytest.main([f"{file}::{NAME}", "-q", "-p", "no:cacheprovider", "--capture=no"], plugins=[plugin])
    plugin.may_end.set()
    [thread.join() for thread in plugin.running]
    return int(code)


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
        how = "the test failed" if code == 1 else code
        how = signal.Signals(-code).name if isinstance(code, int) and code < 0 else how
        failed[arm] += [how] if code else []
        if code == "no end after 60 s":
            break
    print(f"{arm}: {len(failed[arm])} of {run + 1} failed", *sorted({f"{each}" for each in failed[arm]}))
alone = failed["control: main thread alone"] and THREADS > 1
code = 2 if alone else 1 if failed["threads"] else 0
print(["NOT REPRODUCED", "REPRODUCED", "CONTROL FAILED"][code])
sys.exit(code)
