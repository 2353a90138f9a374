#include "harness/outcome/refusals.h"

#include <algorithm>
#include <array>

namespace mpsprobe {
namespace {

constexpr std::array<Refusal, 1> kRefusals{{
    {.library = "MLX",
     .since = "0.31.2",
     .first = "There is no Stream(",
     .then = ") in current thread.",
     .in_words = "arrays and streams of another thread",
     .source = "https://github.com/ml-explore/mlx/issues/3727"},
}};

}  // namespace

std::span<const Refusal> refusals() {
  return kRefusals;
}

const Refusal* refusal_in(std::string_view message) {
  const auto found =
      std::find_if(kRefusals.begin(), kRefusals.end(), [message](const Refusal& refusal) {
        const size_t at = message.find(refusal.first);
        return at != std::string_view::npos &&
               message.find(refusal.then, at + refusal.first.size()) != std::string_view::npos;
      });
  return found == kRefusals.end() ? nullptr : &*found;
}

}  // namespace mpsprobe
