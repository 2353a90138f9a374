#include "harness/campaign/rerun.h"

#include <gmock/gmock.h>

#include "harness/campaign/usual_jobs.h"

namespace mpsprobe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

class RerunArguments : public testing::Test {
 protected:
  RerunArguments() {
    header_.command_line = {"tools/mpsprobe", "run", "--matrix"};
    header_.seed = 7;
    header_.trials = 30;
    header_.timeout_seconds = 300;
    header_.stall_seconds = 20;
    header_.jobs = 2;
    header_.machine = {{"cores", 2U}, {"memory_bytes", uint64_t{8} << 30}};
    header_.memory_limit_bytes = uint64_t{3} << 30;
  }
  std::vector<std::string> words(const std::string& worker = "stock") const {
    return rerun_arguments(header_, worker, "/w", "cpu/mm/default");
  }
  CampaignHeader header_;
};

TEST_F(RerunArguments, RepeatNothingThatIsUsual) {
  EXPECT_THAT(words(), ElementsAre("tools/mpsprobe", "run", "--cell", "cpu/mm/default", "--trials",
                                   "30", "--seed", "7"));
}

TEST_F(RerunArguments, NameWorkerEnvironmentAndLimits) {
  header_.timeout_seconds = 12.5;
  header_.stall_seconds = 0.5;
  header_.memory_limit_bytes = uint64_t{100} << 20;
  header_.jobs = 1;
  header_.environment = {"A=b c"};
  header_.command_line = {"mpsprobe", "run", "--worker=stock=/w", "--expect-torch", "git:1234567"};
  EXPECT_THAT(words(), ElementsAre("mpsprobe", "run", "--cell", "cpu/mm/default", "--trials", "30",
                                   "--seed", "7", "--timeout", "12.5", "--stall", "0.5", "--jobs",
                                   "1", "--memory-limit", "100", "--worker", "stock=/w", "--env",
                                   "A=b c", "--expect-torch", "git:1234567"));
}

TEST_F(RerunArguments, GiveVariablesThatACellsTextMayNotSetAsOptions) {
  const std::vector<std::string> words =
      rerun_arguments(header_, "stock", "/w", "cpu/mm/default/env.MKL_NUM_THREADS=2/env.OWN=a.b");
  EXPECT_THAT(
      std::vector(words.begin() + 2, words.begin() + 6),
      ElementsAre("--cell", "cpu/mm/default/threads=1/env.MKL_NUM_THREADS=2", "--env.OWN", "a.b"));
}

TEST_F(RerunArguments, AnotherWorkerIsNamedHoweverTheRunCameToIt) {
  EXPECT_THAT(words("fork"), IsSupersetOf({"--worker", "fork=/w"}));
}

TEST_F(RerunArguments, TakeOneTrialAtATimeForUsualWhereRacesNeedTheCores) {
  const auto with = [this](const nlohmann::json& provenance) {
    header_.workers = {{"other", "/o", {}}, {"stock", "/w", {{"provenance", provenance}}}};
    return rerun_arguments(header_, "stock", "/w", "mlx/chain/default/threads=2");
  };
  const auto locked = with({{"python", {{"gil", true}}}});
  EXPECT_THAT(locked, Not(Contains(backend_table::kOnMac ? "none" : "--jobs")));
  EXPECT_THAT(with({{"python", {{"gil", false}}}}), IsSupersetOf({"--jobs", "2"}));
  EXPECT_THAT(with({{"mlx", {{"version", "0.32.4"}}}}), IsSupersetOf({"--jobs", "2"}));
}

TEST(UsualJobs, AreOneForEachCoreWhereNothingSpeaksForFewer) {
  const WorkerInfo locked{"p", "/p", {{"provenance", {{"python", {{"gil", true}}}}}}};
  const WorkerInfo cpp{"c", "/c", {{"provenance", {{"mlx", nlohmann::json::object()}}}}};
  EXPECT_EQ(usual_jobs({Backend::cpu}, {cpp}, 4), 4);
  EXPECT_EQ(usual_jobs({Backend::cpu}, {cpp}, 64), 8);
  EXPECT_EQ(usual_jobs({Backend::cpu, Backend::cuda}, {locked}, 4), 1);
  EXPECT_EQ(usual_jobs({Backend::mlx}, {cpp}, 4), 1);
  EXPECT_EQ(usual_jobs({Backend::mlx}, {}, 4), 1);
  EXPECT_EQ(usual_jobs({Backend::mlx}, {locked, cpp}, 4), 1);
  EXPECT_EQ(usual_jobs({Backend::mlx}, {locked}, 4), backend_table::kOnMac ? 1 : 4);
}

TEST_F(RerunArguments, DoWithoutFactsOfTheMachine) {
  header_.machine = nullptr;
  header_.command_line.clear();
  EXPECT_EQ(words().size(), 8U);
  EXPECT_EQ(words().front(), "mpsprobe");
}

}  // namespace
}  // namespace mpsprobe
