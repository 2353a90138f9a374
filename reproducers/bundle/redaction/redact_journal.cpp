#include "reproducers/bundle/redaction/redact_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "harness/journal/header_json.h"
#include "harness/journal/trial_json.h"
#include "reproducers/bundle/redaction/allow_list.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Texts are cut to this before they are looked through, and to kMostCaptureBytes afterwards.
constexpr size_t kRawBytes = 4 * kMostCaptureBytes;
constexpr size_t kMostTextBytes = 16384;
constexpr size_t kMostNameBytes = 1024;
/// Below this the value of a variable is a switch or a number, and no secret.
constexpr size_t kFewestSecretBytes = 6;

constexpr std::array<Wanted, 9> kMachine{{{"os"},
                                          {"os_build"},
                                          {"kernel"},
                                          {"model"},
                                          {"chip"},
                                          {"architecture"},
                                          {"cores"},
                                          {"memory_bytes"},
                                          {"compiler"}}};

#define MPSPROBE_PROVENANCE(AT)                                                                 \
  {AT "torch.version"}, {AT "torch.git_hash"}, {AT "torch.path", Take::path},                   \
      {AT "torch.build_id"}, {AT "torch.uuid"}, {AT "torch.fingerprint"},                       \
      {AT "torch.compiled_version"}, {AT "torch.has_mps_stream_pool"}, {AT "torch.cuda"},       \
      {AT "torch.build"}, {AT "mlx.version"}, {AT "mlx.path", Take::path}, {AT "mlx.build_id"}, \
      {AT "mlx.uuid"}, {AT "mlx.fingerprint"}, {AT "mlx.compiled_version"}, {AT "device"},      \
      {AT "device.backend"}, {AT "device.device"}, {AT "device.name"}, {AT "device.profile"},   \
      {AT "device.profile_hash"}, {AT "device.simulated"}, {AT "device.paravirtual"},           \
      {AT "device.registry_id", Take::number}, {AT "device.capability"}, {AT "device.driver"},  \
      {AT "device.family"}, {AT "environment.*"}, {AT "symbols.*"},                             \
      {AT "frameworks.*", Take::text}, {AT "worker_version"}, {AT "simulated"},                 \
      {AT "sim.simulated"}, {AT "sim.profile"}, {                                               \
    AT "sim.profile_hash"                                                                       \
  }

constexpr Wanted kProvenance[] = {MPSPROBE_PROVENANCE("")};
constexpr Wanted kDescribe[] = {{"mpsprobe_worker"},
                                {"version"},
                                {"axes[]"},
                                {"starts[]"},
                                {"no_fork", Take::message},
                                {"backends[].name"},
                                {"backends[].available"},
                                {"backends[].device"},
                                {"backends[].reason", Take::message},
                                {"backends[].simulated"},
                                MPSPROBE_PROVENANCE("provenance.")};
#undef MPSPROBE_PROVENANCE

json wanted_of(const json& value, std::span<const Wanted> wanted, Redactor& redactor) {
  // A device of older workers is a text, of newer ones an object: both are on the list.
  return json(only_wanted(ordered_json(value), wanted, redactor));
}

