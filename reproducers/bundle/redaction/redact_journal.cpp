#include "reproducers/bundle/redaction/redact_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <type_traits>
#include <variant>

#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/journal/header_fields.h"
#include "harness/record/trial_fields.h"
#include "harness/signature/function_name.h"
#include "harness/stack/image_symbols.h"
#include "harness/wire/split.h"
#include "reproducers/bundle/redaction/software_names.h"
#include "reproducers/minimise/minimum_fields.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Bytes of one captured stream that are kept, at its begin and at its end.
constexpr size_t kMostCaptureBytes = 65536;
/// Stacks and texts of one process beyond which the rest is left out.
constexpr size_t kMostListEntries = 512;
/// Texts are cut to this before they are looked through, and to kMostCaptureBytes afterwards.
constexpr size_t kRawBytes = 4 * kMostCaptureBytes;
constexpr size_t kMostTextBytes = 16384;
constexpr size_t kMostNameBytes = 1024;
constexpr size_t kMostSourceBytes = size_t{4} << 20;
constexpr size_t kMostSources = 20'000;

/// What is wanted of JSON that others made: each place, a JSON pointer, by its kind. Texts are of a
/// system, of an image, or of nobody known.
struct Wanted {
  const char* place;
  FieldKind kind = FieldKind::text;
};
constexpr auto kSystem = FieldKind::name;
constexpr auto kId = FieldKind::build_id;

constexpr Wanted kMachine[] = {
    {"/os", kSystem},    {"/os_build", kSystem}, {"/kernel"},
    {"/model", kSystem}, {"/chip", kSystem},     {"/architecture", kSystem},
    {"/cores"},          {"/memory_bytes"},      {"/compiler", kSystem}};
constexpr Wanted kProvenance[] = {{"/torch/version"},
                                  {"/torch/git_hash", kId},
                                  {"/torch/path", FieldKind::path},
                                  {"/torch/build_id", kId},
                                  {"/torch/uuid", kId},
                                  {"/torch/fingerprint", kId},
                                  {"/torch/compiled_version"},
                                  {"/torch/has_mps_stream_pool"},
                                  {"/torch/cuda"},
                                  {"/mlx/version"},
                                  {"/mlx/path", FieldKind::path},
                                  {"/mlx/build_id", kId},
                                  {"/mlx/uuid", kId},
                                  {"/mlx/fingerprint", kId},
                                  {"/mlx/compiled_version"},
                                  {"/device"},
                                  {"/device/backend"},
                                  {"/device/device"},
                                  {"/device/name"},
                                  {"/device/profile"},
                                  {"/device/profile_hash", kId},
                                  {"/device/simulated"},
                                  {"/device/paravirtual"},
                                  {"/device/capability"},
                                  {"/device/driver"},
                                  {"/device/family"},
                                  {"/python/implementation"},
                                  {"/python/version"},
                                  {"/python/free_threaded"},
                                  {"/python/gil"},
                                  {"/python/binding/build_id", kId},
                                  {"/worker_version"},
                                  {"/simulated"},
                                  {"/sim/simulated"},
                                  {"/sim/profile"},
                                  {"/sim/profile_hash", kId}};
constexpr Wanted kDescribe[] = {{"/mpsprobe_worker"}, {"/version"}};
constexpr Wanted kBackend[] = {{"/name"}, {"/available"}, {"/device"}, {"/reason"}, {"/simulated"}};

