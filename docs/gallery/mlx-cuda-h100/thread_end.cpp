// What the end of a thread does to the captures of others, in MLX on CUDA.
//   thread_end MODE [threads] [iterations]
// leave      each thread makes a stream, computes sum(tanh(x @ w)) and ends when it is done
// hold       the same, but no thread ends before all are done
// elementwise the same as leave without the product: sum(tanh(x + w))
// bystander  one thread computes; another computes once and ends
// waits      as bystander, but the other one ends when the first is done
// elementwise-bystander  as bystander, the other one computes without a product
// Exit status: 0 all right; 1 an exception (its text on stderr); a signal is one.
#include <mlx/mlx.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace mx = mlx::core;

static mx::Device device() {
  const mx::Device gpu(mx::Device::gpu);
  return mx::is_available(gpu) ? gpu : mx::Device(mx::Device::cpu);
}

static void compute(mx::Stream s, bool product) {
  const std::vector<float> numbers(256, 0.5F);
  const mx::array x(numbers.begin(), {16, 16});
  const mx::array y = product ? mx::matmul(x, x, s) : mx::add(x, x, s);
  mx::array sum = mx::sum(mx::tanh(y, s), s);
  mx::eval(sum);
  (void)sum.item<float>();
}

int main(int argc, char** argv) {
  setenv("MLX_ENABLE_TF32", "0", 0);
  const std::string mode = argc > 1 ? argv[1] : "leave";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 4;
  const int iterations = argc > 3 ? std::atoi(argv[3]) : 100;
  mx::eval(mx::add(mx::array(1.0F), mx::array(1.0F), device()));
  std::atomic<bool> failed = false;
  std::atomic<int> waiting = 0, working = 0;
  const auto run = [&](int thread, int count, bool product, bool hold, int together) {
    ++waiting;
    while (waiting < together) std::this_thread::yield();
    ++working;
    try {
      const mx::Stream s = mx::new_stream(device());
      for (int i = 0; i < count && !failed; ++i) compute(s, product);
    } catch (const std::exception& error) {
      failed = true;
      std::fprintf(stderr, "thread %d: %s\n", thread, error.what());
    }
    --working;
    while (hold && working > 0) std::this_thread::yield();
  };
  std::vector<std::thread> all;
  if (mode == "bystander" || mode == "waits" || mode == "elementwise-bystander") {
    all.emplace_back([&] { run(0, iterations, true, false, 2); });
    all.emplace_back([&] { run(1, 5, mode != "elementwise-bystander", mode == "waits", 2); });
  } else {
    for (int k = 0; k < threads; ++k) {
      all.emplace_back(
          [&, k] { run(k, iterations, mode != "elementwise", mode == "hold", threads); });
    }
  }
  for (std::thread& each : all) each.join();
  return failed ? 1 : 0;
}
