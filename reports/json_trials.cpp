#include "reports/json_trials.h"

#include <fmt/format.h>

#include <type_traits>

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

std::string hex(uint64_t value) {
  return fmt::format("{:#x}", value);
}

ordered_json termination_json(const Termination& termination) {
  return std::visit(
      [](const auto& end) -> ordered_json {
        using End = std::decay_t<decltype(end)>;
        if constexpr (std::is_same_v<End, Exited>) {
          return {{"kind", "exited"}, {"code", end.code}};
        } else if constexpr (std::is_same_v<End, Signaled>) {
          return {{"kind", "signaled"},
                  {"signal", end.signal},
                  {"name", signal_name(end.signal)},
                  {"core_dumped", end.core_dumped}};
        } else if constexpr (std::is_same_v<End, NotSpawned>) {
          return {{"kind", "not_spawned"}, {"error", end.error}, {"what", end.what}};
        } else {
          return {{"kind", "not_reaped"}};
        }
      },
      termination);
}

ordered_json capture_json(const Capture& capture) {
  return {{"bytes", capture.bytes},
          {"head", capture.head},
          {"tail", capture.tail},
          {"noticed", capture.noticed}};
}

ordered_json result_json(const ResultEvent& result) {
  return {{"operations", result.operations},
          {"seconds", result.seconds},
          {"checked", result.checked},
          {"unchecked", result.unchecked},
          {"observed_path", result.observed_path}};
}

ordered_json process_json(const ProcessRecord& process) {
  ordered_json json = {{"process", process.process},
                       {"iteration", process.iteration},
                       {"pid", process.pid},
                       {"termination", termination_json(process.termination)},
                       {"ended_by", name_of(process.ended_by)},
                       {"stop_signals", process.stop_signals},
                       {"seconds", process.seconds},
                       {"ended_at", process.ended_at},
                       {"usage",
                        {{"user_seconds", process.usage.user_seconds},
                         {"system_seconds", process.usage.system_seconds},
                         {"max_rss_bytes", process.usage.max_rss_bytes}}},
                       {"ready", process.ready},
                       {"protocol", nullptr},
                       {"provenance", nullptr},
                       {"result", nullptr},
                       {"failures", ordered_json::array()},
                       {"recorder", recorder_json(process.recorder)},
                       {"stdout", capture_json(process.out)},
                       {"stderr", capture_json(process.err)},
                       {"garbage_bytes", process.garbage_bytes},
                       {"was_stopped", process.was_stopped},
                       {"left_descendants", process.left_descendants},
                       {"kernel_memory_kill", process.kernel_memory_kill},
                       {"setup_problem", process.setup_problem}};
  if (process.hello) {
    json["protocol"] = process.hello->protocol;
    json["provenance"] = process.hello->provenance;
  }
  if (process.result) json["result"] = result_json(*process.result);
  for (const FailureEvent& failure : process.failures) {
    json["failures"].push_back(failure_json(failure));
  }
  return json;
}

}  // namespace

ordered_json failure_json(const FailureEvent& failure) {
  return {{"kind", failure.kind},           {"text", failure.text},
          {"phase", failure.phase},         {"thread", failure.thread},
          {"iteration", failure.iteration}, {"operation", failure.operation}};
}

ordered_json judgement_json(const Judgement& judgement) {
  return {{"outcome", name_of(judgement.outcome)},
          {"detail", judgement.detail},
          {"signature", judgement.signature},
          {"known", judgement.known},
          {"phase", name_of(judgement.phase)}};
}

ordered_json recorder_json(const RecorderReading& recorder) {
  ordered_json threads = ordered_json::array();
  for (const ThreadPlace& place : recorder.threads) {
    threads.push_back({{"thread", place.thread},
                       {"operation", place.operation},
                       {"iteration", place.iteration},
                       {"step", name_of(place.step)}});
  }
  ordered_json json = {{"intact", recorder.intact},         {"phase", name_of(recorder.phase)},
                       {"progress", recorder.progress},     {"launches", recorder.launches},
                       {"overlapped", recorder.overlapped}, {"most_inside", recorder.most_inside},
                       {"threads", std::move(threads)},     {"crash", nullptr}};
  const CrashSeen& crash = recorder.crash;
  if (crash.signal == 0) return json;
  ordered_json frames = ordered_json::array();
  for (const FrameAddress& frame : crash.frames) {
    frames.push_back({{"image", frame.image()}, {"offset", hex(frame.offset)}});
  }
  json["crash"] = {{"signal", crash.signal}, {"name", signal_name(crash.signal)},
                   {"code", crash.code},     {"address", hex(crash.address)},
                   {"thread", crash.thread}, {"frames", std::move(frames)}};
  return json;
}

ordered_json trial_json(const TrialRecord& trial) {
  ordered_json json = {{"worker", trial.worker},
                       {"cell", to_string(trial.cell)},
                       {"trial", trial.trial},
                       {"sequence", trial.sequence},
                       {"before", trial.before},
                       {"started", trial.started},
                       {"seconds", trial.seconds},
                       {"judgement", judgement_json(trial.judgement)},
                       {"judged_process", trial.judged_process},
                       {"known_good", nullptr},
                       {"processes", ordered_json::array()}};
  if (trial.known_good) {
    json["known_good"] = {{"cell", trial.known_good->cell},
                          {"attempts", trial.known_good->attempts},
                          {"outcome", name_of(trial.known_good->outcome)}};
  }
  for (const ProcessRecord& process : trial.processes) {
    json["processes"].push_back(process_json(process));
  }
  return json;
}

}  // namespace mpsprobe
