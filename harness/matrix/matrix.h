#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/matrix/selector.h"
#include "harness/record/process_record.h"
#include "harness/record/trial_limits.h"
#include "harness/wire/cell.h"

namespace mpsprobe {

enum class Verdict : uint8_t { pass, fail, intermittent, refused };
template <>
inline constexpr auto kWordsOf<Verdict> =
    std::to_array<std::string_view>({"pass", "fail", "intermittent", "refused"});

/// What a matrix says its cells ought to do: a verdict, or one outcome (with a detail such as
/// "SIGSEGV" or "11") in every trial.
struct Expectation {
  std::optional<Verdict> verdict;
  std::optional<Outcome> outcome;
  std::string detail;  ///< "" allows any

  /// "fail", "signal SIGSEGV": for tables.
  std::string text() const;
};

/// A cell that is to be run.
struct PlannedCell {
  Cell cell;
  std::string block;  ///< title of the block that it came from: heads its table in the report
  std::optional<Expectation> expectation;
};

/// A cell that is not run, and why.
struct LeftOut {
  std::string cell;
  std::string reason;
  size_t others = 0;  ///< how many more there are for this reason that are not named
};

struct Block {
  std::string title;
  AxisValues axes;
  bool if_failed = false;  ///< its cells are asked where cells like them failed (following.h)
};

/// What a matrix file may set about how it is run; the command line overrides it.
struct RunDefaults : AskedLimits {
  std::optional<int> trials;
  std::optional<double> settle_rate;  ///< for real devices, see settling.h
};

/// The numbers that `run` of a matrix file may hold, with their limits.
struct RunKey {
  std::string_view name;
  double low;
  double high;
  bool whole = false;
};
inline constexpr auto kRunKeys = std::to_array<RunKey>({{"trials", 1, 1'000'000, true},
                                                        {"settle", 0.001, 0.5},
                                                        {"timeout", 0.1, 86400},
                                                        {"stall", 0.1, 86400},
                                                        {"budget", 1, 1e7},
                                                        {"memory_limit_mib", 16, 1 << 24}});

/// A matrix file: axes that are multiplied, single cells, what is left out, what is expected.
/// The format is documented in docs/matrices.md and by its schema
/// (reports/schema/write_schemas.cpp).
struct Matrix {
  std::string name;
  std::string description;
  RunDefaults run;
  std::vector<Block> blocks;
  std::vector<std::string> include;  ///< cells by text
  std::vector<Selector> exclude;
  struct ExpectRule {
    Selector selector;
    Expectation expectation;
  };
  std::vector<ExpectRule> expect;  ///< the last that matches counts
};

/// Reads a matrix. `place` names the source in errors. Throws InputError for anything that is not
/// exactly of the format: unknown key, wrong type, value that its axis does not allow.
Matrix parse_matrix(const std::string& text, const std::string& place);

/// Reads a matrix file; throws InputError where it cannot be read.
Matrix load_matrix(const std::filesystem::path& file);

}  // namespace mpsprobe
