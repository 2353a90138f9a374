#include "reports/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/sample_evidence.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The text of a warning; empty where the run has none of that code.
std::string warning(const SampleJournal& sample, const std::string& code) {
  for (const Warning& found : analyse(sample.journal).warnings) {
    if (found.code == code) return found.text;
  }
  return "";
}

TEST(Warnings, ThinSignaturesAreCounted) {
  EXPECT_THAT(warning(journal_with_evidence(), "thin_signatures"),
              HasSubstr("1 signature (2 trials) rests on nothing but the place"));
  EXPECT_THAT(warning(report_000(), "thin_signatures"), IsEmpty());
}

TEST(Warnings, GpuEventsAroundTrialsAreCounted) {
  EXPECT_THAT(warning(journal_with_evidence(), "gpu_events"),
              HasSubstr("around 1 trial, first around one of sim/linear/nograph/threads=8."));
  EXPECT_THAT(warning(report_000(), "gpu_events"), IsEmpty());
}

TEST(Warnings, AValidationThatDidNotAnnounceItselfIsSaid) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2/validation=api+shader").ran(3);
  EXPECT_THAT(warning(sample, "no_validation_banner"), HasSubstr("In 3 trials that ask for"));
  for (TrialRecord& trial : sample.journal.trials) trial.processes[0].api_validation_seen = true;
  EXPECT_THAT(warning(sample, "no_validation_banner"), HasSubstr("In 3 trials that ask for"));
  for (TrialRecord& trial : sample.journal.trials) trial.processes[0].shader_validation_seen = true;
  EXPECT_THAT(warning(sample, "no_validation_banner"), IsEmpty());
  SampleJournal without;
  without.plan("mps/add/default/threads=2").ran(3);
  EXPECT_THAT(warning(without, "no_validation_banner"), IsEmpty());
}

TEST(Warnings, WorkersWithTheSameLibraryAreSaid) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  sample.plan("mps/add/default/threads=2").ran(3).ran(3, 0, SampleJournal::segfault(), "fork");
  EXPECT_THAT(warning(sample, "same_build"),
              HasSubstr("The workers stock and fork loaded the same library"));
}

TEST(Warnings, BystandersAreNoEvidenceAndTheirRerunDecides) {
  Judgement bystander{Outcome::infrastructure, "bystander of a GPU restart"};
  bystander.bystander = true;
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(10, 3, bystander);
  // Trial 0 is run again and passes, trial 1 is run again and fails, trial 2 is a bystander again.
  for (int trial : {0, 1, 2}) {
    sample.ran(1, trial == 0 ? 0 : 1, trial == 2 ? bystander : SampleJournal::segfault());
    sample.last().trial = trial;
  }
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.cells[0].counted, 9);
  EXPECT_EQ(analysis.cells[0].failures, 1);
  EXPECT_EQ(analysis.cells[0].missing, 0);
  EXPECT_EQ(analysis.recorded, 10);
  EXPECT_EQ(analysis.bystanders.records, 4);
  EXPECT_EQ(analysis.bystanders.rerun, 2);
  EXPECT_THAT(warning(sample, "bystanders"), HasSubstr("4 trials died of a GPU restart"));
  EXPECT_THAT(warning(sample, "bystanders"), HasSubstr("2 were run again alone"));
  EXPECT_THAT(warning(sample, "repeated"), IsEmpty());
}

}  // namespace
}  // namespace mpsprobe
