#ifdef __APPLE__

#include <mach/mach.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>

#include "scenarios/evidence/frame_chain.h"
#include "scenarios/evidence/stack_capture.h"
#include "scenarios/evidence/thread_identity.h"

namespace mpsprobe {
namespace {

using recorder_layout::StackNote;

bool read_registers(thread_act_t thread, FrameStart& registers) {
#if defined(__aarch64__)
  arm_thread_state64_t state{};
  mach_msg_type_number_t count = ARM_THREAD_STATE64_COUNT;
  if (thread_get_state(thread, ARM_THREAD_STATE64, reinterpret_cast<thread_state_t>(&state),
                       &count) != KERN_SUCCESS) {
    return false;
  }
  registers = {arm_thread_state64_get_pc(state), arm_thread_state64_get_fp(state),
               arm_thread_state64_get_lr(state)};
#else
  x86_thread_state64_t state{};
  mach_msg_type_number_t count = x86_THREAD_STATE64_COUNT;
  if (thread_get_state(thread, x86_THREAD_STATE64, reinterpret_cast<thread_state_t>(&state),
                       &count) != KERN_SUCCESS) {
    return false;
  }
  registers = {state.__rip, state.__rbp, 0};
#endif
  return true;
}

void note_name(thread_act_t thread, StackNote& note) {
  thread_extended_info_data_t info{};
  mach_msg_type_number_t count = THREAD_EXTENDED_INFO_COUNT;
  if (thread_info(thread, THREAD_EXTENDED_INFO, reinterpret_cast<thread_info_t>(&info), &count) !=
      KERN_SUCCESS) {
    return;
  }
  const size_t length = std::min(strnlen(info.pth_name, sizeof(info.pth_name)),
                                 recorder_layout::kThreadNameBytes - 1);
  std::memcpy(note.name, info.pth_name, length);
}

uint64_t id_of(thread_act_t thread) {
  thread_identifier_info_data_t info{};
  mach_msg_type_number_t count = THREAD_IDENTIFIER_INFO_COUNT;
  return thread_info(thread, THREAD_IDENTIFIER_INFO, reinterpret_cast<thread_info_t>(&info),
                     &count) == KERN_SUCCESS
             ? info.thread_id
             : 0;
}

void note_stack(recorder_layout::Block& block, thread_act_t thread, uint64_t id) {
  const uint32_t index = block.stack_count.fetch_add(1, std::memory_order_relaxed);
  if (index >= recorder_layout::kStacks) return;
  StackNote& note = block.stacks[index];
  note.slot = slot_of_thread(id);
  note.thread_id = id;
  note_name(thread, note);
  if (thread_suspend(thread) != KERN_SUCCESS) return;
  FrameStart registers;
  // Between here and the resume nothing may allocate or lock: the suspended thread may hold it.
  if (read_registers(thread, registers)) {
    walk_frame_chain(registers, note.frames, note.frame_count);
    note.complete.store(1, std::memory_order_release);
  }
  thread_resume(thread);
}

}  // namespace

void prepare_stack_capture(FlightRecorder&) {}

// No thread takes its own stack here, and what is read of another's cannot fault.
bool give_up_capture(recorder_layout::Block&) {
  return false;
}

void capture_stacks(FlightRecorder& recorder, const OwnThreads& own) {
  thread_act_array_t threads = nullptr;
  mach_msg_type_number_t count = 0;
  if (task_threads(mach_task_self(), &threads, &count) != KERN_SUCCESS) return;
  const uint64_t self = thread_id();
  for (mach_msg_type_number_t i = 0; i < count; ++i) {
    const uint64_t id = id_of(threads[i]);
    const bool left_out = id == self || std::find(own.begin(), own.end(), id) != own.end();
    if (!left_out) {
      recorder.block()->stacks_asked.fetch_add(1);
      note_stack(*recorder.block(), threads[i], id);
    }
    mach_port_deallocate(mach_task_self(), threads[i]);
  }
  vm_deallocate(mach_task_self(), reinterpret_cast<vm_address_t>(threads),
                count * sizeof(thread_act_t));
}

}  // namespace mpsprobe

#endif
