#pragma once

#include "harness/crash_report/crash_report.h"
#include "harness/record/field.h"
#include "harness/record/process_record.h"
#include "harness/stack/stack.h"
#include "harness/wire/flight_recorder.h"

// What is found out about a dead process: its flight recorder, stacks and crash reports (field.h).

namespace mpsprobe {

inline bool is_none(const CrashSeen& crash) {
  return crash.signal == 0;
}
inline bool is_none(const Wait& wait) {
  return wait.kind == Wait::Kind::none;
}

template <>
inline constexpr auto fields<FrameAddress> = described<FrameAddress>(
    field::path("path", &FrameAddress::path), field::build_id("image_id", &FrameAddress::image_id),
    field::hex("offset", &FrameAddress::offset));

template <>
inline constexpr auto fields<ThreadPlace> = described<ThreadPlace>(
    field::safe("thread", &ThreadPlace::thread), field::name("operation", &ThreadPlace::operation),
    field::safe("iteration", &ThreadPlace::iteration), field::safe("step", &ThreadPlace::step));

template <>
inline constexpr auto fields<CrashSeen> = described<CrashSeen>(
    field::safe("signal", &CrashSeen::signal), field::safe("code", &CrashSeen::code),
    field::hex("address", &CrashSeen::address), field::safe("thread", &CrashSeen::thread),
    field::safe("thread_id", &CrashSeen::thread_id),
    field::hex("stack_pointer", &CrashSeen::stack_pointer),
    field::part("frames", &CrashSeen::frames));
template <>
inline constexpr std::tuple derived_keys<CrashSeen>{
    derived<CrashSeen>("name", [](const CrashSeen& crash) { return signal_name(crash.signal); })};

template <>
inline constexpr auto fields<StackSeen> = described<StackSeen>(
    field::safe("thread", &StackSeen::thread), field::safe("thread_id", &StackSeen::thread_id),
    field::name("name", &StackSeen::name), field::safe("wait", &StackSeen::wait),
    field::hex("wait_address", &StackSeen::wait_address),
    field::safe("wait_owner", &StackSeen::wait_owner), field::part("frames", &StackSeen::frames));

template <>
inline constexpr auto fields<ImageSeen> = described<ImageSeen>(
    field::path("path", &ImageSeen::path), field::build_id("id", &ImageSeen::id));

// Raw stacks are stored as those that were symbolised, images once for all processes that had them.
template <>
inline constexpr auto fields<RecorderReading> = described<RecorderReading>(
    field::safe("intact", &RecorderReading::intact), field::safe("phase", &RecorderReading::phase),
    field::safe("progress", &RecorderReading::progress),
    field::safe("launches", &RecorderReading::launches),
    field::safe("overlapped", &RecorderReading::overlapped),
    field::safe("most_inside", &RecorderReading::most_inside),
    field::part("threads", &RecorderReading::threads),
    field::part("crash", &RecorderReading::crash).or_null(),
    field::part("stacks", &RecorderReading::stacks).apart(),
    field::safe("inquest", &RecorderReading::inquest),
    field::safe("threads_asked", &RecorderReading::threads_asked),
    field::safe("probe", &RecorderReading::probe),
    field::part("images", &RecorderReading::images).apart());

template <>
inline constexpr auto fields<StackFrame> = described<StackFrame>(
    field::path("image", &StackFrame::image), field::build_id("image_id", &StackFrame::image_id),
    field::hex("offset", &StackFrame::offset), field::symbol("function", &StackFrame::function),
    field::path("source", &StackFrame::source), field::safe("inlined", &StackFrame::inlined));

template <>
inline constexpr auto fields<Wait> = described<Wait>(field::safe("kind", &Wait::kind),
                                                     field::hex("address", &Wait::address),
                                                     field::safe("owner", &Wait::owner),
                                                     field::safe("owner_gone", &Wait::owner_gone));

template <>
inline constexpr auto fields<ThreadStack> = described<ThreadStack>(
    field::safe("thread", &ThreadStack::thread), field::safe("thread_id", &ThreadStack::thread_id),
    field::name("name", &ThreadStack::name), field::safe("faulting", &ThreadStack::faulting),
    field::part("wait", &ThreadStack::wait).or_null(), field::part("frames", &ThreadStack::frames));

template <>
inline constexpr auto fields<StackEvidence> =
    described<StackEvidence>(field::part("threads", &StackEvidence::threads),
                             field::safe("lock_cycle", &StackEvidence::lock_cycle));

template <>
inline constexpr auto fields<CrashReport> = described<CrashReport>(
    field::evidence_file("file", &CrashReport::file),
    field::identity("incident", &CrashReport::incident),
    field::text("bug_type", &CrashReport::bug_type), field::safe("pid", &CrashReport::pid),
    field::text("process", &CrashReport::process), field::safe("launched", &CrashReport::launched),
    field::safe("captured", &CrashReport::captured),
    field::text("os_version", &CrashReport::os_version), field::text("model", &CrashReport::model),
    field::text("exception", &CrashReport::exception), field::text("signal", &CrashReport::signal),
    field::text("subtype", &CrashReport::subtype),
    field::text("termination_namespace", &CrashReport::termination_namespace),
    field::text("termination_indicator", &CrashReport::termination_indicator),
    field::text("termination_reasons", &CrashReport::termination_reasons),
    field::message("application_info", &CrashReport::application_info),
    field::part("threads", &CrashReport::threads),
    field::part("last_exception", &CrashReport::last_exception));

template <>
inline constexpr auto fields<GpuEvent> = described<GpuEvent>(
    field::evidence_file("file", &GpuEvent::file), field::identity("incident", &GpuEvent::incident),
    field::name("process", &GpuEvent::process), field::safe("captured", &GpuEvent::captured),
    field::text("summary", &GpuEvent::summary));

}  // namespace mpsprobe
