#include "harness/wire/flight_recorder.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/wire/hex.h"

namespace mpsprobe {
namespace {

using recorder_layout::Block;
using recorder_layout::WaitKind;

template <size_t N>
std::string bounded(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

std::string id_of(const recorder_layout::Image& image) {
  return hex({image.id, std::min<size_t>(image.id_bytes, sizeof(image.id))});
}

FrameAddress locate(const Block& block, uint32_t image_count, uint64_t address) {
  for (uint32_t i = 0; i < image_count; ++i) {
    const recorder_layout::Image& image = block.images[i];
    if (address >= image.begin && address < image.end && image.base <= address) {
      return {bounded(image.path), id_of(image), address - image.base};
    }
  }
  return {"", "", address};
}

std::vector<FrameAddress> locate_all(const Block& block, const uint64_t* frames, uint32_t count) {
  const uint32_t images = std::min(block.image_count.load(), recorder_layout::kImages);
  std::vector<FrameAddress> located;
  for (uint32_t i = 0; i < std::min(count, recorder_layout::kFrames); ++i) {
    located.push_back(locate(block, images, frames[i]));
  }
  return located;
}

int32_t slot_of(uint32_t slot) {
  return slot < recorder_layout::kThreads ? static_cast<int32_t>(slot) : int32_t{-1};
}

std::vector<ImageSeen> read_images(const Block& block) {
  std::vector<ImageSeen> images;
  for (uint32_t i = 0; i < std::min(block.image_count.load(), recorder_layout::kImages); ++i) {
    const ImageSeen image{bounded(block.images[i].path), id_of(block.images[i])};
    // An image with several executable mappings stands in the table once for each, side by side.
    if (images.empty() || !(images.back() == image)) images.push_back(image);
  }
  return images;
}

/// The value that the memory holds there; where it is none, the last, and the reading is not
/// intact.
template <typename Enum>
Enum checked(uint64_t value, bool& intact) {
  constexpr uint64_t kLast = kWordsOf<Enum>.size() - 1;
  if (value > kLast) intact = false;
  return static_cast<Enum>(std::min(value, kLast));
}

WaitKind wait_of(uint32_t kind) {
  return kind <= static_cast<uint32_t>(WaitKind::orphaned_lock) ? WaitKind{kind} : WaitKind::none;
}

std::vector<StackSeen> read_stacks(const Block& block) {
  std::vector<StackSeen> stacks;
  for (uint32_t i = 0; i < std::min(block.stack_count.load(), recorder_layout::kStacks); ++i) {
    const recorder_layout::StackNote& note = block.stacks[i];
    if (note.complete.load(std::memory_order_acquire) != 1) continue;
    const WaitKind wait = wait_of(note.wait_kind);
    const bool lock = wait != WaitKind::none;
    stacks.push_back({slot_of(note.slot), note.thread_id, bounded(note.name), wait,
                      lock ? note.wait_address : 0, lock ? note.wait_owner : 0,
                      locate_all(block, note.frames, note.frame_count)});
  }
  return stacks;
}

}  // namespace

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

int inquest_signal() {
#ifdef __APPLE__
  return 0;
#else
  return SIGRTMIN + 6;  // beside that of the capture of stacks
#endif
}

RecorderReading read_recorder(const Block& block) {
  RecorderReading reading;
  reading.intact = block.magic == recorder_layout::kMagic &&
                   block.version == recorder_layout::kVersion && block.bytes == sizeof(Block);
  reading.phase = checked<Phase>(block.phase.load(std::memory_order_acquire), reading.intact);
  reading.most_inside = block.most_inside.load(std::memory_order_relaxed);
  for (uint32_t slot = 0; slot < recorder_layout::kThreads; ++slot) {
    const recorder_layout::ThreadSlot& thread = block.threads[slot];
    const uint64_t place = thread.place.load(std::memory_order_relaxed);
    if ((place & 1) == 0) continue;
    const Step step = checked<Step>(static_cast<uint32_t>(place) >> 1, reading.intact);
    reading.progress += thread.progress.load(std::memory_order_relaxed);
    reading.launches += thread.launches.load(std::memory_order_relaxed);
    reading.overlapped += thread.overlapped.load(std::memory_order_relaxed);
    reading.threads.push_back(
        {slot, bounded(thread.operation), static_cast<uint32_t>(place >> 32), step});
  }
  if (reading.most_inside == 0 && reading.launches > 0) reading.most_inside = 1;

  reading.images = read_images(block);
  reading.inquest = read_inquest(block);
  reading.threads_asked = block.stacks_asked.load(std::memory_order_acquire);
  reading.stacks = read_stacks(block);
  reading.probe = checked<Probe>(block.probe.load(std::memory_order_acquire), reading.intact);

  const recorder_layout::CrashNote& crash = block.crash;
  reading.crash.signal = static_cast<int>(crash.signal.load(std::memory_order_acquire));
  if (reading.crash.signal == 0) return reading;
  reading.crash.code = crash.code;
  reading.crash.address = crash.address;
  reading.crash.thread = slot_of(crash.thread);
  reading.crash.thread_id = crash.thread_id;
  reading.crash.stack_pointer = crash.stack_pointer;
  reading.crash.frames = locate_all(block, crash.frames, crash.frame_count.load());
  return reading;
}

Inquest read_inquest(const Block& block) {
  const uint32_t inquest = block.inquest.load(std::memory_order_acquire);
  return inquest > static_cast<uint32_t>(Inquest::done) ? Inquest::unavailable
                                                        : static_cast<Inquest>(inquest);
}

bool has_crashed(const Block& block) {
  return block.crash.signal.load(std::memory_order_acquire) != 0;
}

uint64_t read_progress(const Block& block) {
  uint64_t sum = block.phase.load(std::memory_order_relaxed);
  for (const recorder_layout::ThreadSlot& thread : block.threads) {
    sum += thread.progress.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace mpsprobe
