#include "scenarios/operations/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 31;

constexpr std::pair<at::ScalarType, std::string_view> kTypeNames[] = {
    {at::kFloat, "float32"},  {at::kHalf, "float16"}, {at::kBFloat16, "bfloat16"},
    {at::kDouble, "float64"}, {at::kInt, "int32"},    {at::kLong, "int64"},
    {at::kBool, "bool"},
};

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

[[noreturn]] void refuse(const Operation& operation, std::string_view shape,
                         std::string_view problem) {
  throw UnsupportedError(fmt::format(
      "shape={}: {}. Operation {} takes sizes {}, for example shape={}", shape, problem,
      operation.name, operation.dimensions == "any" ? "of any number" : operation.dimensions,
      operation.shape));
}

}  // namespace

Sizes read_sizes(const Operation& operation, std::string_view shape) {
  const std::optional<Sizes> sizes = parse(shape == "default" ? operation.shape : shape);
  if (!sizes) {
    refuse(operation, shape,
           "not a list of sizes from 1 up, separated by x, with at most 2^31 elements together");
  }
  if (operation.dimensions == "any") {
    if (sizes->size() > 8) {
      refuse(operation, shape, "more than 8 sizes");
    }
  } else if (sizes->size() != count_of(operation.dimensions)) {
    refuse(
        operation, shape,
        fmt::format("{} sizes where {} are needed", sizes->size(), count_of(operation.dimensions)));
  }
  if (operation.refuse != nullptr) {
    if (const std::string_view problem = operation.refuse(*sizes); !problem.empty()) {
      refuse(operation, shape, problem);
    }
  }
  return *sizes;
}

at::ScalarType read_dtype(const Operation& operation, std::string_view dtype) {
  if (operation.dtypes.empty()) {
    if (dtype == "default") {
      return at::kFloat;
    }
    throw UnsupportedError(fmt::format(
        "dtype={}: operation {} uses several types of its own at once. Leave dtype at its default",
        dtype, operation.name));
  }
  if (dtype == "default") {
    return operation.dtypes.front();
  }
  std::vector<std::string_view> possible;
  for (const at::ScalarType type : operation.dtypes) {
    if (name_of(type) == dtype) {
      return type;
    }
    possible.push_back(name_of(type));
  }
  throw UnsupportedError(fmt::format("dtype={}: operation {} does not run with it. Possible are {}",
                                     dtype, operation.name, fmt::join(possible, ", ")));
}

std::string_view name_of(at::ScalarType dtype) {
  for (const auto& [type, name] : kTypeNames) {
    if (type == dtype) {
      return name;
    }
  }
  return "unknown";
}

}  // namespace mpsprobe
