#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// The arithmetic of the simulated device: what its kernels and graphs compute, in float32 with
/// sums in double. Pure functions; any thread.
namespace mpsprobe::sim::face {

/// A matrix in memory that is not its own: element (r, c) lies at data[r * row_stride + c *
/// column_stride].
struct MatrixView {
  const float* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
};

/// out[r][c] = sum over k of a(r, k) * b(k, c), plus what lies there in `added` where that is not
/// empty. `added` and `out` are contiguous, a.rows x b.columns; a.columns == b.rows.
void multiply(const MatrixView& a, const MatrixView& b, std::span<const float> added,
              std::span<float> out);

}  // namespace mpsprobe::sim::face
