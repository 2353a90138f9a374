// A plain LibTorch program, as a user might write it: it knows nothing of the simulated device.
// Threads start together behind a barrier and run at::linear on inputs of their own, each iteration
// compared with the result that one thread computed before.
// Usage: sim_program THREADS nograph|graph|raw ITERATIONS [warm]. Exit status: 0 all results right,
// 1 wrong usage, 4 wrong numbers, 5 an exception.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>
#include <vector>

namespace {

at::Tensor run_once(std::string_view mode, const at::Tensor& input, const at::Tensor& weight,
                    const at::Tensor& bias) {
  if (mode == "raw") return at::relu(at::mm(input, weight));
  return at::linear(input, weight, bias);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 3 ? std::atoi(argv[1]) : 0;
  const std::string_view mode = argc > 3 ? argv[2] : "";
  const int iterations = argc > 3 ? std::atoi(argv[3]) : 0;
  const bool warm = argc > 4 && std::string_view(argv[4]) == "warm";
  if (threads < 1 || iterations < 1 || (mode != "nograph" && mode != "graph" && mode != "raw")) {
    std::fprintf(stderr, "usage: sim_program THREADS nograph|graph|raw ITERATIONS [warm]\n");
    return 1;
  }
  at::set_num_threads(1);
  const at::Tensor input = at::ones({8, 64});
  at::Tensor weight = at::ones({64, 64});
  // A weight that is not contiguous makes linear take the graph path.
  if (mode == "graph") weight = at::ones({64, 64}).t().contiguous().t();
  const at::Tensor bias = at::ones({64});
  const float expected = mode == "raw" ? 64.0F : 65.0F;
  if (warm) run_once(mode, input, weight, bias);

  std::atomic<int> waiting = threads;
  std::atomic<int> wrong = 0;
  std::atomic<int> exceptions = 0;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      --waiting;
      while (waiting > 0) {
      }
      try {
        for (int i = 0; i < iterations; ++i) {
          const at::Tensor result = run_once(mode, input, weight, bias);
          // By the accessor that is no template: the mangled names of those differ between
          // compilers.
          const float* values = static_cast<const float*>(result.const_data_ptr());
          for (int64_t k = 0; k < result.numel(); ++k) wrong += values[k] != expected;
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "exception: %s\n", error.what());
        ++exceptions;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  std::printf("%d threads, %d wrong, %d exceptions\n", threads, wrong.load(), exceptions.load());
  if (exceptions > 0) return 5;
  return wrong > 0 ? 4 : 0;
}
