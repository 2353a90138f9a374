#include "harness/wire/flight_recorder.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace mpsprobe {
namespace {

using recorder_layout::Block;

constexpr std::array<std::string_view, 5> kPhases{"startup", "warmup", "run", "check", "teardown"};
constexpr std::array<std::string_view, 6> kSteps{"idle",      "waiting",       "locking",
                                                 "launching", "synchronising", "finished"};

template <size_t N>
std::string bounded(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

template <typename Enum, size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

FrameAddress locate(const Block& block, uint32_t image_count, uint64_t address) {
  for (uint32_t i = 0; i < image_count; ++i) {
    const recorder_layout::Image& image = block.images[i];
    if (address >= image.begin && address < image.end && image.base <= address) {
      return {bounded(image.name), address - image.base};
    }
  }
  return {"", address};
}

}  // namespace

std::string_view name_of(Phase phase) {
  return kPhases[std::min<size_t>(static_cast<size_t>(phase), kPhases.size() - 1)];
}

std::string_view name_of(Step step) {
  return kSteps[std::min<size_t>(static_cast<size_t>(step), kSteps.size() - 1)];
}

std::optional<Phase> phase_named(std::string_view name) {
  return find<Phase>(kPhases, name);
}
std::optional<Step> step_named(std::string_view name) {
  return find<Step>(kSteps, name);
}

void FlightRecorder::initialise(Block* block) {
  block->magic = recorder_layout::kMagic;
  block->version = recorder_layout::kVersion;
  block->bytes = sizeof(Block);
}

void FlightRecorder::begin_thread(uint32_t slot, std::string_view operation) {
  recorder_layout::ThreadSlot& thread = block_->threads[slot];
  const size_t length = std::min(operation.size(), sizeof(thread.operation) - 1);
  std::memcpy(thread.operation, operation.data(), length);
  thread.operation[length] = '\0';
  at(slot, 0, Step::idle);
}

RecorderReading read_recorder(const Block& block) {
  RecorderReading reading;
  reading.intact = block.magic == recorder_layout::kMagic &&
                   block.version == recorder_layout::kVersion && block.bytes == sizeof(Block);
  const uint32_t phase = block.phase.load(std::memory_order_acquire);
  if (phase >= kPhases.size()) reading.intact = false;
  reading.phase = static_cast<Phase>(std::min<uint32_t>(phase, kPhases.size() - 1));
  reading.most_inside = block.most_inside.load(std::memory_order_relaxed);
  for (uint32_t slot = 0; slot < recorder_layout::kThreads; ++slot) {
    const recorder_layout::ThreadSlot& thread = block.threads[slot];
    const uint64_t place = thread.place.load(std::memory_order_relaxed);
    if ((place & 1) == 0) continue;
    const uint32_t step = static_cast<uint32_t>(place) >> 1;
    if (step >= kSteps.size()) reading.intact = false;
    reading.progress += thread.progress.load(std::memory_order_relaxed);
    reading.launches += thread.launches.load(std::memory_order_relaxed);
    reading.overlapped += thread.overlapped.load(std::memory_order_relaxed);
    reading.threads.push_back({slot, bounded(thread.operation), static_cast<uint32_t>(place >> 32),
                               static_cast<Step>(std::min<uint32_t>(step, kSteps.size() - 1))});
  }
  if (reading.most_inside == 0 && reading.launches > 0) reading.most_inside = 1;

  const recorder_layout::CrashNote& crash = block.crash;
  reading.crash.signal = static_cast<int>(crash.signal.load(std::memory_order_acquire));
  if (reading.crash.signal == 0) return reading;
  reading.crash.code = crash.code;
  reading.crash.address = crash.address;
  reading.crash.thread =
      crash.thread < recorder_layout::kThreads ? static_cast<int32_t>(crash.thread) : int32_t{-1};
  const uint32_t images = std::min(block.image_count.load(), recorder_layout::kImages);
  const uint32_t frames = std::min(crash.frame_count.load(), recorder_layout::kFrames);
  for (uint32_t i = 0; i < frames; ++i) {
    reading.crash.frames.push_back(locate(block, images, crash.frames[i]));
  }
  return reading;
}

uint64_t read_progress(const Block& block) {
  uint64_t sum = block.phase.load(std::memory_order_relaxed);
  for (const recorder_layout::ThreadSlot& thread : block.threads) {
    sum += thread.progress.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace mpsprobe
