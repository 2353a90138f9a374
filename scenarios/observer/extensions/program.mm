// A program of one thread that calls one operation of the extension: `torch_extension OPERATION`.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <Foundation/Foundation.h>
#include <torch/csrc/api/include/torch/mps.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const auto operation = c10::Dispatcher::singleton().findSchema(
      {std::string("demo::") + (argc == 2 ? argv[1] : ""), ""});
  if (!operation) {
    std::fprintf(stderr, "usage: torch_extension OPERATION\n");
    return 2;
  }
  @autoreleasepool {
    operation->typed<at::Tensor(const at::Tensor&)>().call(
        at::ones({4}, at::TensorOptions().device(at::Device(at::kMPS, 0))));
    torch::mps::synchronize();
  }
  return 0;
}
