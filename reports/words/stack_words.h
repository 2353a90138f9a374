#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/stack/stack.h"

namespace mpsprobe {

/// Stacks and what threads wait for, in the words of the report. Plain text without markup,
/// printable whatever a worker called its threads and functions.

/// "thread 3", "the main thread"; -1: "a thread that is none of the cell's".
std::string thread_in_words(int64_t thread);
/// The same, with the system's name and number of a thread that is none of the cell's. Of a side of
/// a race, what it did: "write of size 8 by thread T2", where the number is ThreadSanitizer's.
std::string thread_in_words(const ThreadStack& stack);
/// "threads 0-6, thread 8 and the main thread". Cut after some.
std::string threads_in_words(const std::vector<const ThreadStack*>& stacks);

enum class Entry : unsigned char { show, fold };

/// One frame a line: number, image, function with its source, or offset where it has no name. A "~"
/// marks frames that only pass things on and title no failure (rules.h). With Entry::fold
/// those at the outer end, where the thread began, are left out. Below the first frame that does
/// more, an interpreter's frames in a row are one line. At most `most` lines; what is left out is
/// counted.
std::string stack_in_words(const std::vector<StackFrame>& frames, size_t most,
                           Entry entry = Entry::show);

/// Frames of Python's, as Python writes them: `File "app.py", line 12, in infer`, a line each, at
/// most `most`. Those at the outer end that belong to mpsprobe's worker, and what called it, are
/// counted.
std::string python_stack_in_words(const std::vector<StackFrame>& frames, size_t most);

/// The images of the frames without a function, each once, with their ids: what it takes to name
/// them later. At most `most` frames are looked at.
std::vector<StackFrame> images_without_names(const std::vector<StackFrame>& frames, size_t most);

/// The circle of locks, "thread 0 waits for a lock that thread 1 holds, thread 1 for one that ...";
/// empty where there is none.
std::string lock_cycle_in_words(const StackEvidence& stacks);

/// What the other threads wait for, those that wait for the same together: "threads 2-5 wait for a
/// condition", "thread 6 waits for a lock that a thread held which has ended". In the order of the
/// threads.
std::vector<std::string> waits_in_words(const StackEvidence& stacks);

/// The threads that have each stack; they point into the evidence. In its order; threads without a
/// frame are left out. Two stacks are the same where image, function and offset of every frame are;
/// the lines of the source may differ.
std::vector<std::vector<const ThreadStack*>> group_stacks(const StackEvidence& stacks);

}  // namespace mpsprobe
