#include "scenarios/comparison/shape.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 31;

std::optional<Sizes> parse(std::string_view text) {
  Sizes sizes;
  int64_t elements = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 1 || size > kMostElements / elements) {
      return std::nullopt;
    }
    elements *= size;
    sizes.push_back(size);
    if (next == end) {
      return sizes;
    }
    if (*next != 'x') {
      return std::nullopt;
    }
    at = next + 1;
  }
}

// "batch x in x out" has three sizes.
size_t count_of(std::string_view dimensions) {
  size_t count = 1;
  for (size_t at = dimensions.find(" x "); at != std::string_view::npos;
       at = dimensions.find(" x ", at + 3)) {
    ++count;
  }
  return count;
}

/// Throws UnsupportedError: `problem` with this shape, and what the operation takes.
[[noreturn]] void refuse_shape(const ShapeForm& form, std::string_view shape,
                               std::string_view problem) {
  throw UnsupportedError(fmt::format(
      "shape={}: {}. Operation {} takes sizes {}, for example shape={}", shape, problem,
      form.operation, form.dimensions == "any" ? "of any number" : form.dimensions, form.shape));
}

}  // namespace

Sizes read_shape(const ShapeForm& form, std::string_view shape) {
  const std::optional<Sizes> sizes = parse(shape == "default" ? form.shape : shape);
  if (!sizes) {
    refuse_shape(
        form, shape,
        "not a list of sizes from 1 up, separated by x, with at most 2^31 elements together");
  }
  if (form.dimensions == "any") {
    if (sizes->size() > 8) {
      refuse_shape(form, shape, "more than 8 sizes");
    }
  } else if (sizes->size() != count_of(form.dimensions)) {
    refuse_shape(
        form, shape,
        fmt::format("{} sizes where {} are needed", sizes->size(), count_of(form.dimensions)));
  }
  if (form.refuse != nullptr) {
    if (const std::string_view problem = form.refuse(*sizes); !problem.empty()) {
      refuse_shape(form, shape, problem);
    }
  }
  return *sizes;
}

}  // namespace mpsprobe
