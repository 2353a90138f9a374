#include "reports/analysis/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/analysis/analysis.h"
#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::Contains;
using ::testing::Not;

auto warns_of(const char* code) {
  return Contains(testing::Field(&Warning::code, code));
}

// What is asked for alone has to be what the whole analysis says.
Analysis analysed(const SampleJournal& sample) {
  Analysis analysis = analyse(sample.journal);
  const DeviceKinds kinds = device_kinds(sample.journal);
  EXPECT_EQ(kinds.simulated, analysis.simulated);
  EXPECT_EQ(kinds.paravirtual, analysis.paravirtual);
  return analysis;
}

TEST(Devices, SimulatedAndParavirtualAreSaid) {
  SampleJournal sample;
  sample.plan("sim/add/default/threads=1").ran(10);
  EXPECT_THAT(analysed(sample).warnings, warns_of("simulated"));
  SampleJournal hosted;
  hosted.plan("mps/add/default/threads=1").ran(10);
  EXPECT_THAT(analysed(hosted).warnings, Not(warns_of("paravirtual")));
  hosted.journal.header.machine["gpu"] = "Apple Paravirtual device";
  EXPECT_THAT(analysed(hosted).warnings, warns_of("paravirtual"));
}

// A worker of the backend mps names the processor in its trials, for it may not touch Metal before
// they do; the device's own name is in its answer to `describe`.
TEST(Devices, AParavirtualDeviceIsKnownByAnyOfItsNames) {
  SampleJournal trials;
  trials.plan("mps/add/default/threads=1").ran(10);
  EXPECT_FALSE(analysed(trials).paravirtual);
  trials.journal.provenances["build-a"]["device"] = {{"device", "Apple M1 (Virtual)"}};
  EXPECT_TRUE(analysed(trials).paravirtual);

  SampleJournal described;
  described.plan("metal/add/default/threads=1").ran(10);
  described.journal.header.workers[0].describe["backends"] = {
      {{"name", "mps"}, {"device", "Apple M1"}},
      {{"name", "metal"}, {"device", "Apple Paravirtual device"}}};
  EXPECT_TRUE(analysed(described).paravirtual);

  SampleJournal machine;
  machine.plan("mps/add/default/threads=1").ran(10);
  machine.journal.header.machine["model"] = "VirtualMac2,1";
  EXPECT_TRUE(analysed(machine).paravirtual);

  // What runs on the processor of such a machine runs on a real one.
  SampleJournal cpu;
  cpu.plan("cpu/add/default/threads=1").ran(10);
  cpu.journal.header.machine["model"] = "VirtualMac2,1";
  EXPECT_FALSE(analysed(cpu).paravirtual);
}

TEST(Devices, AVirtualMacIsNotPooledWithTheChipThatItIsNamedAfter) {
  SampleJournal resumed;
  resumed.journal.provenances["build-a"]["device"] = {{"device", "Apple M1 (Virtual)"}};
  resumed.plan("mps/add/default/threads=1").ran(5, 5);
  resumed.journal.provenances["build-real"] = resumed.journal.provenances["build-a"];
  resumed.journal.provenances["build-real"]["device"] = {{"device", "Apple M1"}};
  resumed.provenance = "build-real";
  resumed.ran(5);
  for (size_t i = 5; i < 10; ++i) resumed.journal.trials[i].trial += 5;
  const Analysis analysis = analysed(resumed);
  ASSERT_EQ(analysis.cells.size(), 2U);
  EXPECT_EQ(analysis.cells[0].counted, 5);
  EXPECT_EQ(analysis.cells[0].failures, 5);
  EXPECT_EQ(analysis.cells[1].failures, 0);
  EXPECT_TRUE(analysis.cells[0].paravirtual);
  EXPECT_FALSE(analysis.cells[1].paravirtual);
}

TEST(Devices, AWorkerThatSaysItsDeviceIsSimulatedIsBelieved) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=1").ran(10);
  EXPECT_FALSE(analysed(sample).simulated);
  sample.journal.provenances["build-a"]["device"] = {{"name", "toy"}, {"simulated", true}};
  EXPECT_TRUE(analysed(sample).simulated);
}

TEST(Devices, OfAPlanThatNothingRanOfAreSaidToo) {
  SampleJournal sample;
  sample.plan("sim/add/default/threads=1");
  EXPECT_TRUE(analysed(sample).simulated);
}

}  // namespace
}  // namespace mpsprobe
