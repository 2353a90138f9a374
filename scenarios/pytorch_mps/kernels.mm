// Kernels of PyTorch's own library (aten/src/ATen/native/mps/kernels), by their names: written
// again for the simulated Metal, which compiles nothing.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "scenarios/sim/face/pipeline.h"

namespace mpsprobe::pytorch_mps {
namespace {

using sim::face::Shader;
using Bound = std::span<char* const>;

template <typename T>
T* as(char* bytes) {
  return reinterpret_cast<T*>(bytes);
}

// renorm_float(norm, factor, maxnorm)
void renorm(Bound bound, size_t threads, bool) {
  const float most = *as<float>(bound[2]);
  for (size_t i = 0; i < threads; ++i) {
    const float norm = as<float>(bound[0])[i];
    as<float>(bound[1])[i] = norm > most ? most / (norm + 1e-7F) : 1.0F;
  }
}

// tanh_kernel(output, input) and its like
template <double (*kFunction)(double)>
void unary(Bound bound, size_t threads, bool wrong) {
  for (size_t i = 0; i < threads; ++i) {
    as<float>(bound[0])[i] = wrong ? 113 : static_cast<float>(kFunction(as<float>(bound[1])[i]));
  }
}

constexpr Shader kShaders[] = {
    {.name = "renorm_float", .operation = "mul", .buffers = 3, .run = renorm},
    {.name = "tanh_kernel", .operation = "tanh", .buffers = 2, .run = unary<std::tanh>},
    {.name = "exp_kernel", .operation = "exp", .buffers = 2, .run = unary<std::exp>},
};

const Shader* find(std::string_view name, std::string_view source) {
  const auto* const found = std::find_if(std::begin(kShaders), std::end(kShaders),
                                         [&](const Shader& each) { return each.name == name; });
  if (found == std::end(kShaders)) return nullptr;
  // Made for one type each, which the text names.
  const bool other_type = source.find("half *output") != std::string_view::npos ||
                          source.find("bfloat *output") != std::string_view::npos;
  return other_type ? nullptr : found;
}

[[gnu::constructor]] void offer() { sim::face::find_more_shaders(find); }

}  // namespace
}  // namespace mpsprobe::pytorch_mps
