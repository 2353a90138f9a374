#include <Block.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <shaders/kernels_text.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "scenarios/sim/face/arrays_for_tests.h"
#include "scenarios/sim/face/gnustep/dispatch/dispatch.h"
#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::sim::face {
namespace {

using metal_rules::bytes;
using metal_rules::device;
using metal_rules::encode_fill;
using metal_rules::floats;
using metal_rules::new_command_buffer;
using metal_rules::new_queue;
using metal_rules::run;

// GNUstep's Foundation has a Block_copy of its own, which returns such a block as it is.
TEST(FaceObjects, ABlockThatHoldsAPlainNumberOutlivesTheFunctionThatMadeIt) {
  int number = 7;
  int (^const on_the_stack)() = ^{
    return number;
  };
  int (^const kept)() = Block_copy(on_the_stack);
  EXPECT_NE((void*)kept, (void*)on_the_stack);
  EXPECT_EQ(kept(), 7);
  Block_release(kept);
}

// As an exception leaves them that passes them.
TEST(FaceObjects, AThreadMayEndWithPoolsOpen) {
  const dispatch_queue_t queue = dispatch_queue_create("test", nullptr);
  std::thread([&] {
    dispatch_sync(queue, ^{
      [[NSAutoreleasePool alloc] init];
      [[NSAutoreleasePool alloc] init];
      EXPECT_EQ([new_command_buffer() error], nil);
    });
  }).join();
}

TEST(FaceObjects, HandlersAreCalledOnceEachInTheirOrderWithTheCommandBuffer) {
  @autoreleasepool {
    std::vector<std::string> called;
    std::vector<std::string>* const log = &called;
    const id<MTLCommandBuffer> commands = new_command_buffer();
    const auto note = [log, commands](id<MTLCommandBuffer> which, const char* name,
                                      MTLCommandBufferStatus status) {
      const bool right = which == commands && [which status] == status;
      log->push_back(right ? name : std::string(name) + " with something else");
    };
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      note(which, "completed 1", MTLCommandBufferStatusCompleted);
    }];
    [commands addScheduledHandler:^(id<MTLCommandBuffer> which) {
      note(which, "scheduled 1", MTLCommandBufferStatusScheduled);
    }];
    [commands addScheduledHandler:^(id<MTLCommandBuffer> which) {
      note(which, "scheduled 2", MTLCommandBufferStatusScheduled);
    }];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      note(which, "completed 2", MTLCommandBufferStatusCompleted);
    }];
    EXPECT_TRUE(called.empty());
    EXPECT_EQ(run(commands), "");
    [commands waitUntilCompleted];
    EXPECT_THAT(called,
                testing::ElementsAre("scheduled 1", "scheduled 2", "completed 1", "completed 2"));
  }
}

TEST(FaceObjects, AHandlerMayReleaseTheLastReferenceToItsCommandBuffer) {
  id<MTLBuffer> buffer = nil;
  id<MTLCommandBuffer> commands = nil;
  @autoreleasepool {
    buffer = [bytes(4) retain];
    commands = [new_command_buffer() retain];
    encode_fill(commands, buffer, NSMakeRange(0, 4), 5);
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      [which release];
    }];
  }
  @autoreleasepool {
    [commands commit];
    // It may be gone already; what is committed later is executed later.
    const id<MTLCommandBuffer> later = new_command_buffer();
    EXPECT_EQ(run(later), "");
    EXPECT_EQ(metal_rules::holds(buffer, NSMakeRange(0, 4), 5), "");
    EXPECT_EQ([buffer retainCount], 1U);
  }
  [buffer release];
}

