#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "scenarios/sim/defects.h"
#include "scenarios/sim/metal.h"
#include "scenarios/sim/operations.h"

namespace mpsprobe::sim::face {
struct DispatchState;
struct EventState;
}

// The simulated device's classes behind Metal's protocols. Their C++ halves are held by pointer:
// the runtime of GNUstep's classes does not construct C++ members.

@interface SimulatedDevice : NSObject <MTLDevice>
@end

@interface SimulatedQueue : NSObject <MTLCommandQueue> {
 @public
  mpsprobe::sim::metal::CommandQueue* queue_;
}
@end

@interface SimulatedHeap : NSObject <MTLHeap> {
 @public
  NSUInteger size_;
  std::atomic<NSUInteger>* used_;
}
- (id)initWithDescriptor:(MTLHeapDescriptor*)descriptor;
@end

@interface SimulatedBuffer : NSObject <MTLBuffer> {
 @public
  NSUInteger length_;
  char* contents_;
  bool borrowed_;        // the memory is the program's
  SimulatedHeap* heap_;  // nil: none
}
- (id)initWithBytes:(const void*)bytes length:(NSUInteger)length;
- (id)initBorrowing:(void*)bytes length:(NSUInteger)length;
@end

@interface SimulatedEvent : NSObject <MTLSharedEvent> {
 @public
  mpsprobe::sim::face::EventState* state_;
}
- (void)waitUntilSimulatedValue:(uint64_t)value;
@end

namespace mpsprobe::sim::face {

/// The C++ half of a command buffer.
struct Recording {
  std::shared_ptr<metal::CommandBuffer> buffer;
  std::thread::id owner = std::this_thread::get_id();  ///< no thread's id: any may use it
};

/// Aborts where the calling thread is not the one that made the command buffer. Metal asks for one
/// thread at a time and does not check it; programs of this project keep to one thread altogether,
/// which can be checked.
void require_owner(const Recording& recording, const char* method);

}  // namespace mpsprobe::sim::face

@interface SimulatedCommandBuffer : NSObject <MTLCommandBuffer> {
 @public
  SimulatedQueue* queue_;
  mpsprobe::sim::face::Recording* recording_;
}
- (id)initWithQueue:(SimulatedQueue*)queue;
@end

@interface SimulatedEncoder : NSObject <MTLBlitCommandEncoder, MTLComputeCommandEncoder> {
 @public
  SimulatedCommandBuffer* buffer_;
  mpsprobe::sim::metal::Encoder* encoder_;
  mpsprobe::sim::face::DispatchState* dispatch_;  // where kernels of a program's own are dispatched
}
- (id)initWithBuffer:(SimulatedCommandBuffer*)buffer
             encoder:(mpsprobe::sim::metal::Encoder&)encoder;
@end

@interface MPSCommandBuffer (Simulated)
/// Called before a graph is encoded: commits what the buffer holds and goes on in a new one where a
/// graph is in it already. MPSGraph may do so at any encode, and does not say when; a program that
/// relies on one command buffer throughout is found out here.
- (void)makeRoomForGraph;
@end

namespace mpsprobe::sim::face {

/// Runs one encode of `operation` (an entry of the simulated device's table) by `path` through the
/// defects that concern it, as DefectEngine::encode does.
EncodeResult meet_defects(SimulatedCommandBuffer* buffer, std::string_view operation,
                          EncodePath path);

/// Raises the NSException that a defect asks for; returns where none does.
void raise_if_asked(const EncodeResult& result);

/// Encodes one piece of work of ours (a kernel, a graph) in `encoder`, which has to be one of
/// `buffer`'s, or where that is nil in one of its own, through the defects that concern `operation`
/// by `path`. `work` runs when the command buffer is executed and
/// is told whether its numbers are to be wrong. Raises what a defect asks for.
void encode_work(SimulatedCommandBuffer* buffer, SimulatedEncoder* encoder,
                 std::string_view operation, EncodePath path,
                 std::function<void(bool wrong_numbers)> work);

/// A pool for the rest of the calling thread, where it has none: PyTorch's threads make objects
/// outside pools of theirs, which Apple's runtime takes in silence and GNUstep tells of.
void have_pool();

/// What all buffers take.
extern std::atomic<NSUInteger> allocated_bytes;

/// What a buffer takes of its heap.
inline NSUInteger in_heap(NSUInteger length) { return (length + 255) & ~NSUInteger{255}; }

}  // namespace mpsprobe::sim::face

/// A property that changes nothing here.
#define MPSPROBE_IGNORED(Type, name, setter) \
  MPSPROBE_METHOD(Type, name, {})            \
  -(void)setter : (Type)ignored {            \
  }
/// A method without arguments, of one expression.
#define MPSPROBE_METHOD(Type, name, ...) \
  -(Type)name {                          \
    return __VA_ARGS__;                  \
  }
