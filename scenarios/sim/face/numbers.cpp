#include "scenarios/sim/face/numbers.h"

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

}  // namespace mpsprobe::sim::face
