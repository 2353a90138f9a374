#include "harness/journal/trial_json.h"

#include <algorithm>
#include <stdexcept>

#include "harness/journal/evidence_json.h"
#include "harness/wire/input_error.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

json termination_to_json(const Termination& termination) {
  struct Visitor {
    json operator()(const Exited& exited) const {
      return {{"kind", "exited"}, {"code", exited.code}};
    }
    json operator()(const Signaled& signaled) const {
      return {{"kind", "signaled"},
              {"signal", signaled.signal},
              {"name", signal_name(signaled.signal)},
              {"core_dumped", signaled.core_dumped}};
    }
    json operator()(const NotSpawned& failed) const {
      return {{"kind", "not_spawned"}, {"error", failed.error}, {"what", valid_utf8(failed.what)}};
    }
    json operator()(const NotReaped&) const { return {{"kind", "not_reaped"}}; }
  };
  return std::visit(Visitor{}, termination);
}

Termination termination_from_json(const json& object) {
  const std::string kind = object.at("kind");
  if (kind == "exited") return Exited{object.at("code")};
  if (kind == "signaled") return Signaled{object.at("signal"), object.at("core_dumped")};
  if (kind == "not_spawned") return NotSpawned{object.at("error"), object.at("what")};
  if (kind == "not_reaped") return NotReaped{};
  throw InputError("termination", "unknown kind", "The journal is of another version of mpsprobe");
}

template <typename Enum, typename Find>
Enum word(const json& value, Find find) {
  const std::string text = value;
  if (const auto found = find(text)) return *found;
  throw InputError("journal", "unknown word", "The journal is of another version of mpsprobe");
}

Outcome outcome_from(const json& value) {
  return word<Outcome>(value, outcome_named);
}
EndedBy ended_by_from(const json& value) {
  return word<EndedBy>(value, ended_by_named);
}

Phase phase_from(const json& value) {
  return word<Phase>(value, phase_named);
}
Step step_from(const json& value) {
  return word<Step>(value, step_named);
}

json capture_to_json(const Capture& capture) {
  json noticed = json::array();
  for (const std::string& line : capture.noticed) noticed.push_back(valid_utf8(line));
  return {{"head", valid_utf8(capture.head)},
          {"tail", valid_utf8(capture.tail)},
          {"bytes", capture.bytes},
          {"dropped", capture.dropped()},
          {"noticed", noticed}};
}

Capture capture_from_json(const json& object) {
  Capture capture{object.at("head"), object.at("tail"), object.at("bytes"), object.at("noticed")};
  // Replaced bytes are longer than what they replace; what was dropped is the fact to keep.
  capture.bytes = object.at("dropped").get<uint64_t>() + capture.head.size() + capture.tail.size();
  return capture;
}

}  // namespace

json recorder_to_json(const RecorderReading& recorder) {
  json threads = json::array();
  for (const ThreadPlace& place : recorder.threads) {
    threads.push_back({{"thread", place.thread},
                       {"operation", valid_utf8(place.operation)},
                       {"iteration", place.iteration},
                       {"step", name_of(place.step)}});
  }
  json object{{"intact", recorder.intact},
              {"phase", name_of(recorder.phase)},
              {"progress", recorder.progress},
              {"launches", recorder.launches},
              {"overlapped", recorder.overlapped},
              {"most_inside", recorder.most_inside},
              {"threads", threads},
              {"inquest", name_of(recorder.inquest)},
              {"threads_asked", recorder.threads_asked},
              {"probe", name_of(recorder.probe)},
              {"crash", nullptr}};
  if (recorder.crash.signal != 0) {
    object["crash"] = {{"signal", recorder.crash.signal},
                       {"name", signal_name(recorder.crash.signal)},
                       {"code", recorder.crash.code},
                       {"address", to_hex(recorder.crash.address)},
                       {"stack_pointer", to_hex(recorder.crash.stack_pointer)},
                       {"thread", recorder.crash.thread},
                       {"thread_id", recorder.crash.thread_id},
                       {"frames", addresses_to_json(recorder.crash.frames)}};
  }
  return object;
}

namespace {

RecorderReading recorder_from_json(const json& object) {
  RecorderReading recorder;
  recorder.intact = object.at("intact");
  recorder.phase = phase_from(object.at("phase"));
  recorder.progress = object.at("progress");
  recorder.launches = object.at("launches");
  recorder.overlapped = object.at("overlapped");
  recorder.most_inside = object.at("most_inside");
  for (const json& place : object.at("threads")) {
    recorder.threads.push_back({place.at("thread"), place.at("operation"), place.at("iteration"),
                                step_from(place.at("step"))});
  }
  recorder.inquest = word<Inquest>(object.at("inquest"), inquest_named);
  recorder.threads_asked = object.at("threads_asked");
  recorder.probe = word<Probe>(object.at("probe"), probe_named);
  const json& crash = object.at("crash");
  if (crash.is_null()) return recorder;
  recorder.crash.signal = crash.at("signal");
  recorder.crash.code = crash.at("code");
  recorder.crash.address = from_hex(crash.at("address"));
  recorder.crash.stack_pointer = from_hex(crash.at("stack_pointer"));
  recorder.crash.thread = crash.at("thread");
  recorder.crash.thread_id = crash.at("thread_id");
  recorder.crash.frames = addresses_from_json(crash.at("frames"));
  return recorder;
}

}  // namespace

