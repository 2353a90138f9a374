// The damages of the self-test where malloc is that of a Mac.
#include <gmock/gmock.h>

#include "harness/journal/journal_reader.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

class MacHeap : public ProgramTest {
 protected:
  /// The trials of one self-test, by a worker whose malloc is the allocator's.
  TrialRecord trial_of(const std::string& selftest, const std::string& allocator) {
    const std::string real = selftest_.substr(selftest_.find('=') + 1);
    const std::string worker = write(
        "worker.sh", "#!/bin/sh\nMAC_MALLOC=" + allocator +
                         " LD_PRELOAD='" MPSPROBE_MAC_MALLOC "' exec '" + real + "' \"$@\"\n");
    fs::permissions(worker, fs::perms::owner_all);
    const std::string out = path(selftest + "-" + allocator);
    const Run run =
        mpsprobe({"run", "--matrix", "selftest", "--filter", "*selftest." + selftest + "*",
                  "--trials", "1", "--worker", "stock=" + worker, "--out", out});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_THAT(run.out, testing::Not(testing::HasSubstr("UNEXPECTED")));
    const Journal journal = read_journal(out + "/journal.ndjson");
    return journal.trials.size() == 1 ? journal.trials[0] : TrialRecord();
  }
};

TEST_F(MacHeap, AnOverwrittenFreeBlockIsSeenByTheAllocatorOfEverySystem) {
  const TrialRecord nano = trial_of("heap_crash", "nano");
  EXPECT_EQ(nano.judgement.outcome, Outcome::assertion);
  EXPECT_EQ(nano.judgement.signature, "malloc: heap corruption detected");
  // Without the nano zone.
  const TrialRecord tiny = trial_of("heap_crash", "tiny");
  EXPECT_EQ(tiny.judgement.outcome, Outcome::assertion);
  EXPECT_EQ(tiny.judgement.signature, "malloc: block modified after being freed");
  // Without the system's crash report, which alone has xzone's words.
  const TrialRecord xzone = trial_of("heap_crash", "xzone");
  EXPECT_EQ(xzone.judgement.outcome, Outcome::signal);
  EXPECT_THAT(xzone.judgement.detail, testing::AnyOf("SIGTRAP", "SIGILL"));
}

TEST_F(MacHeap, WhatWasNeverAllocatedIsFreedNowhere) {
  for (const char* allocator : {"nano", "xzone"}) {
    const TrialRecord trial = trial_of("wild_free", allocator);
    EXPECT_EQ(trial.judgement.outcome, Outcome::assertion) << allocator;
    EXPECT_EQ(trial.judgement.signature, "malloc: pointer being freed was not allocated");
  }
}

TEST_F(MacHeap, WhatDamagesNothingPasses) {
  EXPECT_EQ(trial_of("pass", "nano").judgement.outcome, Outcome::pass);
}

}  // namespace
}  // namespace mpsprobe
