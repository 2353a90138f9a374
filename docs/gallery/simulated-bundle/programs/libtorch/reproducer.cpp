// bad access in mpsprobe::sim::SharedKernel::set_pipeline_state
// mpsprobe run --cell sim/linear/default/threads=3/iterations=1
// SIMULATED (profile report-000): no evidence about Apple's software.
// TORCH=$(python3 -c 'import torch; print(torch.__path__[0])'); c++ -std=c++20 -isystem $TORCH/include -isystem $TORCH/include/torch/csrc/api/include reproducer.cpp -o reproducer -L$TORCH/lib -ltorch_cpu -lc10 -Wl,-rpath,$TORCH/lib -pthread $([ $(uname) = Darwin ] || echo -Wl,--unresolved-symbols=ignore-in-shared-libs)
#include <ATen/ATen.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

int attempt() {
  const at::TensorOptions on = at::TensorOptions(at::kCPU).dtype(at::kFloat);
  const at::Tensor weight = (at::randn({64, 64}) / 8).to(on);
  const at::Tensor bias = at::randn({64}).to(on);
  std::atomic<int> waiting = 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    const at::Tensor x = at::randn({8, 64}).to(on);
    threads.emplace_back([&, x] {
      --waiting;
      while (waiting > 0) continue;
      const at::Tensor result = at::linear(x, weight, bias);
    });
  }
  for (std::thread& each : threads) each.join();
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return alarm(60), attempt();  // a hang dies of SIGALRM
  int failed = 0;  // of 9 processes, 3 s in all
  const std::string once = "'" + std::string(argv[0]) + "' once";
  for (int i = 0; i < 9; ++i) failed += pclose(popen(once.c_str(), "w")) != 0;
  std::printf("%d of 9 processes failed\n", failed);
  return failed > 0;
}
