#include "harness/journal/evidence_json.h"

#include <fmt/format.h>

#include <charconv>

#include "harness/journal/trial_json.h"
#include "harness/wire/input_error.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

json frame_to_json(const StackFrame& frame) {
  return {{"image", valid_utf8(frame.image)},   {"image_id", valid_utf8(frame.image_id)},
          {"offset", to_hex(frame.offset)},     {"function", valid_utf8(frame.function)},
          {"source", valid_utf8(frame.source)}, {"inlined", frame.inlined}};
}

StackFrame frame_from_json(const json& object) {
  return {object.at("image"),    object.at("image_id"), from_hex(object.at("offset")),
          object.at("function"), object.at("source"),   object.at("inlined")};
}

json frames_to_json(const std::vector<StackFrame>& frames) {
  json list = json::array();
  for (const StackFrame& frame : frames) list.push_back(frame_to_json(frame));
  return list;
}

std::vector<StackFrame> frames_from_json(const json& list) {
  std::vector<StackFrame> frames;
  for (const json& frame : list) frames.push_back(frame_from_json(frame));
  return frames;
}

json threads_to_json(const std::vector<ThreadStack>& threads) {
  json list = json::array();
  for (const ThreadStack& stack : threads) {
    json wait = nullptr;
    if (stack.wait.kind != Wait::Kind::none) {
      wait = {{"kind", name_of(stack.wait.kind)},
              {"address", to_hex(stack.wait.address)},
              {"owner", stack.wait.owner},
              {"owner_gone", stack.wait.owner_gone}};
    }
    list.push_back({{"thread", stack.thread},
                    {"thread_id", stack.thread_id},
                    {"name", valid_utf8(stack.name)},
                    {"faulting", stack.faulting},
                    {"wait", wait},
                    {"frames", frames_to_json(stack.frames)}});
  }
  return list;
}

std::vector<ThreadStack> threads_from_json(const json& list) {
  std::vector<ThreadStack> threads;
  for (const json& object : list) {
    ThreadStack stack;
    stack.thread = object.at("thread");
    stack.thread_id = object.at("thread_id");
    stack.name = object.at("name");
    stack.faulting = object.at("faulting");
    if (const json& wait = object.at("wait"); !wait.is_null()) {
      const auto kind = wait_kind_named(wait.at("kind").get<std::string>());
      if (!kind.has_value()) {
        throw InputError("wait", "unknown kind", "The journal is of another version of mpsprobe");
      }
      stack.wait = {*kind, from_hex(wait.at("address")), wait.at("owner"), wait.at("owner_gone")};
    }
    stack.frames = frames_from_json(object.at("frames"));
    threads.push_back(std::move(stack));
  }
  return threads;
}

json texts(const std::vector<std::string>& list) {
  json array = json::array();
  for (const std::string& text : list) array.push_back(valid_utf8(text));
  return array;
}

}  // namespace

std::string to_hex(uint64_t value) {
  return fmt::format("{:#x}", value);
}

uint64_t from_hex(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const bool prefixed = text.starts_with("0x") && text.size() > 2;
  const auto [stop, error] = prefixed
                                 ? std::from_chars(text.data() + 2, end, value, 16)
                                 : std::from_chars_result{text.data(), std::errc::invalid_argument};
  if (error != std::errc() || stop != end) {
    throw InputError("address", "not a number in hexadecimal",
                     "The journal is damaged, or of another version of mpsprobe");
  }
  return value;
}

json addresses_to_json(const std::vector<FrameAddress>& frames) {
  json list = json::array();
  for (const FrameAddress& frame : frames) {
    list.push_back({{"path", valid_utf8(frame.path)},
                    {"image_id", frame.image_id},
                    {"offset", to_hex(frame.offset)}});
  }
  return list;
}

std::vector<FrameAddress> addresses_from_json(const json& list) {
  std::vector<FrameAddress> frames;
  for (const json& frame : list) {
    frames.push_back({frame.at("path"), frame.at("image_id"), from_hex(frame.at("offset"))});
  }
  return frames;
}

json stacks_to_json(const StackEvidence& stacks) {
  return {{"threads", threads_to_json(stacks.threads)}, {"lock_cycle", stacks.lock_cycle}};
}

StackEvidence stacks_from_json(const json& object) {
  return {threads_from_json(object.at("threads")), object.at("lock_cycle")};
}

json crash_report_to_json(const CrashReport& report) {
  return {{"file", valid_utf8(report.file)},
          {"incident", valid_utf8(report.incident)},
          {"bug_type", valid_utf8(report.bug_type)},
          {"pid", report.pid},
          {"process", valid_utf8(report.process)},
          {"launched", report.launched},
          {"captured", report.captured},
          {"os_version", valid_utf8(report.os_version)},
          {"model", valid_utf8(report.model)},
          {"exception", valid_utf8(report.exception)},
          {"signal", valid_utf8(report.signal)},
          {"subtype", valid_utf8(report.subtype)},
          {"termination_namespace", valid_utf8(report.termination_namespace)},
          {"termination_indicator", valid_utf8(report.termination_indicator)},
          {"termination_reasons", texts(report.termination_reasons)},
          {"application_info", texts(report.application_info)},
          {"threads", threads_to_json(report.threads)},
          {"last_exception", frames_to_json(report.last_exception)}};
}

CrashReport crash_report_from_json(const json& object) {
  return {object.at("file"),
          object.at("incident"),
          object.at("bug_type"),
          object.at("pid"),
          object.at("process"),
          object.at("launched"),
          object.at("captured"),
          object.at("os_version"),
          object.at("model"),
          object.at("exception"),
          object.at("signal"),
          object.at("subtype"),
          object.at("termination_namespace"),
          object.at("termination_indicator"),
          object.at("termination_reasons"),
          object.at("application_info"),
          threads_from_json(object.at("threads")),
          frames_from_json(object.at("last_exception"))};
}

json gpu_event_to_json(const GpuEvent& event) {
  return {{"file", valid_utf8(event.file)},
          {"incident", valid_utf8(event.incident)},
          {"process", valid_utf8(event.process)},
          {"captured", event.captured},
          {"summary", valid_utf8(event.summary)}};
}

GpuEvent gpu_event_from_json(const json& object) {
  return {object.at("file"), object.at("incident"), object.at("process"), object.at("captured"),
          object.at("summary")};
}

}  // namespace mpsprobe
