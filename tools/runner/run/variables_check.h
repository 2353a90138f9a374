#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/journal/journal.h"
#include "harness/matrix/expand.h"
#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// A cell sets a variable that a worker of it does not read (place = env.NAME).
class UnreadVariable : public InputError {
 public:
  using InputError::InputError;
};

/// The variables that the axis env of the matrix's cells names; `fixed` are the values of options,
/// which go before those of blocks.
std::set<std::string> variables_named(const Matrix& matrix, const AxisValues& fixed);

/// The one gate for variables of cells that somebody may have written elsewhere: in a matrix, a
/// bundle, a run, or a cell's text. Those that the options give as axes (env.NAME) are the user's
/// own words. Of the others one that is no documented switch (variables.h) is refused by name and
/// value; with options.trust_run it is shown and taken. Throws InputError (place = env.NAME).
void refuse_foreign_variables(const RunOptions& options, const Matrix& matrix);

/// The variable (K=V) that asks workers which of these the libraries have that they load.
std::string variables_question(const std::set<std::string>& variables);

/// A variable that nothing reads does nothing and says nothing: refuses the plan where a worker of
/// its cells loads no library that has the name of one that they set, but not with --force-env; and
/// always where --env sets one too. Throws UnreadVariable for the one, InputError (place =
/// env.NAME) for the other.
void check_variables(const RunOptions& options, const Plan& plan,
                     const std::vector<WorkerInfo>& workers);

}  // namespace mpsprobe
