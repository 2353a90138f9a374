# bad access in mpsprobe::sim::SharedKernel::set_pipeline_state
# mpsprobe run --cell sim/linear/default/threads=3/iterations=1
# SIMULATED (profile report-000): no evidence about Apple's software.
import threading

import torch

on = {"device": "cpu", "dtype": torch.float32}


def attempt():
    barrier = threading.Barrier(3)
    weight = (torch.randn((64, 64)) / 8).to(**on)
    bias = torch.randn((64,)).to(**on)

    def made():
        x = torch.randn((8, 64)).to(**on)
        return (x,)

    def work(x):
        barrier.wait()
        torch.nn.functional.linear(x, weight, bias)

    threads = [threading.Thread(target=work, args=made()) for t in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


for _ in range(20):
    attempt()
