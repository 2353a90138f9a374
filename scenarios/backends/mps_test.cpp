// The backend mps on the stand-in: what its calls come to, where a user's program would make the
// same.
#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "scenarios/backends/each_backend.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

const int kProfiles = setenv("MPSPROBE_PROFILES", MPSPROBE_SOURCE_DIR "/scenarios/sim/profiles", 1);

Cell cell_on_mps(WaitFor wait = WaitFor::device, StreamUse stream = StreamUse::automatic) {
  Cell cell;
  cell.backend = Backend::mps;
  cell.profile = "clean";
  cell.wait = wait;
  cell.stream = stream;
  return cell;
}

std::string refusal_of(const Cell& cell) {
  try {
    open_mps(cell);
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return "";
}

TEST(Mps, ComputesWithEachWayOfWaiting) {
  for (const WaitFor wait : {WaitFor::device, WaitFor::stream, WaitFor::event}) {
    const std::unique_ptr<Device> device = open_mps(cell_on_mps(wait));
    device->touch();
    const at::Tensor three = device->upload(at::full({4}, 3));
    const at::Tensor six = three.add(three);
    device->synchronise();
    EXPECT_TRUE(six.device().is_mps());
    EXPECT_TRUE(at::equal(six.to(at::kCPU), at::full({4}, 6)));
    EXPECT_EQ(device->observed_path("add"), kNotObserved);
  }
}

TEST(Mps, AThreadThatAsksForAStreamHasOneOfThePool) {
  const std::unique_ptr<Device> device =
      open_mps(cell_on_mps(WaitFor::stream, StreamUse::per_thread));
  device->touch();
  const at::Tensor ones = device->upload(at::ones({4}));
  std::thread([&] {
    device->enter_thread(StreamUse::per_thread);
    const at::Tensor two = ones.add(ones);
    device->synchronise();
    EXPECT_TRUE(at::equal(two.to(at::kCPU), at::full({4}, 2.0F)));
  }).join();
}

TEST(Mps, RefusesWhatLibTorchHasNot) {
  Cell more_than_the_pool = cell_on_mps(WaitFor::device, StreamUse::per_thread);
  more_than_the_pool.threads = 33;
  EXPECT_THAT(refusal_of(more_than_the_pool), HasSubstr("Use threads=32 or fewer"));
  EXPECT_THAT(refusal_of(cell_on_mps(WaitFor::event, StreamUse::per_thread)),
              HasSubstr("wait=event: LibTorch's events"));
  EXPECT_EQ(refusal_of(cell_on_mps()), "");
}

TEST(Mps, IsAskedForALifeSignOnceItWasTouched) {
  const std::unique_ptr<Device> device = open_mps(cell_on_mps());
  int submitted = 0;
  EXPECT_EQ(device->probe([&] { ++submitted; }), Probe::impossible);
  device->touch();
  EXPECT_EQ(device->probe([&] { ++submitted; }), Probe::completed);
  EXPECT_EQ(submitted, 1);
}

TEST(Mps, AThreadBesideTimesEventsAndTheStandInHasNothingElseToCall) {
  Cell cell = cell_on_mps();
  const std::unique_ptr<Device> device = open_mps(cell);
  device->touch();
  for (const BesideThreads what : {BesideThreads::wait, BesideThreads::event}) {
    EXPECT_NO_THROW(device->beside(what));
  }
  for (const BesideThreads what :
       {BesideThreads::cache, BesideThreads::statistics, BesideThreads::profiler}) {
    cell.beside = what;
    EXPECT_THROW(open_mps(cell), UnsupportedError);
  }
}

TEST(Mps, SaysWhatItIsAndWhereThereIsNone) {
  const std::unique_ptr<Device> device = open_mps(cell_on_mps());
  EXPECT_EQ(device->description().at("backend"), "mps");
  EXPECT_TRUE(device->description().at("simulated"));
  const BackendReport report = report_mps();
  EXPECT_TRUE(report.available && report.simulated) << report.reason;
  EXPECT_THAT(report.device, HasSubstr("imulated"));
  setenv("MPSPROBE_STAND_IN_DEVICE", "none", 1);
  EXPECT_THROW(device->touch(), UnsupportedError);
  EXPECT_THAT(report_mps().reason, HasSubstr("LibTorch finds no MPS device"));
  setenv("MPSPROBE_STAND_IN_DEVICE", "broken", 1);
  EXPECT_FALSE(report_mps().available);
  EXPECT_THAT(report_mps().reason, HasSubstr("no device can be made"));
  unsetenv("MPSPROBE_STAND_IN_DEVICE");
}

}  // namespace
}  // namespace mpsprobe
