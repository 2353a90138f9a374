#include "harness/outcome/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "harness/outcome/judge.h"
#include "harness/outcome/process_for_tests.h"
#include "harness/outcome/reported.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr const char* kForeignStream = "There is no Stream(cpu, 0) in current thread.";

FailureEvent threw(const std::string& text) {
  return {"exception", text, "run", 1, 3, "chain"};
}

// By the row's first words: what the library really printed, each from a run of it.
const std::map<std::string_view, const char*> kGoldens{{"There is no Stream(", kForeignStream}};

TEST(Refusals, EachRowHasAGoldenAndASource) {
  for (const Refusal& refusal : refusals()) {
    ASSERT_TRUE(kGoldens.contains(refusal.first)) << refusal.first;
    EXPECT_EQ(refusal_in(kGoldens.at(refusal.first)), &refusal);
    EXPECT_THAT(std::string(refusal.source), StartsWith("https://"));
    EXPECT_FALSE(refusal.in_words.empty());
  }
  EXPECT_EQ(kGoldens.size(), refusals().size());
}

TEST(Refusals, AreNeitherWhatADeviceLacksNorWhatAnotherThreadSpoils) {
  for (const char* text :
       {"MPS device does not support linear for non-float inputs", "There is no Stream(",
        "operation not permitted when stream is capturing",
        "CUDA error: operation failed due to a previous error during capture",
        "Captures must end on the same stream they began on.", ""}) {
    EXPECT_EQ(refusal_in(text), nullptr) << text;
  }
}

TEST(JudgeRefusal, IsNeitherPassNorFailure) {
  ProcessRecord process = finished_process();
  process.failures = {threw(kForeignStream), threw(kForeignStream)};
  const Judgement judgement = judge(process);
  EXPECT_EQ(judgement.outcome, Outcome::refused);
  EXPECT_EQ(judgement.detail, "arrays and streams of another thread");
  EXPECT_EQ(judgement.signature, "exception: MLX: stream of another thread");
  EXPECT_FALSE(is_failure(judgement.outcome));
  EXPECT_FALSE(is_evidence(judgement.outcome));
}

TEST(JudgeRefusal, IsWhatTheTrialCameToWhereItWasFirst) {
  ProcessRecord process = finished_process();
  const FailureEvent wrong{"wrong_result", "5 of 64 differ", "run", 0, 3, "lazy"};
  process.failures = {wrong, threw(kForeignStream)};
  EXPECT_EQ(judge(process).outcome, Outcome::wrong_result);
  EXPECT_THAT(judge(process).also,
              ElementsAre(testing::Field(&OtherFinding::title,
                                         "exception: MLX: stream of another thread")));
  process.failures = {threw(kForeignStream), wrong};
  EXPECT_EQ(judge(process).outcome, Outcome::refused);
  EXPECT_THAT(judge(process).also,
              ElementsAre(testing::Field(&OtherFinding::title, "wrong result: lazy")));
  process = ended_process(Signaled{SIGSEGV, false});
  process.failures = {threw(kForeignStream)};
  EXPECT_EQ(judge(process).outcome, Outcome::refused);
  EXPECT_EQ(judge(process).also.size(), 1U);
  process.ended_by = EndedBy::no_progress;
  EXPECT_EQ(judge(process).outcome, Outcome::refused);
}

TEST(JudgeRefusal, OfWhichTheProgramDiedIsAFailure) {
  const ProcessRecord process =
      ended_process(Signaled{SIGABRT, false}, std::string("terminate called after throwing an "
                                                          "instance of 'std::runtime_error'\n"
                                                          "  what():  ") +
                                                  kForeignStream + "\n");
  EXPECT_EQ(judge(process).outcome, Outcome::exception);
}

TEST(JudgeRefusal, SpeaksForATrialThatElsePassed) {
  TrialRecord trial;
  trial.processes = {finished_process(), finished_process()};
  trial.processes[1].failures = {threw(kForeignStream)};
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::refused);
  EXPECT_EQ(trial.judged_process, 1);
  trial.processes.push_back(ended_process(Signaled{SIGSEGV, false}));
  judge_trial(trial);
  EXPECT_EQ(trial.judgement.outcome, Outcome::signal);
}

TEST(ReportedFailures, HaveTheTypeOfAnExceptionOfPythonInTheirTitle) {
  const auto title = [](const char* text) { return read_failure(threw(text)).signature; };
  EXPECT_EQ(title("ValueError: queue 3 is full"), "ValueError: queue N is full");
  EXPECT_EQ(title("SystemExit: 3"), "SystemExit");
  EXPECT_EQ(title("queue 3 is full"), "queue N is full");
}

}  // namespace
}  // namespace mpsprobe
