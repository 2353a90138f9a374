#include "scenarios/sim/face/shading/shader.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "scenarios/sim/face/shading/metal_stdlib"

// Metal's words for where things are. In front of the language's own text, and gone behind it.
#pragma GCC diagnostic ignored "-Wattributes"
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunknown-attributes"
#endif
namespace {
#define kernel
#define device
#define constant const
#include "scenarios/shaders/kernels.metal"
#undef kernel
#undef device
#undef constant
}  // namespace

namespace mpsprobe::sim::face {
namespace {

/// What a defect leaves in a result.
constexpr float kWrong = 113;

// `device` is a pointer, `constant` here a reference, as in kernels.metal.
template <typename Argument>
Argument bound_to(char* bytes) {
  if constexpr (std::is_pointer_v<Argument>) {
    return reinterpret_cast<Argument>(bytes);
  } else {
    return *reinterpret_cast<std::remove_reference_t<Argument>*>(bytes);
  }
}

template <typename Argument>
void spoil(char* bytes, size_t threads) {
  if constexpr (std::is_same_v<Argument, float*>) {
    std::fill_n(reinterpret_cast<float*>(bytes), threads, kWrong);
  }
}

template <typename... Arguments>
struct Call {
  // Without the last, which is the thread's place.
  static constexpr size_t kBuffers = sizeof...(Arguments) - 1;
  template <size_t kIndex>
  using Argument = std::tuple_element_t<kIndex, std::tuple<Arguments...>>;

  template <void (*kFunction)(Arguments...)>
  static void run(std::span<char* const> bound, size_t threads, bool wrong_numbers) {
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      for (size_t i = 0; i < threads; ++i) {
        kFunction(bound_to<Argument<kIndex>>(bound[kIndex])..., static_cast<unsigned>(i));
      }
      if (wrong_numbers) (spoil<Argument<kIndex>>(bound[kIndex], threads), ...);
    }
    (std::make_index_sequence<kBuffers>());
  }
};

template <auto kFunction>
constexpr Shader shader(std::string_view name, std::string_view operation) {
  const auto of = []<typename... Arguments>(void (*)(Arguments...)) {
    return std::pair(Call<Arguments...>::kBuffers, &Call<Arguments...>::template run<kFunction>);
  };
  const auto [buffers, run] = of(kFunction);
  return {name, operation, buffers, run};
}

// LibTorch's add is y + factor * x as well.
constexpr Shader kShaders[] = {
    shader<add_arrays>("add_arrays", "add"),
    shader<relu_array>("relu_array", "relu"),
    shader<fill_array>("fill_array", "zero_"),
    shader<axpy>("axpy", "add"),
    shader<sine>("sine", "sin"),
    shader<strided_copy>("strided_copy", "copy_"),
};

}  // namespace

const Shader* find_shader(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kShaders), std::end(kShaders),
                                         [&](const Shader& each) { return each.name == name; });
  return found == std::end(kShaders) ? nullptr : found;
}

}  // namespace mpsprobe::sim::face
