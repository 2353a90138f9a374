#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/statistics/fisher.h"
#include "reports/difference/difference.h"
#include "reports/expectations/judge_expectations.h"

namespace mpsprobe {

/// A night of a series.
struct SeriesNight {
  std::string started;  ///< UTC
  std::string library;
  Proportion seen;
};

/// The nights of one cell of one worker, oldest first, the last one being this run's.
struct CellNights {
  std::string arm;
  std::string cell;
  bool simulated = false;
  std::vector<SeriesNight> nights;
};

/// What a run is shown beside, where that is asked for.
struct Beside {
  struct Baseline {
    RunFacts before;
    RunFacts after;
    Difference difference;
  };
  struct Known {
    std::vector<KnownFailure> entries;
    RunFacts run;
    Findings findings;
  };
  std::optional<Baseline> baseline;
  std::optional<Known> known;
  std::vector<CellNights> nights;  ///< of cells that failed in one of them
};

/// The nights of this run's cells that failed in any of them, of `earlier` ones and of itself.
/// Pure.
std::vector<CellNights> nights_of_cells(const RunFacts& run, const std::vector<RunFacts>& earlier);

}  // namespace mpsprobe