json failure_to_json(const FailureEvent& failure) {
  return {{"kind", valid_utf8(failure.kind)},   {"text", valid_utf8(failure.text)},
          {"phase", valid_utf8(failure.phase)}, {"thread", failure.thread},
          {"iteration", failure.iteration},     {"operation", valid_utf8(failure.operation)}};
}

namespace {

FailureEvent failure_from_json(const json& object) {
  return {object.at("kind"),   object.at("text"),      object.at("phase"),
          object.at("thread"), object.at("iteration"), object.at("operation")};
}

json process_to_json(const ProcessRecord& process) {
  json failures = json::array();
  for (const FailureEvent& failure : process.failures) failures.push_back(failure_to_json(failure));
  json result = nullptr;
  if (process.result.has_value()) {
    result = {{"operations", process.result->operations},
              {"seconds", process.result->seconds},
              {"checked", process.result->checked},
              {"unchecked", process.result->unchecked},
              {"observed_path", valid_utf8(process.result->observed_path)}};
  }
  json gpu_events = json::array();
  for (const GpuEvent& event : process.gpu_events) gpu_events.push_back(gpu_event_to_json(event));
  json object{{"process", process.process},
              {"iteration", process.iteration},
              {"pid", process.pid},
              {"start", name_of(process.start)},
              {"termination", termination_to_json(process.termination)},
              {"ended_by", name_of(process.ended_by)},
              {"crashed_in_inquest", process.crashed_in_inquest},
              {"stop_signals", process.stop_signals},
              {"seconds", process.seconds},
              {"ready_seconds", process.ready_seconds},
              {"ended_at", process.ended_at},
              {"idle_seconds", process.idle_seconds},
              {"usage",
               {{"user_seconds", process.usage.user_seconds},
                {"system_seconds", process.usage.system_seconds},
                {"max_rss_bytes", process.usage.max_rss_bytes}}},
              {"recorder", recorder_to_json(process.recorder)},
              {"ready", process.ready},
              {"provenance", process.hello ? json(process.hello->provenance) : json(nullptr)},
              {"result", result},
              {"failures", failures},
              {"stdout", capture_to_json(process.out)},
              {"stderr", capture_to_json(process.err)},
              {"garbage_bytes", process.garbage_bytes},
              {"was_stopped", process.was_stopped},
              {"left_descendants", process.left_descendants},
              {"kernel_memory_kill", process.kernel_memory_kill},
              {"setup_problem", valid_utf8(process.setup_problem)},
              {"stacks", stacks_to_json(process.stacks)},
              {"crash_report",
               process.crash_report ? crash_report_to_json(*process.crash_report) : json(nullptr)},
              {"gpu_events", gpu_events},
              {"api_validation_seen", process.api_validation_seen},
              {"shader_validation_seen", process.shader_validation_seen},
              {"image_set", process.image_set.empty() ? json(nullptr) : json(process.image_set)}};
  if (!process.start_remark.empty()) object["start_remark"] = valid_utf8(process.start_remark);
  return object;
}

ProcessRecord process_from_json(const json& object) {
  ProcessRecord process;
  process.process = object.at("process");
  process.iteration = object.at("iteration");
  process.pid = object.at("pid");
  // In journals of earlier releases every one was executed.
  if (const auto start = object.find("start"); start != object.end()) {
    process.start = word<StartProcess>(*start, start_process_named);
  }
  process.start_remark = object.value("start_remark", "");
  process.ready_seconds = object.value("ready_seconds", 0.0);
  process.termination = termination_from_json(object.at("termination"));
  process.ended_by = ended_by_from(object.at("ended_by"));
  process.crashed_in_inquest = object.at("crashed_in_inquest");
  process.stop_signals = object.at("stop_signals");
  process.seconds = object.at("seconds");
  process.ended_at = object.at("ended_at");
  process.idle_seconds = object.at("idle_seconds");
  const json& usage = object.at("usage");
  process.usage = {usage.at("user_seconds"), usage.at("system_seconds"), usage.at("max_rss_bytes")};
  process.recorder = recorder_from_json(object.at("recorder"));
  process.ready = object.at("ready");
  if (object.at("provenance").is_string()) {
    process.hello = HelloEvent{kProtocolVersion, object.at("provenance")};
  }
  if (const json& result = object.at("result"); !result.is_null()) {
    process.result =
        ResultEvent{result.at("operations"), result.at("seconds"), result.at("checked"),
                    result.at("unchecked"), result.at("observed_path")};
  }
  for (const json& failure : object.at("failures")) {
    process.failures.push_back(failure_from_json(failure));
  }
  process.out = capture_from_json(object.at("stdout"));
  process.err = capture_from_json(object.at("stderr"));
  process.garbage_bytes = object.at("garbage_bytes");
  process.was_stopped = object.at("was_stopped");
  process.left_descendants = object.at("left_descendants");
  process.kernel_memory_kill = object.at("kernel_memory_kill");
  process.setup_problem = object.at("setup_problem");
  process.stacks = stacks_from_json(object.at("stacks"));
  if (const json& report = object.at("crash_report"); !report.is_null()) {
    process.crash_report = crash_report_from_json(report);
  }
  for (const json& event : object.at("gpu_events")) {
    process.gpu_events.push_back(gpu_event_from_json(event));
  }
  process.api_validation_seen = object.at("api_validation_seen");
  process.shader_validation_seen = object.at("shader_validation_seen");
  if (const json& set = object.at("image_set"); !set.is_null()) process.image_set = set;
  return process;
}

}  // namespace