TEST(FaceObjects, AnMpsCommandBufferPassesEverythingOn) {
  @autoreleasepool {
    const id<MTLCommandQueue> queue = [[device() newCommandQueue] autorelease];
    MPSCommandBuffer* const around = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
    const id<MTLCommandBuffer> root = [around rootCommandBuffer];
    std::vector<std::string> called;
    std::vector<std::string>* const log = &called;
    [around addScheduledHandler:^(id<MTLCommandBuffer>) {
      log->push_back("scheduled");
    }];
    [around addCompletedHandler:^(id<MTLCommandBuffer>) {
      log->push_back("completed");
    }];
    const id<MTLBuffer> buffer = bytes(4);
    encode_fill(around, buffer, NSMakeRange(0, 4), 3);
    [[around computeCommandEncoder] endEncoding];
    EXPECT_EQ([around status], MTLCommandBufferStatusNotEnqueued);
    [around commit];
    [around waitUntilCompleted];
    EXPECT_EQ([root status], MTLCommandBufferStatusCompleted);
    EXPECT_EQ([around status], MTLCommandBufferStatusCompleted);
    EXPECT_TRUE([around error] == nil);
    EXPECT_EQ(metal_rules::holds(buffer, NSMakeRange(0, 4), 3), "");
    EXPECT_THAT(called, testing::ElementsAre("scheduled", "completed"));
  }
}

/// One reference to a buffer, and what `use` left of it besides.
template <typename Use>
NSUInteger references_after(Use use) {
  const id<MTLBuffer> buffer = [device() newBufferWithLength:4 * sizeof(float)
                                                     options:MTLResourceStorageModeShared];
  @autoreleasepool {
    use(buffer);
  }
  const NSUInteger count = [buffer retainCount];
  [buffer release];
  return count;
}

constexpr std::array<int64_t, 2> kSquare = {2, 2};

void encode_square(id<MTLCommandBuffer> commands, id<MTLBuffer> buffer) {
  MPSNDArrayMatrixMultiplication* const kernel =
      [[[MPSNDArrayMatrixMultiplication alloc] initWithDevice:device() sourceCount:2] autorelease];
  [kernel encodeToCommandBuffer:commands
                   sourceArrays:@[ array_of(buffer, kSquare), array_of(buffer, kSquare) ]
               destinationArray:array_of(bytes(4 * sizeof(float)), kSquare)];
}

void encode_relu(MPSCommandBuffer* commands, id<MTLBuffer> buffer) {
  MPSGraph* const graph = [[[MPSGraph alloc] init] autorelease];
  MPSGraphTensor* const input = [graph placeholderWithShape:shape(kSquare)
                                                   dataType:MPSDataTypeFloat32
                                                       name:nil];
  [graph encodeToCommandBuffer:commands
                         feeds:@{input : data_of(buffer, kSquare)}
              targetOperations:nil
             resultsDictionary:@{[graph reLUWithTensor:input name:nil] : data_of(buffer, kSquare)}
           executionDescriptor:nil];
}

TEST(FaceObjects, ASecondGraphGoesIntoACommandBufferOfItsOwn) {
  @autoreleasepool {
    const id<MTLCommandQueue> queue = [[device() newCommandQueue] autorelease];
    MPSCommandBuffer* const around = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
    const id<MTLCommandBuffer> first = [around rootCommandBuffer];
    const id<MTLBuffer> buffer = bytes(4 * sizeof(float));
    encode_relu(around, buffer);
    EXPECT_EQ([around rootCommandBuffer], first);
    encode_relu(around, buffer);
    EXPECT_NE([around rootCommandBuffer], first);
    [first waitUntilCompleted];
    EXPECT_EQ([first status], MTLCommandBufferStatusCompleted);
    EXPECT_EQ([around status], MTLCommandBufferStatusNotEnqueued);
    EXPECT_EQ(run(around), "");
  }
}

TEST(FaceObjects, NothingKeepsABufferWhenItsWorkIsDone) {
  EXPECT_EQ(references_after([](id<MTLBuffer> buffer) {
              const id<MTLCommandBuffer> commands = new_command_buffer();
              encode_fill(commands, buffer, NSMakeRange(0, 4), 1);
              EXPECT_EQ(run(commands), "");
            }),
            1U);
  EXPECT_EQ(references_after([](id<MTLBuffer> buffer) {
              const id<MTLCommandBuffer> commands = new_command_buffer();
              encode_square(commands, buffer);
              EXPECT_EQ(run(commands), "");
            }),
            1U);
  EXPECT_EQ(references_after([](id<MTLBuffer> buffer) {
              MPSCommandBuffer* const commands =
                  [MPSCommandBuffer commandBufferFromCommandQueue:new_queue()];
              encode_relu(commands, buffer);
              EXPECT_EQ(run(commands), "");
            }),
            1U);
}

