// What a dying worker may write on the events channel and into the flight recorder.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "harness/wire/event.h"
#include "harness/wire/flight_recorder.h"

using namespace mpsprobe;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  if (const auto event = parse_event(text)) {
    // What was understood once is understood again, as the same.
    const std::string line = to_line(*event);
    const auto again = parse_event(line);
    if (!again.has_value() || to_line(*again) != line) std::abort();
  }
  // The same bytes laid over every part of the recorder in turn.
  static const std::unique_ptr<std::byte[]> memory(new std::byte[sizeof(recorder_layout::Block)]);
  using Block = recorder_layout::Block;
  for (const size_t at : {size_t{0}, offsetof(Block, threads), offsetof(Block, crash),
                          offsetof(Block, images), offsetof(Block, stacks)}) {
    std::memset(memory.get(), 0, sizeof(Block));
    auto* block = reinterpret_cast<Block*>(memory.get());
    FlightRecorder::initialise(block);
    block->image_count.store(UINT32_MAX);
    block->stack_count.store(UINT32_MAX);
    std::memcpy(memory.get() + at, data, std::min(bytes, sizeof(Block) - at));
    const RecorderReading reading = read_recorder(*block);
    if (reading.stacks.size() > recorder_layout::kStacks) std::abort();
    if (reading.crash.frames.size() > recorder_layout::kFrames) std::abort();
    if (name_of(reading.phase).empty() || name_of(reading.probe).empty()) std::abort();
  }
  return 0;
}
