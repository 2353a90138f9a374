#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// A function that a library calls where it finds one misuse of itself, and for nothing else; where
/// it words that misuse in several ways, they share a title.
struct MisuseFrame {
  std::string_view image;     ///< as normalise_image writes it; empty: any
  std::string_view function;  ///< as normalise_function writes it
  std::string_view title;     ///< of the text that the library writes there (patterns.h)
};

/// The table. From the libraries' sources: libdispatch (queue.c, semaphore.c, object.c),
/// libplatform (lock.c), objc4 (objc-weak.mm), libc++abi and libstdc++ (pure virtual functions,
/// guards of static variables); of
/// libmalloc, which is not published, as crash reports show it.
std::span<const MisuseFrame> misuse_frames();

/// The title of the misuse that a stack ends in; empty where it ends in none. Looks no further than
/// the first function that does more than pass things on (passing_frames.h). Never throws but for
/// lack of memory; may be called from any thread.
std::string_view misuse_title(const std::vector<StackFrame>& frames);

}  // namespace mpsprobe
