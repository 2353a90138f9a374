#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/comparison/numbers.h"
#include "scenarios/comparison/shape.h"
#include "scenarios/comparison/tolerance.h"
#include "scenarios/comparison/values.h"
#include "scenarios/worker/include/mpsprobe/numbers.h"

struct mpsprobe_numbers {
  mpsprobe::Numbers numbers;
};

namespace mpsprobe {
namespace {

void write_text(std::string_view from, char* text, size_t size) {
  if (size == 0) return;
  const size_t length = std::min(from.size(), size - 1);
  std::memcpy(text, from.data(), length);
  text[length] = '\0';
}

template <typename Element>
std::vector<double> widened_elements(const void* data, size_t count) {
  const auto* const elements = static_cast<const Element*>(data);
  return {elements, elements + count};
}

/// Nothing for a type that is none.
std::optional<std::vector<double>> elements_of(const void* data, char type, size_t count) {
  switch (type) {
    case 'f':
      return widened_elements<float>(data, count);
    case 'd':
      return widened_elements<double>(data, count);
    case 'i':
      return widened_elements<int32_t>(data, count);
    case 'q':
      return widened_elements<int64_t>(data, count);
    default:
      return std::nullopt;
  }
}

HostArray matrix(const float* numbers, int64_t rows, int64_t columns) {
  return {{rows, columns}, {numbers, numbers + rows * columns}};
}

/// 1 where nothing speaks against the numbers.
int answer(const std::string& difference, char* text, size_t size) {
  write_text(difference, text, size);
  return difference.empty() ? 1 : 0;
}

}  // namespace
}  // namespace mpsprobe

using namespace mpsprobe;

mpsprobe_numbers* mpsprobe_numbers_new(uint64_t seed, uint64_t stream) {
  return new (std::nothrow) mpsprobe_numbers{Numbers(seed, stream)};
}

void mpsprobe_numbers_normal(mpsprobe_numbers* numbers, float* out, size_t count) {
  const HostArray made = numbers->numbers.normal({static_cast<int64_t>(count)});
  std::copy(made.numbers.begin(), made.numbers.end(), out);
}

void mpsprobe_numbers_uniform(mpsprobe_numbers* numbers, double low, double high, float* out,
                              size_t count) {
  const HostArray made = numbers->numbers.uniform({static_cast<int64_t>(count)}, low, high);
  std::copy(made.numbers.begin(), made.numbers.end(), out);
}

void mpsprobe_numbers_free(mpsprobe_numbers* numbers) {
  delete numbers;
}

int mpsprobe_compare(const void* got, char got_type, const void* expected, char expected_type,
                     const int64_t* sizes, size_t dimensions, mpsprobe_rounding rounding,
                     double unit, int64_t terms, char* text, size_t size) {
  const std::span<const int64_t> shape(sizes, dimensions);
  const auto count = static_cast<size_t>(element_count({shape.begin(), shape.end()}));
  const auto found = elements_of(got, got_type, count);
  const auto right = elements_of(expected, expected_type, count);
  if (!found || !right) return -1;
  const Tolerance within = tolerance(static_cast<Rounding>(rounding), unit, terms);
  return answer(difference_of_values(*found, *right, shape, within), text, size);
}

int mpsprobe_compare_with_normal(const void* samples, char type, const int64_t* sizes,
                                 size_t dimensions, char* text, size_t size) {
  const std::span<const int64_t> shape(sizes, dimensions);
  const auto count = static_cast<size_t>(element_count({shape.begin(), shape.end()}));
  const auto found = elements_of(samples, type, count);
  if (!found) return -1;
  return answer(difference_from_normal(*found, shape), text, size);
}

void mpsprobe_positive_product(const float* a, const float* b, int64_t rows, int64_t inner,
                               int64_t columns, double* out) {
  const std::vector<double> product =
      positive_product(matrix(a, rows, inner), matrix(b, inner, columns));
  std::copy(product.begin(), product.end(), out);
}

int mpsprobe_read_shape(const char* operation, const char* default_shape, const char* dimensions,
                        const char* shape, int64_t sizes[8], char* text, size_t size) {
  try {
    const Sizes read = read_shape({operation, default_shape, dimensions}, shape);
    std::copy(read.begin(), read.end(), sizes);
    return static_cast<int>(read.size());
  } catch (const std::exception& problem) {
    write_text(problem.what(), text, size);
    return -1;
  }
}
