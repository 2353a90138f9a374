#include "scenarios/threads/perturbation.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "scenarios/threads/threads.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

/// A planted race: who comes while others are inside is counted. Inside, nothing takes time.
struct PlantedRace {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> launches{0};
};

class RacingLane : public Lane {
 public:
  RacingLane(PlantedRace& race, bool has_place) : race_(race), has_place_(has_place) {}
  std::string operation() const override { return "racing"; }
  void launch(int iteration) override {
    if (iteration < 0) throw std::runtime_error("an iteration below 0");
    const int now = race_.inside.fetch_add(1) + 1;
    for (int most = race_.most.load();
         most < now && !race_.most.compare_exchange_weak(most, now);) {
    }
    if (has_place_) hold_inside();
    race_.inside.fetch_sub(1);
    ++race_.launches;
  }
  void synchronise() override {}
  CheckResult check() override { return {}; }

 private:
  PlantedRace& race_;
  bool has_place_;
};

class RacingWorkload : public Workload {
 public:
  explicit RacingWorkload(bool has_place) : has_place_(has_place) {}
  void touch_device() override {}
  std::unique_ptr<Lane> make_lane(int) override {
    return std::make_unique<RacingLane>(race_, has_place_);
  }
  void settle() override {}
  std::string observed_path() override { return ""; }

  PlantedRace race_;
  const bool has_place_;
};

const PlantedRace& race_of(RacingWorkload& workload, const std::string& text) {
  const Cell cell = parse_cell(text);
  std::vector<std::unique_ptr<Lane>> lanes(static_cast<size_t>(cell.threads));
  const auto block = std::make_unique<recorder_layout::Block>();
  FlightRecorder recorder(block.get());
  run_threads(cell, cell.iterations, 1, workload, lanes, recorder,
              [](const FailureEvent& failure) { ADD_FAILURE() << failure.text; });
  return workload.race_;
}

TEST(Perturbation, AThreadInsideWaitsUntilAnotherComes) {
  RacingWorkload workload(true);
  EXPECT_GE(race_of(workload, "cpu/add/default/threads=2/iterations=50/perturb=trap").most, 2);
}

TEST(Perturbation, ATrapWithManyThreadsHasMoreThanTwoInside) {
  RacingWorkload workload(true);
  EXPECT_GE(race_of(workload, "cpu/add/default/threads=4/iterations=50/perturb=trap").most, 3);
}

TEST(Perturbation, ALockKeepsThreadsApartWhateverWaits) {
  for (const char* kind : {"clock", "starve", "trap"}) {
    RacingWorkload workload(true);
    const std::string cell = "cpu/add/default/threads=2/iterations=20/lock=forward/perturb=";
    EXPECT_EQ(race_of(workload, cell + kind).most, 1) << kind;
  }
}

TEST(Perturbation, EveryIterationIsRunWhoeverIsHeld) {
  for (const char* kind : {"clock", "starve", "trap"}) {
    for (const char* more : {"", "/throttle=1", "/start=staggered", "/churn=3", "/init=threads"}) {
      RacingWorkload workload(false);
      const bool churned = std::string(more) == "/churn=3";
      const std::string cell = "cpu/add/default/threads=3/iterations=7" + std::string(more);
      EXPECT_EQ(race_of(workload, cell + "/perturb=" + kind).launches, churned ? 63 : 21)
          << kind << more;
    }
  }
}

TEST(Perturbation, WhoAttendsNoneIsNotHeld) {
  hold_inside();
}

}  // namespace
}  // namespace mpsprobe