size_t character_begin(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

/// The first `head` and last `tail` bytes of a text, with a line between them that says how much is
/// left out.
std::string cut_in_the_middle(std::string_view text, size_t head, size_t tail) {
  if (text.size() <= head + tail + 100) return std::string(text);
  const size_t first = character_begin(text, head);
  const size_t last = character_begin(text, text.size() - tail);
  return fmt::format("{}\n[... {} bytes are left out here: this bundle keeps {} of them ...]\n{}",
                     text.substr(0, first), last - first, first + text.size() - last,
                     text.substr(last));
}

/// Other parts of the journal count them: a list of them keeps every one.
template <typename Entry>
constexpr bool kCounted = std::is_same_v<Entry, ProcessRecord> ||
                          std::is_same_v<Entry, WorkerInfo> || std::is_same_v<Entry, LeftOut>;

/// Takes what a field holds by its kind (harness/record/field.h).
class JournalRedaction {
 public:
  JournalRedaction(Redactor& redactor, bool with_output)
      : redactor_(redactor), with_output_(with_output) {}

  std::vector<std::string> run(Journal& journal) {
    for (const TrialRecord& trial : journal.trials) learn_functions(trial);
    record(journal.header);
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
    return {output_.begin(), output_.end()};
  }

 private:
  void learn_functions(const std::vector<StackFrame>& frames) {
    for (const StackFrame& frame : frames) {
      if (!redactor_.is_of_the_software(frame.image)) continue;
      functions_.insert(normalise_function(frame.function));
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

 public:
  template <Described Record>
  void record(Record& record) {
    std::string source;
    if constexpr (std::is_same_v<Record, StackFrame>) {
      image_ = record.image;
      source = record.source.substr(record.source.find_last_of('/') + 1);
    }
    uint64_t dropped = 0;
    if constexpr (std::is_same_v<Record, Capture>) dropped = record.dropped();
    for_each_field<Record>([this, &record]<typename Field>(const Field& field) {
      if constexpr (Field::kind == FieldKind::structure) {
        this->structure(record, record.*field.member);
      } else {
        this->template take<Field::kind>(record.*field.member);
      }
    });
    if constexpr (std::is_same_v<Record, StackFrame>) {
      // A library's own file, as its debug information names it.
      if (redactor_.is_of_the_software(image_)) record.source = redactor_.without_given(source);
    }
    if constexpr (std::is_same_v<Record, Capture>) {
      record.bytes = record.head.size() + record.tail.size() + dropped;
    }
  }

 private:
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
      return redactor_.text(value.substr(0, kMostNameBytes));
    } else if constexpr (Kind == FieldKind::text) {
      return redactor_.text(cut(value, kMostTextBytes));
    } else if constexpr (Kind == FieldKind::symbol) {
      return redactor_.symbol(value.substr(0, kMostNameBytes), image_);
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
    std::string raw = cut_in_the_middle(text, kRawBytes, kRawBytes);
    if (with_output_) raw = redactor_.without_given(std::move(raw));
    if (!with_output_) return cut(redactor_.output(raw), most);
    if (!raw.empty()) output_.insert(raw);
    return cut(raw, most);
  }

  std::string cell_name(const std::string& text) {
    if (text.empty()) return "";
    try {
      Cell cell = parse_cell(text);
      redactor_.cell(cell);
      return to_string(cell);
    } catch (const InputError&) {
      return redactor_.text(text.substr(0, kMostNameBytes));
    }
  }

  /// Two failures must not become one, however little is left of their titles.
  const std::string& title(const std::string& title) {
    const auto [at, fresh] = titles_.try_emplace(title);
    if (fresh && !title.empty()) {
      at->second = distinct(redactor_.title(title.substr(0, kMostNameBytes), functions_));
    }
    return at->second;
  }

  std::string worker(const std::string& name) {
    const auto [at, fresh] = workers_.try_emplace(name, name);
    if (fresh && redactor_.text(name.substr(0, kMostNameBytes)) != name) {
      at->second = fmt::format("worker-{}", workers_.size());
    }
    return at->second;
  }

  /// The name of a record that the journal has. Two of them must not become one.
  const std::string& defined(const std::string& id) {
    const auto [at, fresh] = references_.try_emplace(id, id);
    if (fresh && redactor_.build_id(id) != id) {
      at->second = fmt::format("record-{}", references_.size());
    }
    return at->second;
  }
  /// A name of none that the journal has says only that it is another.
  const std::string& reference(const std::string& id) {
    const auto [at, fresh] = references_.try_emplace(id, id);
    if (fresh && redactor_.enabled()) at->second = fmt::format("lost-{}", references_.size());
    return at->second;
  }

  std::string distinct(const std::string& clean) {
    std::string shown = clean;
    for (int number = 2; !shown_.insert(shown).second; ++number) {
      shown = fmt::format("{} ({})", clean, number);
    }
    return shown;
  }

  std::string wanted_text(const std::string& text, FieldKind kind) {
    if (kind == kId) return redactor_.build_id(text);
    if (kind == FieldKind::path) return redactor_.path(text);
    return kind == kSystem ? redactor_.of_system(text) : redactor_.text(text);
  }

  /// The parts that the list names: numbers and truth values as they are, texts by kind.
  json wanted_of(const json& value, std::span<const Wanted> wanted) {
    if (!redactor_.enabled()) return value;
    json kept = json::object();
    for (const Wanted& each : wanted) {
      const json::json_pointer place(each.place);
      if (!value.contains(place) || !value.at(place).is_primitive()) continue;
      const json& part = value.at(place);
      kept[place] = part.is_string() ? json(wanted_text(part.get<std::string>(), each.kind)) : part;
    }
    return kept;
  }

  /// What is wanted of a provenance. Two libraries in two folders of one name must not become one.
  json library_of(const json& whole) {
    json kept = wanted_of(whole, kProvenance);
    for (const char* key : {"mlx", "torch"}) {
      const json::json_pointer place("/" + std::string(key) + "/path");
      if (!kept.contains(place)) continue;
      const auto [known, fresh] = libraries_.try_emplace(whole.at(place).get<std::string>());
      if (fresh) known->second = distinct(kept.at(place).get<std::string>());
      kept.at(place) = known->second;
    }
    const json::json_pointer packages("/python/packages");
    if (whole.contains(packages) && whole.at(packages).is_object() && redactor_.enabled()) {
      for (const auto& [name, version] : whole.at(packages).items()) {
        if (is_public_package(name) && version.is_string()) {
          kept[packages / name] = redactor_.text(version.get<std::string>());
        }
      }
    }
    return kept;
  }

  void structure(CampaignHeader&, json& machine) { machine = wanted_of(machine, kMachine); }
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
    const json whole = describe;
    describe = wanted_of(whole, kDescribe);
    if (!redactor_.enabled() || !whole.is_object()) return;
    for (const json& backend : whole.value("backends", json::array())) {
      describe["backends"].push_back(wanted_of(backend, kBackend));
    }
    const json library = whole.value("provenance", json::object());
    if (library.is_object()) describe["provenance"] = library_of(library);
  }

  Redactor& redactor_;
  bool with_output_;
  std::map<std::string, std::string> workers_;
  std::map<std::string, std::string> references_;
  std::map<std::string, std::string> libraries_;
  std::map<std::string, std::string> titles_;
  std::set<std::string> functions_;  ///< of the software, as titles name them
  std::set<std::string> shown_;
  std::set<std::string> output_;  ///< that stayed as it was
  std::string image_;             ///< of the frame that is looked at, as it was
};

/// The source files of the package that a library belongs to, where it has one.
void add_package(const fs::path& library, SoftwareText& software) {
  const fs::path package = library.parent_path().parent_path();
  const std::string name = package.filename().string();
  std::error_code error;
  if ((name != "torch" && name != "mlx") || library.parent_path().filename() != "lib") return;
  fs::recursive_directory_iterator at(package, error);
  size_t files = 0;
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".py" || !at->is_regular_file(error)) continue;
    if (++files > kMostSources) return;
    try {
      software.add(read_input_file(at->path(), kMostSourceBytes, ""));
    } catch (const InputError&) {
      continue;  // then what it says stays out
    }
  }
}

