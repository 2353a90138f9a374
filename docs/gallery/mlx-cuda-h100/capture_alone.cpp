// No MLX: one thread captures a stream in the thread-local mode again and again; another does what
// is named.
//   capture_alone none|create|destroy|synchronize|event
// Prints how many of the captures failed, and the first error.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "none";
  cudaFree(nullptr);
  float* memory = nullptr;
  cudaMalloc(&memory, 4096);
  std::atomic<bool> done = false;
  std::atomic<long> calls = 0;
  std::thread other([&] {
    cudaSetDevice(0);
    cublasLtHandle_t handles[2048];
    int made = 0;
    if (what == "destroy") {
      for (; made < 64; ++made) cublasLtCreate(&handles[made]);
    }
    while (!done) {
      if (what == "create" && made < 64) {
        cublasLtCreate(&handles[made++]);
        ++calls;
      }
      if (what == "destroy" && made > 0) {
        cublasLtDestroy(handles[--made]);
        ++calls;
      }
      if (what == "synchronize") {
        cudaDeviceSynchronize();
        ++calls;
        cudaGetLastError();
      }
      if (what == "event") {
        cudaEvent_t e;
        cudaEventCreate(&e);
        cudaEventDestroy(e);
        ++calls;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int failed = 0, captures = 0;
  const char* first = "";
  while (captures < 20000 &&
         (what == "none" || what == "synchronize" || what == "event" || calls < 64)) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    for (int i = 0; i < 20; ++i) cudaMemsetAsync(memory, 0, 4096, stream);
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    ++captures;
    if (error != cudaSuccess) {
      if (failed++ == 0) first = cudaGetErrorString(error);
      cudaGetLastError();
    } else {
      cudaGraphDestroy(graph);
    }
  }
  done = true;
  other.join();
  std::printf("%s: %d of %d captures failed beside %ld calls %s\n", what.c_str(), failed, captures,
              calls.load(), first);
  return 0;
}