size_t character_begin(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

class JournalRedaction {
 public:
  explicit JournalRedaction(Redactor& redactor) : redactor_(redactor) {}

  void run(Journal& journal) {
    redactor_.at("what the run set out to do");
    header(journal.header);
    redactor_.at("provenance");
    for (auto& [id, provenance] : journal.provenances) library_of(provenance, provenance);
    std::map<std::string, std::vector<ImageSeen>> sets;
    for (auto& [id, images] : journal.image_sets) {
      list(images, [&](ImageSeen& image) { path(image.path); });
      sets[redactor_.text(id)] = images;
    }
    journal.image_sets = std::move(sets);
    for (TrialRecord& each : journal.trials) trial(each);
    redactor_.at("how the run ended");
    for (CampaignEnd& end : journal.ends) {
      for (std::string* field : {&end.reason, &end.ended, &end.note}) text(*field);
    }
  }

 private:
  void text(std::string& text, size_t most = kMostTextBytes) {
    text = cut_in_the_middle(text, kRawBytes, kRawBytes);
    text = cut_in_the_middle(redactor_.text(text), most / 2, most / 2);
  }
  void name(std::string& name) { text(name, kMostNameBytes); }
  void path(std::string& path) {
    path = redactor_.path(path.substr(0, kMostTextBytes));
    path.resize(std::min(path.size(), kMostNameBytes));
  }
  template <typename List, typename Each>
  void list(List& list, Each each) {
    if (list.size() > kMostListEntries) list.resize(kMostListEntries);
    for (auto& entry : list) each(entry);
  }
  void texts(std::vector<std::string>& all) {
    list(all, [this](std::string& entry) { text(entry); });
  }

  std::string worker(const std::string& name) {
    const auto known = workers_.find(name);
    if (known != workers_.end()) return known->second;
    const std::string clean = redactor_.text(name.substr(0, kMostNameBytes));
    const std::string given = clean == name ? name : fmt::format("worker-{}", workers_.size() + 1);
    return workers_[name] = given;
  }

  /// Two libraries in two folders of one name must not become one.
  void library_of(json& whole, const json& before) {
    const bool mlx = before.is_object() && before.contains("mlx");
    const json::json_pointer place(mlx ? "/mlx/path" : "/torch/path");
    const std::string raw =
        before.is_object() && before.contains(place) && before.at(place).is_string()
            ? before.at(place).get<std::string>()
            : "";
    json kept = wanted_of(before, kProvenance, redactor_);
    if (!raw.empty() && kept.is_object() && kept.contains(place)) {
      const auto known = libraries_.find(raw);
      if (known != libraries_.end()) {
        kept[place] = known->second;
      } else {
        auto clean = kept[place].get<std::string>();
        for (int number = 2; !shown_.insert(clean).second; ++number) {
          clean = fmt::format("{} ({})", kept[place].get<std::string>(), number);
        }
        kept[place] = libraries_[raw] = clean;
      }
    }
    whole = kept.is_null() ? json::object() : std::move(kept);
  }

  void header(CampaignHeader& header) {
    for (std::string& argument : header.command_line)
      argument.resize(std::min(argument.size(), kMostTextBytes));
    redactor_.command_line(header.command_line);
    for (std::string& variable : header.environment) {
      variable = redactor_.variable(variable.substr(0, kMostTextBytes));
    }
    for (std::string& folder : header.crash_reports) path(folder);
    header.machine = wanted_of(header.machine, kMachine, redactor_);
    for (WorkerInfo& info : header.workers) {
      info.name = worker(info.name);
      path(info.path);
      json library = info.describe.value("provenance", json::object());
      info.describe.erase("operations");  // a table that every copy of this version has
      info.describe = wanted_of(info.describe, kDescribe, redactor_);
      if (info.describe.is_object() && library.is_object()) {
        library_of(info.describe["provenance"], library);
      }
    }
    for (std::string* field : {&header.mpsprobe_version, &header.mpsprobe_build, &header.started,
                               &header.matrix_name, &header.matrix_description}) {
      text(*field);
    }
    header.cells.rename_blocks([this](std::string& title) { name(title); });
    for (LeftOut& left_out : header.left_out) {
      name(left_out.cell);
      name(left_out.reason);
    }
  }

  void frames(std::vector<StackFrame>& frames) {
    list(frames, [this](StackFrame& frame) {
      name(frame.function);
      for (std::string* field : {&frame.image, &frame.source}) path(*field);
      name(frame.image_id);
    });
  }
  void threads(std::vector<ThreadStack>& stacks) {
    list(stacks, [this](ThreadStack& stack) {
      name(stack.name);
      frames(stack.frames);
    });
  }

  void capture(Capture& capture) {
    text(capture.head, kMostCaptureBytes);
    text(capture.tail, kMostCaptureBytes);
    texts(capture.noticed);
  }

  void crash_report(CrashReport& report) {
    redactor_.at("crash reports");
    // Its place is told by the bundle's own name of it (crash_reports.h).
    report.incident.clear();
    for (std::string* field : {&report.bug_type, &report.process, &report.os_version, &report.model,
                               &report.exception, &report.signal, &report.subtype,
                               &report.termination_namespace, &report.termination_indicator}) {
      text(*field);
    }
    texts(report.termination_reasons);
    texts(report.application_info);
    threads(report.threads);
    frames(report.last_exception);
  }

  void process(ProcessRecord& process) {
    redactor_.at("what processes printed");
    capture(process.out);
    capture(process.err);
    redactor_.at("what processes told of failures");
    list(process.failures, [this](FailureEvent& failure) {
      for (std::string* field :
           {&failure.kind, &failure.text, &failure.phase, &failure.operation}) {
        text(*field);
      }
    });
    text(process.setup_problem);
    text(process.start_remark);
    if (process.result) name(process.result->observed_path);
    if (auto* spawn = std::get_if<NotSpawned>(&process.termination)) text(spawn->what);
    redactor_.at("flight recorders and stacks");
    list(process.recorder.threads, [this](ThreadPlace& place) { name(place.operation); });
    list(process.recorder.crash.frames, [this](FrameAddress& frame) { path(frame.path); });
    list(process.recorder.images, [this](ImageSeen& image) { path(image.path); });
    list(process.recorder.stacks, [this](StackSeen& seen) {
      name(seen.name);
      list(seen.frames, [this](FrameAddress& frame) { path(frame.path); });
    });
    threads(process.stacks.threads);
    process.image_set = redactor_.text(process.image_set);
    if (process.crash_report) crash_report(*process.crash_report);
    redactor_.at("GPU events");
    list(process.gpu_events, [this](GpuEvent& event) {
      event.incident.clear();
      name(event.process);
      text(event.summary);
    });
  }

  void trial(TrialRecord& trial) {
    redactor_.at("trials");
    trial.worker = worker(trial.worker);
    name(trial.before);
    name(trial.started);
    Judgement& judgement = trial.judgement;
    name(judgement.detail);
    judgement.signature = redactor_.text(judgement.signature);
    list(judgement.also, [this](OtherFinding& finding) { name(finding.title); });
    if (trial.known_good) name(trial.known_good->cell);
    if (trial.path_probe) {
      name(trial.path_probe->cell);
      name(trial.path_probe->path);
      text(trial.path_probe->why);
    }
    for (ProcessRecord& each : trial.processes) process(each);
  }

  Redactor& redactor_;
  std::map<std::string, std::string> workers_;
  std::map<std::string, std::string> libraries_;
  std::set<std::string> shown_;
};

}  // namespace

