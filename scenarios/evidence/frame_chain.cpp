#include "scenarios/evidence/frame_chain.h"

#include "harness/wire/flight_recorder.h"

#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace mpsprobe {
namespace {

// Code addresses of a process have 47 bits; above them a signed pointer carries its signature.
constexpr uint64_t kAddressBits = (uint64_t{1} << 47) - 1;

}  // namespace

void walk_frame_chain(const FrameStart& start, ReadFrame read, uint64_t* frames,
                      std::atomic<uint32_t>& count) {
  uint32_t used = 0;
  const auto add = [&](uint64_t address) {
    frames[used++] = address;
    count.store(used, std::memory_order_release);
  };
  add(start.program_counter & kAddressBits);
  uint64_t at = start.frame_pointer;
  FrameRecord record{};
  uint64_t link = start.link & kAddressBits;
  if (start.call != 0 && read(start.call, record)) link = record.caller & kAddressBits;
  const bool chained = read(at, record) && (record.return_address & kAddressBits) == link;
  if (link != 0 && !chained) add(link);
  while (used < recorder_layout::kFrames && at != 0 && read(at, record)) {
    const uint64_t address = record.return_address & kAddressBits;
    if (address == 0) break;
    add(address);
    if (record.caller <= at) break;  // a stack grows one way: anything else is no chain
    at = record.caller;
  }
}

#ifdef __APPLE__

namespace {

bool read_own_frame(uint64_t address, FrameRecord& record) {
  vm_size_t got = 0;
  return vm_read_overwrite(mach_task_self(), address, sizeof(record),
                           reinterpret_cast<vm_address_t>(&record), &got) == KERN_SUCCESS &&
         got == sizeof(record);
}

}  // namespace

void walk_frame_chain(const FrameStart& start, uint64_t* frames, std::atomic<uint32_t>& count) {
  walk_frame_chain(start, read_own_frame, frames, count);
}

#endif

}  // namespace mpsprobe
