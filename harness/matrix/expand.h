#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/matrix/matrix.h"
#include "harness/matrix/operation_info.h"
#include "harness/matrix/planned_cells.h"

namespace mpsprobe {

/// A cell names an operation that no worker has (place = op).
class UnknownOperation : public InputError {
 public:
  using InputError::InputError;
};

/// The most cells that a matrix may have.
constexpr size_t kMostCells = 1'000'000;

/// What the command line adds to a matrix.
struct ExpandOptions {
  AxisValues fixed;  ///< an axis given as an option: has these values in every block
  std::vector<std::string> filters;  ///< shell patterns; a cell must match one of them, if any
  std::optional<Backend> default_backend;  ///< where neither matrix nor command line says
  /// Why cells of a backend cannot run here; an empty text where they can, and without a function.
  std::function<std::string(Backend)> why_unavailable;
};

struct Plan {
  PlannedCells cells;             ///< each once, in the order of the matrix
  std::vector<LeftOut> left_out;  ///< combinations that make no sense, each with its reason
};

/// Multiplies the axes of every block and adds the included cells. Throws UnknownOperation for an
/// operation that no worker has and InputError for more than kMostCells cells (counted before any
/// is made). A combination that makes no sense goes to `left_out`: never silently dropped, never
/// counted as a pass.
Plan expand(const Matrix& matrix, const Operations& operations, const ExpandOptions& options);

/// What the last of the rules that match expects of a cell.
std::optional<Expectation> expectation_of(const Cell& cell,
                                          const std::vector<Matrix::ExpectRule>& rules);

/// Why a cell makes no sense, or nothing where it does.
std::optional<std::string> contradiction(const Cell& cell, const OperationInfo& operation);

}  // namespace mpsprobe
