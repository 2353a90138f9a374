// The defects of a profile as a program sees them through Apple's classes. A profile is for a whole
// process: this one has a defect of each kind in an operation of its own, which every encode meets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <shaders/kernels_text.h>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "scenarios/sim/face/arrays_for_tests.h"
#include "scenarios/sim/face/face.h"
#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::sim::face {
namespace {

using metal_rules::bytes;
using metal_rules::floats;
using metal_rules::matrix;
using metal_rules::new_command_buffer;
using metal_rules::new_queue;
using metal_rules::product_kernel;
using metal_rules::run;
using testing::Each;

constexpr const char* kProfile = R"({
  "mpsprobe_profile": 1, "name": "one-of-each",
  "defects": [
    {"ops": ["mm"], "paths": ["nograph"], "slots": 0, "hold_us": 0, "beyond": "exception", "text": "A and B index not found"},
    {"ops": ["linear"], "paths": ["nograph"], "slots": 0, "hold_us": 0, "beyond": "gpu_error"},
    {"ops": ["relu"], "slots": 0, "hold_us": 0, "beyond": "wrong_numbers"},
    {"ops": ["sin"], "slots": 0, "hold_us": 0, "beyond": "exception", "text": "no sine"},
    {"ops": ["add"], "paths": ["nograph"], "slots": 0, "hold_us": 0, "beyond": "gpu_error"},
    {"ops": ["zero_", "copy_"], "slots": 0, "hold_us": 0, "beyond": "wrong_numbers"},
    {"ops": ["softmax"], "slots": 0, "hold_us": 0, "beyond": "exception", "text": "Invalid KernelDAG"}
  ]
})";

class FaceDefects : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string path = testing::TempDir() + "face_defects_" + std::to_string(getpid());
    std::ofstream(path) << kProfile;
    std::array<char, 256> error{};
    EXPECT_EQ(mpsprobe_metal_face_start(path.c_str(), error.data(), error.size()), 0)
        << error.data();
    std::remove(path.c_str());
  }
};

/// The reason of the exception that `work` raises, empty where it raises none. Nothing in here that
/// C++ would have to clean up: the runtime wants functions that catch to its own.
template <typename Work>
const char* raised_by(const Work& work) {
  @try {
    work();
  } @catch (NSException* exception) {
    return [[exception reason] UTF8String];
  }
  return "";
}

void encode_product(MPSNDArrayMatrixMultiplication* kernel, id<MTLCommandBuffer> commands,
                    id<MTLBuffer> buffer) {
  [kernel encodeToCommandBuffer:commands
                   sourceArrays:@[ matrix(buffer, 0), matrix(buffer, 0) ]
               destinationArray:matrix(bytes(4 * sizeof(float)), 0)];
}

TEST_F(FaceDefects, AnExceptionLeavesKernelAndCommandBufferUsableAndTheBufferUnheld) {
  id<MTLBuffer> buffer = nil;
  @autoreleasepool {
    buffer = [bytes(4 * sizeof(float)) retain];
    MPSNDArrayMatrixMultiplication* const kernel = product_kernel();
    const id<MTLCommandBuffer> commands = new_command_buffer();
    for (int i = 0; i < 2; ++i) {
      EXPECT_STREQ(raised_by([&] { encode_product(kernel, commands, buffer); }),
                   "A and B index not found");
    }
    EXPECT_EQ(run(commands), "");
  }
  EXPECT_EQ([buffer retainCount], 1U);
  [buffer release];
}

std::vector<float> computed(bool softmax, const char** raised) {
  constexpr std::array<int64_t, 1> kSizes = {2};
  MPSCommandBuffer* const commands = [MPSCommandBuffer commandBufferFromCommandQueue:new_queue()];
  MPSGraph* const graph = [[[MPSGraph alloc] init] autorelease];
  MPSGraphTensor* const input = [graph placeholderWithShape:shape(kSizes)
                                                   dataType:MPSDataTypeFloat32
                                                       name:nil];
  MPSGraphTensor* const output = softmax ? [graph softMaxWithTensor:input axis:-1 name:nil]
                                         : [graph reLUWithTensor:input name:nil];
  const id<MTLBuffer> result = bytes(2 * sizeof(float));
  *raised = raised_by([&] {
    [graph encodeToCommandBuffer:commands
                           feeds:@{input : data_of(floats(std::array<float, 2>{1, 1}), kSizes)}
                targetOperations:nil
               resultsDictionary:@{output : data_of(result, kSizes)}
             executionDescriptor:nil];
  });
  EXPECT_EQ(run(commands), "");
  return numbers_of(result);
}

TEST_F(FaceDefects, AnExceptionFromAGraphLeavesItsResultUnwritten) {
  @autoreleasepool {
    const char* raised = nullptr;
    EXPECT_THAT(computed(true, &raised), testing::ElementsAre(0, 0));
    EXPECT_STREQ(raised, "Invalid KernelDAG");
  }
}