json judgement_to_json(const Judgement& judgement) {
  json also = json::array();
  for (const OtherFinding& finding : judgement.also) {
    also.push_back({{"title", valid_utf8(finding.title)}, {"known", finding.known}});
  }
  json object{{"outcome", name_of(judgement.outcome)},
              {"detail", valid_utf8(judgement.detail)},
              {"signature", valid_utf8(judgement.signature)},
              {"signature_known", judgement.known},
              {"basis", name_of(judgement.basis)},
              {"also", also},
              {"bystander", judgement.bystander},
              {"phase", name_of(judgement.phase)}};
  if (!judgement.why.empty()) object["why"] = judgement.why;
  return object;
}

namespace {

Judgement judgement_from_json(const json& object) {
  Judgement judgement;
  judgement.outcome = outcome_from(object.at("outcome"));
  judgement.detail = object.at("detail");
  judgement.signature = object.at("signature");
  judgement.known = object.at("signature_known");
  judgement.basis = word<Basis>(object.at("basis"), basis_named);
  for (const json& finding : object.at("also")) {
    judgement.also.push_back({finding.at("title"), finding.at("known")});
  }
  // Journals of earlier releases have none.
  if (const auto why = object.find("why"); why != object.end()) judgement.why = *why;
  judgement.bystander = object.at("bystander");
  judgement.phase = phase_from(object.at("phase"));
  return judgement;
}

}  // namespace

std::string valid_utf8(const std::string& text) {
  // Most are ASCII, and nearly all of a journal's bytes go through here.
  if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; })) return text;
  // The library's own replacement, so that every place that writes JSON agrees with it.
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

json known_good_to_json(const KnownGood& known_good) {
  return {{"cell", valid_utf8(known_good.cell)},
          {"attempts", known_good.attempts},
          {"outcome", name_of(known_good.outcome)}};
}

KnownGood known_good_from_json(const json& object) {
  return {object.at("cell"), object.at("attempts"), outcome_from(object.at("outcome"))};
}

json trial_to_json(const TrialRecord& trial) {
  json processes = json::array();
  for (const ProcessRecord& process : trial.processes) {
    processes.push_back(process_to_json(process));
  }
  json known_good = nullptr;
  if (trial.known_good.has_value()) {
    known_good = known_good_to_json(*trial.known_good);
  }
  json object{{"worker", trial.worker},
              {"cell", to_string(trial.cell)},
              {"trial", trial.trial},
              {"attempt", trial.attempt},
              {"sequence", trial.sequence},
              {"before", trial.before},
              {"started", trial.started},
              {"seconds", trial.seconds},
              {"judgement", judgement_to_json(trial.judgement)},
              {"judged_process", trial.judged_process},
              {"processes", processes},
              {"known_good", known_good}};
  if (const auto& probe = trial.path_probe; probe.has_value()) {
    object["path_probe"] = {{"cell", valid_utf8(probe->cell)},
                            {"path", valid_utf8(probe->path)},
                            {"why", valid_utf8(probe->why)}};
  }
  return object;
}

TrialRecord trial_from_json(const json& object) {
  TrialRecord trial;
  trial.worker = object.at("worker");
  trial.cell = parse_cell(object.at("cell").get<std::string>());
  trial.trial = object.at("trial");
  trial.attempt = object.at("attempt");
  trial.sequence = object.at("sequence");
  trial.before = object.at("before");
  trial.started = object.at("started");
  trial.seconds = object.at("seconds");
  trial.judgement = judgement_from_json(object.at("judgement"));
  trial.judged_process = object.at("judged_process");
  for (const json& process : object.at("processes")) {
    trial.processes.push_back(process_from_json(process));
  }
  // Whoever shows a trial looks its process up by this index.
  const auto count = static_cast<int>(trial.processes.size());
  if (trial.judged_process < 0 || (count > 0 && trial.judged_process >= count)) {
    throw InputError("judged_process", "no such process", "The journal is damaged");
  }
  if (const json& known_good = object.at("known_good"); !known_good.is_null()) {
    trial.known_good = known_good_from_json(known_good);
  }
  // Journals of earlier releases have none.
  if (const auto probe = object.find("path_probe"); probe != object.end()) {
    trial.path_probe = PathProbe{probe->at("cell"), probe->at("path"), probe->at("why")};
  }
  return trial;
}

}  // namespace mpsprobe
