#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

/// What every rule's two programs need. Whatever is returned is autoreleased; functions that record
/// into a command buffer belong to the thread that made it.
namespace mpsprobe::metal_rules {

/// One rule of Metal's, with a way to break it and a way to do the same work without. Static
/// storage.
struct Rule {
  const char* name;
  const char* misuse;      ///< what `breaks` does
  const char* documented;  ///< what Apple's documentation says, in our words
  const char* address;     ///< where it says so
  bool apples_text;        ///< Apple's wording, known from public reports; false: ours
  const char* text;        ///< the line on stderr that ends a process which breaks the rule
  void (*breaks)();        ///< returns where nothing enforces the rule
  std::string (*keeps)();  ///< empty where everything came out right, otherwise what did not
};

/// The rules, a group a file. Any thread.
std::span<const Rule> command_buffer_rules();
std::span<const Rule> encoder_rules();
std::span<const Rule> pipeline_rules();
std::span<const Rule> memory_rules();
std::span<const Rule> thread_rules();
std::span<const Rule> graph_rules();

/// The default device. Ends the process with exit status 3 where there is none. Any thread.
id<MTLDevice> device();
id<MTLCommandQueue> new_queue();
id<MTLCommandBuffer> new_command_buffer();

/// A zeroed buffer that the CPU can read.
id<MTLBuffer> bytes(NSUInteger length);
/// A buffer that holds these numbers.
id<MTLBuffer> floats(std::span<const float> numbers);

/// Two by two numbers in `buffer` from byte `offset` on. Ends the process with exit status 3 where
/// macOS is older than 15, which has no such arrays.
MPSNDArray* matrix(id<MTLBuffer> buffer, NSUInteger offset);

/// A kernel that multiplies two matrices.
MPSNDArrayMatrixMultiplication* product_kernel();

/// Encodes a fill of `range` in an encoder of its own.
void encode_fill(id<MTLCommandBuffer> commands, id<MTLBuffer> buffer, NSRange range, uint8_t value);

/// Commits and waits. Empty where the command buffer completed without an error, otherwise its
/// status and error.
std::string run(id<MTLCommandBuffer> commands);

/// Empty where all of `range` holds `value`.
std::string holds(id<MTLBuffer> buffer, NSRange range, uint8_t value);
/// Empty where the buffer holds these numbers from byte `offset` on, which have to be small whole
/// numbers: then every order of summing gives the same.
std::string holds(id<MTLBuffer> buffer, NSUInteger offset, std::span<const float> expected);

/// The first problem of the two.
std::string either(const std::string& first, const std::string& second);

/// Runs `work` on a thread of its own with an autorelease pool, to its end.
void on_another_thread(const std::function<void()>& work);

/// `make` here, and `use` of what it made on a thread that was started before: it is told by a
/// relaxed store, which orders nothing.
void hand_over_unordered(const std::function<id()>& make, const std::function<void(id)>& use);

}  // namespace mpsprobe::metal_rules