TEST_F(FaceDefects, WrongNumbersComeWithoutAnError) {
  @autoreleasepool {
    const char* raised = nullptr;
    EXPECT_THAT(computed(false, &raised), testing::ElementsAre(113, 113));
    EXPECT_STREQ(raised, "");
    const id<MTLCommandBuffer> commands = new_command_buffer();
    const id<MTLBuffer> buffer = bytes(4);
    metal_rules::encode_fill(commands, buffer, NSMakeRange(0, 4), 7);
    EXPECT_EQ(run(commands), "");
    EXPECT_NE(metal_rules::holds(buffer, NSMakeRange(0, 4), 7), "");
    const id<MTLCommandBuffer> copying = new_command_buffer();
    const id<MTLBuffer> copied = bytes(4);
    const id<MTLBlitCommandEncoder> encoder = [copying blitCommandEncoder];
    [encoder copyFromBuffer:bytes(4) sourceOffset:0 toBuffer:copied destinationOffset:0 size:4];
    [encoder endEncoding];
    EXPECT_EQ(run(copying), "");
    EXPECT_NE(metal_rules::holds(copied, NSMakeRange(0, 4), 0), "");
  }
}

/// What a kernel of the program's own leaves in a buffer of 4 zeros; `raised` and `problem` are
/// what the dispatch and the command buffer say.
std::vector<float> dispatched(NSString* name, const char** raised, std::string* problem) {
  const id<MTLLibrary> library =
      [[metal_rules::device() newLibraryWithSource:[NSString stringWithUTF8String:kKernelsText]
                                           options:nil
                                             error:nullptr] autorelease];
  const id<MTLFunction> function = [[library newFunctionWithName:name] autorelease];
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:[[metal_rules::device()
                                       newComputePipelineStateWithFunction:function
                                                                     error:nullptr] autorelease]];
  const id<MTLBuffer> result = bytes(4 * sizeof(float));
  for (NSUInteger i = 0; i < 4; ++i) [encoder setBuffer:result offset:0 atIndex:i];
  *raised = raised_by([&] {
    [encoder dispatchThreads:MTLSizeMake(3, 1, 1) threadsPerThreadgroup:MTLSizeMake(3, 1, 1)];
  });
  [encoder endEncoding];
  *problem = run(commands);
  return numbers_of(result);
}

TEST_F(FaceDefects, AKernelOfTheProgramsOwnMeetsThemToo) {
  @autoreleasepool {
    const char* raised = nullptr;
    std::string problem;
    EXPECT_THAT(dispatched(@"relu_array", &raised, &problem),
                testing::ElementsAre(113, 113, 113, 0));
    EXPECT_STREQ(raised, "");
    EXPECT_EQ(problem, "");
    EXPECT_THAT(dispatched(@"sine", &raised, &problem), Each(0));
    EXPECT_STREQ(raised, "no sine");
    EXPECT_EQ(problem, "");
    EXPECT_THAT(dispatched(@"axpy", &raised, &problem), Each(0));
    EXPECT_STREQ(raised, "");
    EXPECT_THAT(problem, testing::HasSubstr("Internal Error"));
  }
}

TEST_F(FaceDefects, AFailingCommandBufferTellsByStatusAndErrorAndComputesNothing) {
  @autoreleasepool {
    MPSCommandBuffer* const commands = [MPSCommandBuffer commandBufferFromCommandQueue:new_queue()];
    const id<MTLBuffer> result = encode_by_kernel(Layer(), [commands rootCommandBuffer]);
    EXPECT_TRUE([commands error] == nil);
    [commands commit];
    [commands waitUntilCompleted];
    EXPECT_EQ([commands status], MTLCommandBufferStatusError);
    EXPECT_TRUE([[[commands error] domain] isEqual:MTLCommandBufferErrorDomain]);
    EXPECT_STREQ([[[commands error] localizedDescription] UTF8String],
                 "Internal Error (0000000e:Internal Error)");
    EXPECT_EQ(numbers_of(result), std::vector<float>(12));
  }
}

TEST_F(FaceDefects, TheFaceSaysWhatRunsAndRefusesAnotherProfile) {
  EXPECT_THAT(mpsprobe_metal_face_describe(), testing::HasSubstr(R"("profile":"one-of-each")"));
  std::array<char, 256> error{};
  EXPECT_NE(mpsprobe_metal_face_start(MPSPROBE_SOURCE_DIR "/scenarios/sim/profiles/clean.json",
                                      error.data(), error.size()),
            0);
  EXPECT_THAT(error.data(), testing::HasSubstr("runs already with profile one-of-each"));
  EXPECT_THAT(error.data(), testing::HasSubstr("Use one profile per process"));
}

}  // namespace
}  // namespace mpsprobe::sim::face
