#include "reproducers/bundle/redaction/redact_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <type_traits>
#include <unordered_map>
#include <variant>

#include "harness/input/input_error.h"
#include "harness/journal/header_fields.h"
#include "harness/journal/header_json.h"
#include "harness/journal/trial_json.h"
#include "harness/record/trial_fields.h"
#include "harness/signature/function_name.h"
#include "reproducers/bundle/redaction/allow_list.h"
#include "reproducers/bundle/redaction/software_names.h"

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

constexpr std::array<Wanted, 9> kMachine{{{"os", Take::text},
                                          {"os_build", Take::text},
                                          {"kernel"},
                                          {"model", Take::text},
                                          {"chip", Take::text},
                                          {"architecture", Take::text},
                                          {"cores"},
                                          {"memory_bytes"},
                                          {"compiler", Take::text}}};

#define MPSPROBE_PROVENANCE(AT)                                                                    \
  {AT "torch.version"}, {AT "torch.git_hash", Take::build_id}, {AT "torch.path", Take::path},      \
      {AT "torch.build_id", Take::build_id}, {AT "torch.uuid", Take::build_id},                    \
      {AT "torch.fingerprint", Take::build_id}, {AT "torch.compiled_version"},                     \
      {AT "torch.has_mps_stream_pool"}, {AT "torch.cuda"}, {AT "torch.build"}, {AT "mlx.version"}, \
      {AT "mlx.path", Take::path}, {AT "mlx.build_id", Take::build_id},                            \
      {AT "mlx.uuid", Take::build_id}, {AT "mlx.fingerprint", Take::build_id},                     \
      {AT "mlx.compiled_version"}, {AT "device"}, {AT "device.backend"}, {AT "device.device"},     \
      {AT "device.name"}, {AT "device.profile"}, {AT "device.profile_hash", Take::build_id},       \
      {AT "device.simulated"}, {AT "device.paravirtual"}, {AT "device.registry_id", Take::number}, \
      {AT "device.capability"}, {AT "device.driver"}, {AT "device.family"},                        \
      {AT "device.frameworks.Metal"}, {AT "device.frameworks.MetalPerformanceShaders"},            \
      {AT "python.implementation"}, {AT "python.version"}, {AT "python.build"},                    \
      {AT "python.compiler"}, {AT "python.free_threaded", Take::number},                           \
      {AT "python.gil", Take::number}, {AT "python.executable", Take::path},                       \
      {AT "python.binding.path", Take::path}, {AT "python.binding.build_id", Take::build_id},      \
      {AT "python.binding.uuid", Take::build_id},                                                  \
      {AT "python.binding.fingerprint", Take::build_id},                                           \
      {AT "device.frameworks.MetalPerformanceShadersGraph"}, {AT "environment.*", Take::variable}, \
      {AT "symbols.*", Take::number}, {AT "worker_version"}, {AT "thread_stack", Take::number},    \
      {AT "simulated"}, {AT "sim.simulated"}, {AT "sim.profile"}, {                                \
    AT "sim.profile_hash", Take::build_id                                                          \
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

/// The part of the evidence that the texts of a record are told under.
template <typename Record>
constexpr std::string_view kPart;
template <>
inline constexpr std::string_view kPart<CampaignHeader> = "what the run set out to do";
template <>
inline constexpr std::string_view kPart<CampaignEnd> = "how the run ended";
template <>
inline constexpr std::string_view kPart<TrialRecord> = "trials";
template <>
inline constexpr std::string_view kPart<ProcessRecord> = "what processes told of failures";
template <>
inline constexpr std::string_view kPart<Capture> = "what processes printed";
template <>
inline constexpr std::string_view kPart<RecorderReading> = "flight recorders and stacks";
template <>
inline constexpr std::string_view kPart<StackEvidence> = "flight recorders and stacks";
template <>
inline constexpr std::string_view kPart<CrashReport> = "crash reports";
template <>
inline constexpr std::string_view kPart<GpuEvent> = "GPU events";

/// Other parts of the journal count them: a list of them keeps every one.
template <typename Entry>
constexpr bool kCounted = std::is_same_v<Entry, ProcessRecord> ||
                          std::is_same_v<Entry, WorkerInfo> || std::is_same_v<Entry, LeftOut>;

/// Takes what a field holds by its kind (harness/record/field.h).
class JournalRedaction {
 public:
  explicit JournalRedaction(Redactor& redactor) : redactor_(redactor) {}

  void run(Journal& journal) {
    for (const TrialRecord& trial : journal.trials) learn_functions(trial);
    record(journal.header);
    enter("provenance");
    std::map<std::string, json> provenances;
    for (const auto& [id, provenance] : journal.provenances) {
      provenances[defined(id)] = library_of(provenance);
    }
    journal.provenances = std::move(provenances);
    std::map<std::string, std::vector<ImageSeen>> sets;
    for (auto& [id, images] : journal.image_sets) {
      take<FieldKind::record>(images);
      sets[defined(id)] = std::move(images);
    }
    journal.image_sets = std::move(sets);
    for (TrialRecord& trial : journal.trials) record(trial);
    for (CampaignEnd& end : journal.ends) record(end);
  }

 private:
  /// Names of functions are a library's or somebody's own.
  static bool is_of_a_library(const StackFrame& frame) {
    const std::string name = frame.image.substr(frame.image.find_last_of('/') + 1);
    return is_path_of_the_system(frame.image) || (is_plain_name(name) && is_known_name(name));
  }

  void learn_functions(const std::vector<StackFrame>& frames) {
    for (const StackFrame& frame : frames) {
      if (frame.function.empty() || !is_of_a_library(frame)) continue;
      if (const auto [at, fresh] = functions_.try_emplace(frame.function); fresh) {
        at->second = normalise_function(frame.function);
      }
    }
  }
  void learn_functions(const TrialRecord& trial) {
    for (const ProcessRecord& process : trial.processes) {
      for (const ThreadStack& thread : process.stacks.threads) learn_functions(thread.frames);
      if (!process.crash_report.has_value()) continue;
      for (const ThreadStack& thread : process.crash_report->threads)
        learn_functions(thread.frames);
      learn_functions(process.crash_report->last_exception);
    }
  }
  /// What is known of a title, and the function of a library that it names.
  std::string known_title(const std::string& title) {
    std::string_view named;
    if (titles_of_code_) {
      for (const auto& [whole, function] : functions_) {
        if (function.size() > named.size() && title.ends_with(" " + function)) named = function;
      }
    }
    const std::string in_front = title.substr(0, title.size() - named.size());
    return redactor_.known(in_front, Names::words) + redactor_.known(named, Names::symbols);
  }

  template <Described Record>
  void record(Record& record) {
    const std::string_view before = part_;
    if constexpr (std::is_same_v<Record, StackFrame>) {
      names_of_functions_ = is_of_a_library(record) ? Names::symbols : Names::words;
    }
    if constexpr (std::is_same_v<Record, Judgement>) {
      titles_of_code_ = record.basis == Basis::frames || record.basis == Basis::place;
    }
    if (!kPart<Record>.empty()) enter(kPart<Record>);
    for_each_field<Record>([this, &record]<typename Field>(const Field& field) {
      if constexpr (Field::kind == FieldKind::structure) {
        this->structure(record, record.*field.member);
      } else {
        this->template take<Field::kind>(record.*field.member);
      }
    });
    enter(before);
  }

  void enter(std::string_view part) {
    part_ = part;
    redactor_.at(std::string(part));
  }

  template <FieldKind Kind, typename Value>
  void take(Value& value) {
    if constexpr (std::is_same_v<Value, Cell>) {
      redactor_.cell(value);
    } else if constexpr (Kind == FieldKind::safe || Kind == FieldKind::evidence_file) {
      return;
    } else if constexpr (Kind == FieldKind::arguments) {
      for (std::string& argument : value) shorten(argument, kMostTextBytes);
      redactor_.command_line(value);
    } else if constexpr (kIsList<Value>) {
      using Entry = typename Value::value_type;
      constexpr bool kWhole = kCounted<Entry> || Kind == FieldKind::variables;
      if (!kWhole && value.size() > kMostListEntries) value.resize(kMostListEntries);
      for (Entry& entry : value) take<Kind>(entry);
    } else if constexpr (kIsOptional<Value>) {
      if (value.has_value()) take<Kind>(*value);
    } else if constexpr (std::is_same_v<Value, Termination>) {
      std::visit([this](auto& each) { this->record(each); }, value);
    } else if constexpr (Kind == FieldKind::record) {
      record(value);
    } else {
      value = taken<Kind>(value);
    }
  }

  template <FieldKind Kind>
  std::string taken(const std::string& value) {
    if constexpr (Kind == FieldKind::name) {
      return redactor_.known(value.substr(0, kMostNameBytes), Names::words);
    } else if constexpr (Kind == FieldKind::text) {
      return redactor_.known(cut(value, kMostTextBytes), Names::words);
    } else if constexpr (Kind == FieldKind::symbol) {
      return redactor_.known(value.substr(0, kMostNameBytes), names_of_functions_);
    } else if constexpr (Kind == FieldKind::build_id) {
      return redactor_.build_id(value.substr(0, kMostNameBytes));
    } else if constexpr (Kind == FieldKind::cell_name) {
      return cell_name(value);
    } else if constexpr (Kind == FieldKind::title) {
      return title(value);
    } else if constexpr (Kind == FieldKind::message) {
      return output(value, kMostTextBytes);
    } else if constexpr (Kind == FieldKind::output) {
      return output(value, kMostCaptureBytes);
    } else if constexpr (Kind == FieldKind::path) {
      std::string path = redactor_.path(value.substr(0, kMostTextBytes));
      shorten(path, kMostNameBytes);
      return path;
    } else if constexpr (Kind == FieldKind::identity) {
      return "";
    } else if constexpr (Kind == FieldKind::worker) {
      return worker(value);
    } else if constexpr (Kind == FieldKind::reference) {
      return value.empty() ? "" : reference(value);
    } else {
      static_assert(Kind == FieldKind::variables);
      return redactor_.variable(value.substr(0, kMostTextBytes));
    }
  }

  static void shorten(std::string& text, size_t most) { text.resize(std::min(text.size(), most)); }

  static std::string cut(const std::string& text, size_t most) {
    return cut_in_the_middle(text, most / 2, most / 2);
  }

  std::string output(const std::string& text, size_t most) {
    return cut(redactor_.output(cut_in_the_middle(text, kRawBytes, kRawBytes)), most);
  }

  std::string cell_name(const std::string& text) {
    if (text.empty()) return "";
    try {
      Cell cell = parse_cell(text);
      redactor_.cell(cell);
      return to_string(cell);
    } catch (const InputError&) {
      return redactor_.known(text.substr(0, kMostNameBytes), Names::words);
    }
  }

  /// Two failures must not become one, however little is left of their titles.
  const std::string& title(const std::string& title) {
    const auto [at, fresh] = titles_.try_emplace(title);
    if (fresh && !title.empty()) {
      at->second = distinct(known_title(title.substr(0, kMostTextBytes)));
    }
    return at->second;
  }

  std::string worker(const std::string& name) {
    const auto known = workers_.find(name);
    if (known != workers_.end()) return known->second;
    const std::string clean = redactor_.known(name.substr(0, kMostNameBytes), Names::words);
    const std::string given = clean == name ? name : fmt::format("worker-{}", workers_.size() + 1);
    return workers_[name] = given;
  }

  /// The name of a record that the journal has. Two of them must not become one.
  const std::string& defined(const std::string& id) {
    const auto [at, fresh] = references_.try_emplace(id);
    if (fresh) at->second = is_build_id(id) ? id : name_of_record(id);
    return at->second;
  }
  /// A name of none that the journal has says only that it is another.
  const std::string& reference(const std::string& id) {
    const auto [at, fresh] = references_.try_emplace(id, id);
    if (fresh && redactor_.enabled()) at->second = fmt::format("lost-{}", references_.size());
    return at->second;
  }

  std::string name_of_record(const std::string& id) {
    return distinct(redactor_.known(id.substr(0, kMostNameBytes), Names::words));
  }

  std::string distinct(const std::string& clean) {
    std::string shown = clean;
    for (int number = 2; !shown_.insert(shown).second; ++number) {
      shown = fmt::format("{} ({})", clean, number);
    }
    return shown;
  }

  /// What is wanted of a provenance. Two libraries in two folders of one name must not become one.
  json library_of(const json& whole) {
    const bool mlx = whole.is_object() && whole.contains("mlx");
    const json::json_pointer place(mlx ? "/mlx/path" : "/torch/path");
    const std::string raw =
        whole.is_object() && whole.contains(place) && whole.at(place).is_string()
            ? whole.at(place).get<std::string>()
            : "";
    json kept = wanted_of(whole, kProvenance, redactor_);
    if (!raw.empty() && kept.is_object() && kept.contains(place)) {
      const auto [known, fresh] = libraries_.try_emplace(raw);
      if (fresh) known->second = distinct(kept[place].get<std::string>());
      kept[place] = known->second;
    }
    return kept.is_null() ? json::object() : kept;
  }

  void structure(CampaignHeader&, json& machine) {
    machine = wanted_of(machine, kMachine, redactor_);
  }
  void structure(CampaignHeader&, PlannedCells& cells) {
    cells.rename_blocks([this](std::string& title) { take<FieldKind::name>(title); });
    // A million cells are of a few operations.
    const auto all_stay = [&](std::string_view axis, std::string Cell::*member) {
      const std::set<std::string> values = cells.values_named(axis);
      return std::all_of(values.begin(), values.end(), [&](const std::string& value) {
        Cell cell;
        cell.*member = value;
        redactor_.cell(cell);
        return cell.*member == value;
      });
    };
    if (all_stay("op", &Cell::op) && all_stay("env", &Cell::env)) return;
    PlannedCells changed;
    for (PlannedCell planned : cells) {
      redactor_.cell(planned.cell);
      changed.push_back(std::move(planned));
    }
    cells = std::move(changed);
  }
  void structure(WorkerInfo&, json& describe) {
    const json library = describe.value("provenance", json::object());
    describe.erase("operations");  // a table that every copy of this version has
    describe = wanted_of(describe, kDescribe, redactor_);
    if (describe.is_object() && library.is_object()) describe["provenance"] = library_of(library);
  }

  Redactor& redactor_;
  std::string_view part_ = "evidence";
  std::map<std::string, std::string> workers_;
  std::map<std::string, std::string> references_;
  std::map<std::string, std::string> libraries_;
  std::map<std::string, std::string> titles_;
  /// Functions of libraries, as stacks and as titles name them.
  std::unordered_map<std::string, std::string> functions_;
  Names names_of_functions_ = Names::words;
  bool titles_of_code_ = false;
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
