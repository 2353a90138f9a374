#include "harness/outcome/whereabouts.h"

#include <fmt/format.h>

#include "harness/signature/find_failures.h"
#include "harness/signature/title.h"

namespace mpsprobe {

std::string_view words_for(Phase phase) {
  // In the order of the enumeration.
  static constexpr std::string_view kWords[] = {"in start-up",  "in warm-up",
                                                "in the run",   "while results were checked",
                                                "in tear-down", "at the interpreter's end"};
  return kWords[static_cast<size_t>(phase)];
}

namespace {

/// How much a step says about what went wrong; 0: nothing.
int telling(Step step) {
  // idle, waiting, locking, launching, synchronising, finished
  static constexpr int kTelling[] = {0, 0, 1, 3, 2, 0};
  return kTelling[static_cast<size_t>(step)];
}

std::string with_path(const std::string& operation, std::string_view path) {
  const std::string name = title_of(operation).title;
  return path.empty() || name.empty() ? name : fmt::format("{}/{}", name, path);
}

}  // namespace

const ThreadPlace* telling_thread(const RecorderReading& recorder) {
  const ThreadPlace* best = nullptr;
  for (const ThreadPlace& place : recorder.threads) {
    if (recorder.crash.signal != 0 && static_cast<int32_t>(place.thread) == recorder.crash.thread) {
      return &place;
    }
    if (telling(place.step) > (best == nullptr ? 0 : telling(best->step))) best = &place;
  }
  return best;
}

std::string whereabouts(const RecorderReading& recorder, std::string_view path) {
  if (recorder.phase != Phase::run) return std::string(words_for(recorder.phase));
  const ThreadPlace* place = telling_thread(recorder);
  if (place == nullptr || place->thread == recorder_layout::kMainThread) return "in the run";
  return fmt::format("{} {}", name_of(place->step), with_path(place->operation, path));
}

std::string whereabouts_of_hang(const RecorderReading& recorder, std::string_view path) {
  std::string words = whereabouts(recorder, path);
  if (words != words_for(recorder.phase)) return words;
  // No thread is in the middle of something; any of them still names what the cell does.
  for (const ThreadPlace& place : recorder.threads) {
    if (place.thread == recorder_layout::kMainThread) continue;
    const std::string operation = with_path(place.operation, path);
    if (!operation.empty()) return fmt::format("{} of {}", words, operation);
  }
  return words;
}

std::string phase_suffix(Phase phase) {
  return phase == Phase::run ? std::string() : fmt::format(", {}", words_for(phase));
}

}  // namespace mpsprobe
