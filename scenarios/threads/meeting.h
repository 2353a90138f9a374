#pragma once

#include <barrier>

namespace mpsprobe {

/// Where the threads of a round wait for one another within their iterations: as often as they
/// like, all of them equally often. Who ends, or fails, leaves it, and the others go on without.
/// Any thread.
class Meeting {
 public:
  explicit Meeting(int threads) : barrier_(threads) {}

  /// Returns when all that have not left are here.
  void wait() { barrier_.arrive_and_wait(); }
  /// The caller does not come again, or somebody who never came. Once for each.
  void leave() { barrier_.arrive_and_drop(); }

  /// Makes `end_of_stage` of the calling thread wait at a meeting, for as long as the object lives.
  class Stages {
   public:
    explicit Stages(Meeting& meeting);
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;
    ~Stages();
  };

 private:
  std::barrier<> barrier_;
};

/// Between the parts of an operation that has several: with meet=stage the calling thread waits for
/// the others here, otherwise nothing happens. Any thread.
void end_of_stage();

}  // namespace mpsprobe
