#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/bisect/change_point.h"
#include "tools/runner/bisect/bisect_request.h"

namespace mpsprobe {

/// The trials on either side, after the search, that chose nothing.
struct ConfirmedSides {
  Proportion before;
  Proportion after;
  double p = 1;  ///< Fisher's exact test
};

/// What a bisection came to, or has come to so far.
struct BisectResult {
  std::string cell;
  std::string signature;  ///< that counts; empty: any failure
  double confidence = 0;  ///< percent, that was asked for
  bool simulated = false;
  std::vector<Build> builds;
  std::vector<size_t> usable;  ///< indices of the builds that `change` is over
  ChangePoint change;
  std::string stopped;  ///< for people: why it ended before it was settled
  std::optional<ConfirmedSides> confirmed;

  bool settled() const;
  int trials_here() const;
  /// Where the build stands among the usable ones, if it is one.
  std::optional<size_t> place_of(size_t build) const;
};

/// The answer in a sentence: "The failure is rarer from 0.31.2 on (99.1% sure).", or that there is
/// none and what is left.
std::string answer_of(const BisectResult& result);

/// bisect.json: {"mpsprobe_bisect": 1, ...}.
nlohmann::ordered_json to_json(const BisectResult& result);

/// The result as text for a terminal and as Markdown. End with a line end.
std::string bisect_terminal(const BisectResult& result);
std::string bisect_markdown(const BisectResult& result);

}  // namespace mpsprobe
