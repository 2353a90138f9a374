#include "scenarios/sim/face/numbers.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace mpsprobe::sim::face {

void multiply(const MatrixView& a, const MatrixView& b, std::span<const float> added,
              std::span<float> out) {
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t column = 0; column < b.columns; ++column) {
      const auto at = static_cast<size_t>(row * b.columns + column);
      double sum = added.empty() ? 0 : added[at];
      for (int64_t k = 0; k < a.columns; ++k) {
        sum += static_cast<double>(a.data[row * a.row_stride + k * a.column_stride]) *
               b.data[k * b.row_stride + column * b.column_stride];
      }
      out[at] = static_cast<float>(sum);
    }
  }
}

std::vector<float> add(std::span<const float> a, std::span<const float> b) {
  std::vector<float> sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i % b.size()];
  return sum;
}

std::vector<float> relu(std::span<const float> a) {
  std::vector<float> result(a.begin(), a.end());
  for (float& each : result) each = std::max(each, 0.0F);
  return result;
}

std::vector<float> softmax(std::span<const float> a, int64_t length) {
  std::vector<float> result(a.begin(), a.end());
  for (size_t first = 0; first < a.size(); first += static_cast<size_t>(length)) {
    const std::span<float> run(result.data() + first, static_cast<size_t>(length));
    const float highest = *std::max_element(run.begin(), run.end());
    double sum = 0;
    for (float& each : run) {
      each = std::exp(each - highest);
      sum += each;
    }
    for (float& each : run) each = static_cast<float>(each / sum);
  }
  return result;
}

std::vector<float> transpose(std::span<const float> a, int64_t rows, int64_t columns) {
  std::vector<float> result(a.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      result[static_cast<size_t>(column * rows + row)] =
          a[static_cast<size_t>(row * columns + column)];
    }
  }
  return result;
}

std::vector<float> normal(int64_t count, float mean, float deviation, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<float> samples(static_cast<size_t>(count));
  for (float& each : samples) each = distribution(generator);
  return samples;
}

}  // namespace mpsprobe::sim::face
