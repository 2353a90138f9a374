// Two threads, each capturing CUDA graphs of its own, on a stream of its own, in the capture mode
// that concerns the calling thread alone: LibTorch 2.11.0 crashes or throws.
//
//   T=$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')
//   g++ -std=c++20 -O2 -DNDEBUG capture_race.cpp -o capture_race -pthread
//       -I$T/include -I/usr/local/cuda/include -L$T/lib -Wl,-rpath,$T/lib -Wl,--no-as-needed
//       -ltorch_cuda -ltorch_cpu -lc10_cuda -lc10 -Wl,--unresolved-symbols=ignore-in-shared-libs
//   ./capture_race [threads=2] [graphs=200] [mode=thread_local] [lock=none|capture|all]
//
// lock=capture: one capture at a time, as LibTorch's documentation asks. lock=all: one thread at a
// time from the making of a graph to its end. Ends with 0: nothing happened; 1: an exception, which
// it prints; or by the signal of the crash.
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <c10/cuda/CUDAStream.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string option(int argc, char** argv, const std::string& name, const std::string& otherwise) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with(name + "=")) return argument.substr(name.size() + 1);
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = std::stoi(option(argc, argv, "threads", "2"));
  const int graphs = std::stoi(option(argc, argv, "graphs", "200"));
  const std::string mode_name = option(argc, argv, "mode", "thread_local");
  const std::string lock = option(argc, argv, "lock", "none");
  const auto mode = mode_name == "global"    ? cudaStreamCaptureModeGlobal
                    : mode_name == "relaxed" ? cudaStreamCaptureModeRelaxed
                                             : cudaStreamCaptureModeThreadLocal;
  std::mutex mutex;
  std::atomic<int> missing{threads};
  std::atomic<bool> failed{false};
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&] {
      try {
        const auto stream = c10::cuda::getStreamFromPool();
        c10::cuda::setCurrentCUDAStream(stream);
        const at::Tensor x = at::ones({64}, at::kCUDA);
        at::add(x, x);  // everything that is captured below has run once
        stream.synchronize();
        missing.fetch_sub(1);
        while (missing.load() > 0) std::this_thread::yield();
        for (int i = 0; i < graphs; ++i) {
          std::unique_lock<std::mutex> all(mutex, std::defer_lock);
          if (lock == "all") all.lock();
          at::cuda::CUDAGraph graph;
          at::Tensor y;
          {
            std::unique_lock<std::mutex> capture(mutex, std::defer_lock);
            if (lock == "capture") capture.lock();
            graph.capture_begin({0, 0}, mode);
            y = at::add(x, x);
            graph.capture_end();
          }
          graph.replay();
          stream.synchronize();
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", std::string(error.what()).substr(0, 200).c_str());
        failed.store(true);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  return failed.load() ? 1 : 0;
}
