#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "harness/executor/executor.h"

namespace mpsprobe {

/// For tests: an executor and the self-test worker, whose cells misbehave in known ways.
class MisbehavingWorker : public testing::Test {
 protected:
  MisbehavingWorker();

  TrialRequest request(const std::string& cell) const;
  TrialRecord run(const std::string& cell) const;
  TrialRecord misbehave(const std::string& name, int threads = 2) const;

  static std::string path();

  WorkerInfo worker_;
  ChildLimits limits_;
  std::vector<std::string> extra_;  ///< of the environment
  std::atomic<bool> interrupted_{false};
};

}  // namespace mpsprobe
