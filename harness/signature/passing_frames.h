#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "harness/wire/enum_words.h"

namespace mpsprobe {

/// Why a frame says nothing about whose failure it is.
enum class Passing : uint8_t {
  trampoline,  ///< where a signal handler begins: it and what it called are no part of the failure
  ending,      ///< how an abort, a failed check or an exception leaves the code that found it
  messaging,   ///< Objective-C and Swift sending, retaining and releasing
  dispatch,    ///< queues and blocks of libdispatch
  thread_entry,  ///< where threads and programs begin
  teardown,      ///< where handlers of exit() and destructors of static objects are called
  memory,        ///< copying, filling and comparing of bytes
  allocator,     ///< inside malloc and free
  lock,          ///< taking and giving back a lock
  standard,      ///< the C++ standard library
  interpreter,   ///< a language's own machinery
  placeholder,   ///< a name that several functions share
  unnamed,       ///< a place without a function in an image of the system
};
template <>
inline constexpr auto kWordsOf<Passing> = std::to_array<std::string_view>(
    {"trampoline", "ending", "messaging", "dispatch", "thread-entry", "tear-down", "memory",
     "allocator", "lock", "standard", "interpreter", "placeholder", "unnamed"});

/// One row of rules/frames.rules. A pattern is a name in which a star stands for any characters: at
/// its front, at its end, once within. One that begins with no underscore fits names with any
/// number of them in front, as libraries call the inner copy of a function. An empty image pattern
/// fits every image; an empty function pattern fits frames without a function, and only those.
struct PassingFrame {
  Passing meaning;
  std::string image;
  std::string function;
};

/// All rows. Static storage.
std::span<const PassingFrame> passing_frames();

/// The first row that fits, or nothing: then the frame counts. `image` and `function` as
/// normalise_image and normalise_function give them. Linear in the names; safe from any thread.
const PassingFrame* find_passing_frame(std::string_view image, std::string_view function,
                                       std::span<const PassingFrame> rows = passing_frames());

/// Whether an image, as normalise_image gives it, is an interpreter's own.
bool of_interpreter(std::string_view image);

}  // namespace mpsprobe
