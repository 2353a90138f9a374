# Threads compute with MLX at the same time. Run: python3 reproducer.py
# Exit status: 0 not reproduced; 1 reproduced; 2 the control failed (one thread that does the work of all).
# Each attempt is a process of its own. That MLX refuses the stream of another thread is no failure.
import os, subprocess, sys, threading

os.environ.setdefault("MLX_ENABLE_TF32", "0")  # products are compared as those of float32

try:
    import mlx.core as mx

    mx.array(0)
except Exception as error:
    sys.exit(print("MLX cannot be used:", error) or 2)

# ---- parameters: begin
THREADS, ITERATIONS, ROUNDS, RUNS = 4, 30, 1, 20
ON_CPU, OWN_STREAMS, LAZY, BY_MAIN, TOLERANCE = False, True, False, False, 1e-3
inputs = lambda: [mx.arange(256).reshape(16, 16) / 128 - 1]
weights = lambda: [mx.arange(256).reshape(16, 16) / 1024 - 0.125]
launch = lambda x, w, s: [mx.sum(mx.tanh(mx.matmul(x[0], w[0], stream=s), stream=s), stream=s)]
# ---- parameters: end
device = mx.gpu if mx.is_available(mx.gpu) and not ON_CPU else mx.cpu


def flat(values):
    return [each for value in values for each in flat(value)] if isinstance(values, list) else [values]


def make():
    s = mx.new_stream(device) if OWN_STREAMS else mx.default_stream(device)
    x, w = inputs(), weights()
    mx.eval(x, w)
    return s, x, w


def attempt(threads):
    want = [a.tolist() for a in launch(inputs(), weights(), mx.default_stream(mx.cpu))]
    wrong, refused, raised = [], [], []
    for _ in range(ROUNDS):
        own = [make() for _ in range(THREADS)] if BY_MAIN or LAZY else [None] * THREADS
        lazy = [launch(own[0][1], own[0][2], own[0][0]) for _ in range(ITERATIONS)] if LAZY else []
        barrier = threading.Barrier(threads)

        def work(first):
            barrier.wait()
            try:
                for n in range(ITERATIONS * THREADS // threads):
                    s, x, w = own[(first + n * threads) % THREADS] or make()
                    got = lazy[n % ITERATIONS] if LAZY else launch(x, w, s)
                    mx.eval(got)
                    for g, t in zip(got, want):
                        if not mx.allclose(g, mx.array(t), TOLERANCE, TOLERANCE, stream=mx.cpu).item():
                            wrong.append((first, n, flat(g.tolist()), flat(t)))
            except RuntimeError as error:
                (refused if "There is no Stream" in str(error) else raised).append(error)

        running = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
        [t.start() for t in running]
        [t.join() for t in running]
    if raised:
        raise raised[0]
    if wrong:
        thread, n, got, right = wrong[0]
        i = next(i for i, (a, b) in enumerate(zip(got, right)) if not abs(a - b) <= TOLERANCE * (1 + abs(b)))
        arm = "threads" if threads == THREADS else "control: one thread"
        print(f"{arm}: wrong numbers: thread {thread}, launch {n}, index {i}: expected {right[i]}, got {got[i]}")
    return 1 if wrong else 3 if refused else 0


if len(sys.argv) > 1:
    sys.exit(attempt(int(sys.argv[1])))
print("MLX", mx.__version__, "CPU" if device == mx.cpu else "Metal" if mx.metal.is_available() else "CUDA")
failed = {}
for arm, threads in {"threads": THREADS, "control: one thread": 1}.items():
    codes = []
    for _ in range(RUNS):
        try:
            codes.append(subprocess.run([sys.executable, __file__, str(threads)], timeout=60).returncode)
        except subprocess.TimeoutExpired:
            codes.append("no end after 60 s")
    failed[arm] = [c for c in codes if c not in (0, 3)]
    print(f"{arm}: {len(failed[arm])} of {RUNS} failed {sorted(map(str, set(failed[arm])))}", end="")
    print(f", {codes.count(3)} refused by MLX" if codes.count(3) else "")
    if THREADS == 1:
        break
code = 2 if failed.get("control: one thread") else 1 if failed["threads"] else 0
print(["NOT REPRODUCED", "REPRODUCED", "CONTROL FAILED"][code])
sys.exit(code)