std::string cut_in_the_middle(std::string_view text, size_t head, size_t tail) {
  if (text.size() <= head + tail + 100) return std::string(text);
  const size_t first = character_begin(text, head);
  const size_t last = character_begin(text, text.size() - tail);
  return fmt::format("{}\n[... {} bytes are left out here: this bundle keeps {} of them ...]\n{}",
                     text.substr(0, first), last - first, first + text.size() - last,
                     text.substr(last));
}

void learn_from_journal(const Journal& journal, PersonalStrings& strings) {
  strings.learn_json(header_to_json(journal.header));
  // What is left out of the environment must not stand anywhere else, printed by a worker say.
  for (const std::string& variable : journal.header.environment) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || variable.size() - equals - 1 < kFewestSecretBytes) continue;
    const std::string_view name = std::string_view(variable).substr(0, equals);
    if (is_variable_of_the_software(name)) continue;
    strings.add(PersonalKind::secret, std::string_view(variable).substr(equals + 1));
  }
  for (const auto& [id, provenance] : journal.provenances) strings.learn_json(provenance);
  for (const auto& [id, images] : journal.image_sets) {
    for (const ImageSeen& image : images) strings.learn_text(image.path);
  }
  for (const TrialRecord& trial : journal.trials) strings.learn_json(trial_to_json(trial));
}

void redact_journal(Journal& journal, Redactor& redactor) {
  JournalRedaction(redactor).run(journal);
}

}  // namespace mpsprobe