TEST(FaceObjects, NothingKeepsABufferWhoseWorkWasNeverCommitted) {
  EXPECT_EQ(references_after([](id<MTLBuffer> buffer) {
              MPSCommandBuffer* const commands =
                  [MPSCommandBuffer commandBufferFromCommandQueue:new_queue()];
              encode_fill(commands, buffer, NSMakeRange(0, 4), 1);
              encode_square([commands rootCommandBuffer], buffer);
              encode_relu(commands, buffer);
            }),
            1U);
}

TEST(FaceObjects, ACommandBufferKeepsWhatItsWorkUses) {
  @autoreleasepool {
    const id<MTLBuffer> buffer = bytes(4 * sizeof(float));
    const id<MTLCommandBuffer> commands = new_command_buffer();
    @autoreleasepool {
      const id<MTLBuffer> passing = floats(std::array<float, 4>{1, 2, 3, 4});
      const id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
      [encoder copyFromBuffer:passing
                 sourceOffset:0
                     toBuffer:buffer
            destinationOffset:0
                         size:4 * sizeof(float)];
      [encoder endEncoding];
    }
    EXPECT_EQ(run(commands), "");
    EXPECT_THAT(numbers_of(buffer), testing::ElementsAre(1, 2, 3, 4));
  }
}

// Otherwise the graph would read beyond the buffer.
TEST(FaceObjectsDeathTest, AGraphRefusesTensorDataOfAnotherShapeThanThePlaceholder) {
  const auto feed_too_little = [] {
    constexpr std::array<int64_t, 1> kTwo = {2};
    MPSGraph* const graph = [[[MPSGraph alloc] init] autorelease];
    MPSGraphTensor* const input = [graph placeholderWithShape:shape(kSquare)
                                                     dataType:MPSDataTypeFloat32
                                                         name:nil];
    MPSGraphTensor* const output = [graph reLUWithTensor:input name:nil];
    [graph encodeToCommandBuffer:[MPSCommandBuffer commandBufferFromCommandQueue:new_queue()]
                           feeds:@{input : data_of(bytes(8), kTwo)}
                targetOperations:nil
               resultsDictionary:@{output : data_of(bytes(16), kSquare)}
             executionDescriptor:nil];
  };
  @autoreleasepool {
    EXPECT_EXIT(feed_too_little(), testing::KilledBySignal(SIGABRT),
                "tensor data of another shape than its tensor");
  }
}

TEST(FaceObjectsDeathTest, AnEncoderHas31PlacesForBuffers) {
  const auto bind_at = [](NSUInteger index) {
    const id<MTLComputeCommandEncoder> encoder =
        [[new_queue() commandBuffer] computeCommandEncoder];
    [encoder setBuffer:bytes(4) offset:0 atIndex:index];
    [encoder endEncoding];
  };
  @autoreleasepool {
    bind_at(30);
    EXPECT_EXIT(bind_at(31), testing::KilledBySignal(SIGABRT), "from 0 to 30, and not 31");
  }
}

/// The error of a text, or empty where it was taken.
std::string refusal(const std::string& source) {
  NSError* error = nil;
  const id<MTLLibrary> library =
      [[metal_rules::device() newLibraryWithSource:[NSString stringWithUTF8String:source.c_str()]
                                           options:nil
                                             error:&error] autorelease];
  return library != nil ? "" : [[error localizedDescription] UTF8String];
}

TEST(FaceLibrary, TakesTheKernelsThatItHasAndNamesAnyOther) {
  @autoreleasepool {
    const std::string ours = kKernelsText;
    EXPECT_EQ(refusal(ours), "");
    const size_t begin = ours.find("kernel void axpy");
    std::string one = ours.substr(begin, ours.find("kernel void sine") - begin);
    EXPECT_EQ(refusal(one), "");
    one.replace(one.find(" + y"), 4, " - y");
    EXPECT_THAT(refusal(one), testing::HasSubstr("axpy is none of them as it stands there"));
    EXPECT_THAT(refusal("float f();"), testing::HasSubstr("finds no kernel"));
  }
}

}  // namespace
}  // namespace mpsprobe::sim::face