/// Literals of a program that was built here name the folder that its sources lay in.
std::string without_paths(std::string_view literals) {
  std::string kept;
  for (const std::string_view literal : split(literals, '\0')) {
    if (!literal.starts_with('/')) kept.append(literal).push_back('\0');
  }
  return kept;
}

}  // namespace

void add_own(const fs::path& file, Redactor& redactor) {
  const std::string literals = image_literals(fs::absolute(file), std::nullopt);
  redactor.own().add(literals.empty() ? read_input_file(file, kMostSourceBytes, "")
                                      : without_paths(literals));
}

void add_software(const Journal& journal, Redactor& redactor) {
  std::set<std::pair<std::string, std::string>> images;
  for (const auto& [id, set] : journal.image_sets) {
    for (const ImageSeen& image : set) {
      redactor.add_system_image(image.path);
      if (redactor.is_of_the_software(image.path)) images.emplace(image.path, image.id);
    }
  }
  for (const auto& [path, id] : images) {
    const std::string literals = image_literals(path, id);
    if (literals.empty()) continue;
    const std::string name = fs::path(path).filename().string();
    const bool built_here = name.find("mpsprobe") != std::string::npos;
    redactor.software().add(built_here ? without_paths(literals) : literals);
    if (name.starts_with("libtorch_cpu") || name.starts_with("libmlx")) {
      add_package(path, redactor.software());
    }
  }
}

std::vector<std::string> redact_journal(Journal& journal, Redactor& redactor, bool with_output) {
  return JournalRedaction(redactor, with_output).run(journal);
}

void redact_minimum(Minimum& minimum, Redactor& redactor) {
  JournalRedaction(redactor, false).record(minimum);
}

}  // namespace mpsprobe
