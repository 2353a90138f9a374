// Retain and release are written by hand here: is everything released, once?
#import <Foundation/NSDebug.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "scenarios/metal/apple_device.h"
#include "scenarios/metal/metal_workload.h"
#include "scenarios/objective_c/owned.h"

namespace mpsprobe::metal {
namespace {

// The simulated device's objects, and Apple's, of which a launch makes some.
constexpr const char* kClasses[] = {"SimulatedBuffer",
                                    "SimulatedCommandBuffer",
                                    "SimulatedEncoder",
                                    "SimulatedFunction",
                                    "SimulatedLibrary",
                                    "SimulatedPipeline",
                                    "SimulatedQueue",
                                    "MPSCommandBuffer",
                                    "MPSGraph",
                                    "MPSGraphTensor",
                                    "MPSGraphTensorData",
                                    "MPSNDArray",
                                    "MPSNDArrayDescriptor",
                                    "MPSNDArrayMatrixMultiplication"};

/// Enters each class in the table of counts, while there is one thread. Foundation looks for a
/// class before it takes the table's lock: two threads that make a class's first two objects at
/// once enter it twice, and the entry that is read then ends at -1.
void enter_classes() {
  GSDebugAllocationActive(YES);
  for (const char* name : kClasses) {
    Class const kind = NSClassFromString([NSString stringWithUTF8String:name]);
    if (kind == nil) continue;
    GSDebugAllocationAdd(kind, nil);
    GSDebugAllocationRemove(kind, nil);
  }
}

/// How many there are of each class, of those that there are any of.
std::map<std::string, int> living() {
  std::map<std::string, int> counts;
  for (const char* name : kClasses) {
    Class const kind = NSClassFromString([NSString stringWithUTF8String:name]);
    const int count = kind == nil ? -1 : GSDebugAllocationCount(kind);
    if (count != 0) counts[name] = count;
  }
  return counts;
}

/// The same, once the device's own thread has let go of the last command buffer, which it does
/// after its waiters were told; or after 5 s.
std::map<std::string, int> living_in_the_end() {
  for (int i = 0; i < 120000 && !living().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return living();
}

void run(const std::string& text) {
  const Pool pool;
  const Cell cell = parse_cell(text);
  prepare_device(cell);
  const std::unique_ptr<Workload> workload =
      make_metal_workload(*find_metal_operation(cell.op), cell, 1);
  workload->touch_device();
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int thread = 0; thread < cell.threads; ++thread) {
    lanes.push_back(workload->make_lane(thread));
  }
  std::vector<std::thread> threads;
  for (const std::unique_ptr<Lane>& lane : lanes) {
    threads.emplace_back([&lane, &cell] {
      for (int i = 0; i < cell.iterations; ++i) {
        lane->launch(i);
        if (cell.sync == Sync::each) lane->synchronise();
      }
      lane->synchronise();
      lane->leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::unique_ptr<Lane>& lane : lanes) {
    const CheckResult result = lane->check();
    EXPECT_EQ(result.checked, static_cast<uint64_t>(cell.iterations)) << text;
    EXPECT_EQ(result.difference, "") << text;
  }
}

TEST(MetalOwnership, EverythingThatACellMadeIsGoneWhenItIsOver) {
  const Pool pool;
  enter_classes();
  const std::string clean = "/threads=3/iterations=20/profile=clean";
  for (const std::string cell :
       {"metal/linear/nograph", "metal/linear/graph", "metal/raw/default", "metal/zeros/default",
        "metal/axpy/default/sync=end", "metal/strided_copy/default", "metal/sin/default/shape=1000",
        "metal/linear/graph/sync=end", "metal/raw/default/queue=shared",
        "metal/linear/nograph/sync=end", "metal/empty_commit/default"}) {
    run(cell + clean);
    EXPECT_THAT(living_in_the_end(), testing::IsEmpty()) << cell;
  }
}

}  // namespace
}  // namespace mpsprobe::metal
