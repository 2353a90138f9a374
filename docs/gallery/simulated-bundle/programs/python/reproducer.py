# sim/linear/default/threads=3/iterations=1
# SIMULATED (profile report-000): no evidence about Apple's software. bad access in mpsprobe::sim::SharedKernel::set_pipeline_state
import threading

import torch

# ---- parameters: begin
THREADS, ITERATIONS, ATTEMPTS, SYNC_EACH, DTYPE = 3, 1, 10, True, torch.float32
inputs = lambda: [torch.randn(8, 64)]
weights = lambda: [torch.randn(64, 64) / 8, torch.randn(64)]
launch = lambda x, w: torch.nn.functional.linear(x[0], w[0], w[1])
right = lambda got, x, w: torch.allclose(got.cpu(), launch(x, w), 1e-3, 1e-3)
# ---- parameters: end
print(torch.__version__, device := "mps" if torch.backends.mps.is_available() else "cpu")
cpu = lambda tensors: [t.cpu() for t in tensors]
def work(x, results):
    barrier.wait()
    for _ in range(ITERATIONS):
        results.append(launch(x, w))
        torch.mps.synchronize() if SYNC_EACH and device == "mps" else None
for attempt in range(ATTEMPTS):
    barrier, w = threading.Barrier(THREADS), [t.to(device, DTYPE) for t in weights()]
    lanes = [([t.to(device, DTYPE) for t in inputs()], []) for _ in range(THREADS)]
    threads = [threading.Thread(target=work, args=lane, daemon=True) for lane in lanes]
    [t.start() for t in threads] and [t.join(90 / THREADS) for t in threads]
    assert all(len(r) == ITERATIONS for _, r in lanes), "a thread raised or hangs"
    wrong = [(k, n) for k, (x, r) in enumerate(lanes) for n, g in enumerate(r) if not right(g, cpu(x), cpu(w))]
    assert not wrong, "wrong numbers, first in thread %d, iteration %d" % wrong[0]
