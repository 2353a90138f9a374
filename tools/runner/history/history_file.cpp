#include "tools/runner/history/history_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/journal/journal_line.h"
#include "reports/words/safe_text.h"
#include "reports/writers/atomic_file.h"
#include "reproducers/bundle/evidence.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSealedFor = "history";
constexpr uintmax_t kMostBytes = uintmax_t{1} << 30;

/// "MacBook Pro, Apple M3": what a machine is called in the history.
std::string machine_label(const RunFacts& run) {
  const std::string model = machine_fact(run, "model");
  const std::string chip = machine_fact(run, "chip");
  return model.empty() || model == chip ? chip : model + (chip.empty() ? "" : ", " + chip);
}

json record_of(const KeptRun& run) {
  const RunFacts& facts = run.facts;
  json arms = json::object();
  for (const auto& [label, arm] : facts.arms) {
    arms[label] = {arm.library, arm.devices, arm.library_name, arm.version};
  }
  json outcomes = json::object();
  for (const auto& [title, outcome] : facts.outcomes) outcomes[title] = name_of(outcome);
  json cells = json::array();
  for (const auto& [key, cell] : facts.cells) {
    if (cell.counted + cell.refused == 0) continue;
    cells.push_back({{"arm", key.first},
                     {"cell", key.second},
                     {"trials", cell.counted},
                     {"failures", cell.failures},
                     {"refused", cell.refused},
                     {"simulated", cell.simulated},
                     {"paravirtual", cell.paravirtual},
                     {"signatures", cell.titles}});
  }
  return {{"id", run.id},
          {"parts", run.parts},
          {"started", facts.started},
          {"matrix", facts.matrix},
          {"code", facts.code},
          {"machine", facts.machine},
          {"simulated", facts.simulated},
          {"planned", facts.planned},
          {"undone", facts.undone},
          {"arms", arms},
          {"outcomes", outcomes},
          {"cells", cells}};
}

/// Throws for what `record_of` did not make.
KeptRun run_of(const json& record) {
  KeptRun run;
  run.id = record.at("id").get<std::string>();
  run.parts = record.at("parts").get<std::set<std::string>>();
  RunFacts& facts = run.facts;
  facts.name = run.id;
  facts.started = record.at("started").get<std::string>();
  facts.matrix = record.at("matrix").get<std::string>();
  facts.code = record.value("code", "");  // a history of before has none
  facts.machine = record.at("machine");
  facts.simulated = record.at("simulated").get<bool>();
  facts.planned = record.at("planned").get<int>();
  facts.undone = record.at("undone").get<int>();
  for (const auto& arm : record.at("arms").items()) {
    const auto text = [&arm](size_t at) { return arm.value().at(at).get<std::string>(); };
    facts.arms[arm.key()] = {text(0), text(1), text(2), text(3)};
  }
  for (const auto& [title, name] : record.at("outcomes").items()) {
    facts.outcomes[title] = named<Outcome>(name.get<std::string>()).value();
  }
  for (const json& each : record.at("cells")) {
    const auto id = each.at("cell").get<std::string>();
    CellFacts& cell = facts.cells[{each.at("arm").get<std::string>(), id}];
    cell.cell = parse_cell(id);
    cell.planned = cell.counted = each.at("trials").get<int>();
    cell.failures = each.at("failures").get<int>();
    cell.refused = each.at("refused").get<int>();
    cell.simulated = each.at("simulated").get<bool>();
    cell.paravirtual = each.at("paravirtual").get<bool>();
    cell.titles = each.at("signatures").get<std::map<std::string, int>>();
    const auto is_count = [&cell](int count) { return count >= 0 && count <= cell.counted; };
    if (!is_count(cell.failures) || cell.refused < 0 ||
        !std::all_of(cell.titles.begin(), cell.titles.end(),
                     [&](const auto& title) { return is_count(title.second); })) {
      throw std::invalid_argument("counts that cannot be");
    }
  }
  return run;
}

bool holds(const std::set<std::string>& all, const std::set<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool share(const KeptRun& one, const KeptRun& two) {
  return std::any_of(one.parts.begin(), one.parts.end(),
                     [&two](const std::string& part) { return two.parts.contains(part); });
}

}  // namespace

KeptRun kept_run(const std::string& name) {
  const fs::path file = folder_of_run(name) / "journal.ndjson";
  std::error_code error;
  if (!fs::exists(file, error)) {
    throw InputError(printable(name), "holds no journal.ndjson", "Name the folder of a run");
  }
  const auto [journal, analysis] = analyse_file(file);
  return kept_run(name, journal, analysis);
}

KeptRun kept_run(const std::string& name, const Journal& journal, const Analysis& analysis) {
  KeptRun run;
  run.id =
      journal.run.empty() ? journal.header.started + " " + journal.header.matrix_name : journal.run;
  run.parts.insert(journal.header.merged_from.begin(), journal.header.merged_from.end());
  if (run.parts.empty()) run.parts.insert(run.id);
  run.facts = run_facts(name, analysis);
  return run;
}

HistoryFile::HistoryFile(fs::path file, bool change) : file_(std::move(file)) {
  const std::string name = printable(file_.string());
  if (change) {
    const fs::path folder = file_.has_parent_path() ? file_.parent_path() : fs::path(".");
    std::error_code error;
    fs::create_directories(folder, error);
    folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_.is_open() || ::flock(folder_.get(), LOCK_EX) != 0) {
      throw HistoryError(name + ": its folder cannot be used. Name another file with --db");
    }
  }
  std::error_code error;
  if (!fs::exists(file_, error)) return;
  std::ifstream stream;
  const bool plain = fs::is_regular_file(file_, error) && fs::file_size(file_, error) <= kMostBytes;
  if (plain) stream.open(file_, std::ios::binary);
  if (!stream.is_open()) {
    throw HistoryError(name + ": is no history, or cannot be read. Name another file with --db");
  }
  int number = 0;
  for (std::string line; std::getline(stream, line); ++number) {
    std::string problem = broken_seal(line, kSealedFor);
    try {
      if (problem.empty()) runs_.push_back(run_of(parsed_json(line)));
    } catch (const std::exception& reason) {
      problem = reason.what();
    }
    if (problem.empty()) continue;
    throw HistoryError(
        fmt::format("{}: line {} is damaged, or of another version of mpsprobe: {}. Put a copy "
                    "from before in its place, or begin another with --db and `mpsprobe history "
                    "add RUN...` of the runs' folders",
                    name, number + 1, printable(problem)));
  }
}

Added HistoryFile::add(KeptRun run) {
  bool there = false;
  for (const KeptRun& other : runs_) {
    if (!share(run, other)) continue;
    if (holds(run.parts, other.parts)) {
      there = there || other.id == run.id;
    } else if (holds(other.parts, run.parts)) {
      return Added::contained;
    } else {
      throw HistoryError(fmt::format(
          "{}: shares trials with {}, which is in the history. Merge both, and add what was merged",
          printable(run.facts.name), printable(other.id)));
    }
  }
  std::erase_if(runs_, [&run](const KeptRun& other) { return share(run, other); });
  const auto at =
      std::upper_bound(runs_.begin(), runs_.end(), run, [](const KeptRun& a, const KeptRun& b) {
        return std::pair(a.facts.started, a.id) < std::pair(b.facts.started, b.id);
      });
  runs_.insert(at, std::move(run));
  return there ? Added::again : Added::fresh;
}

void HistoryFile::write() const {
  std::string text;
  for (const KeptRun& run : runs_) text += sealed_line(record_of(run), 0, kSealedFor);
  try {
    write_atomically(file_, text, "the history is as it was before");
  } catch (const ReportError& error) {
    throw HistoryError(error.what());
  }
}

std::vector<RunFacts> HistoryFile::before(const KeptRun& run) const {
  std::vector<RunFacts> nights;
  for (const KeptRun& other : runs_) {
    if (machine_label(other.facts) == machine_label(run.facts) &&
        other.facts.code == run.facts.code && other.facts.started <= run.facts.started &&
        !share(run, other)) {
      nights.push_back(other.facts);
    }
  }
  return nights;
}

std::vector<Series> HistoryFile::series() const {
  std::map<std::tuple<std::string, std::string, std::string, std::string, bool>, Series> all;
  for (const KeptRun& run : runs_) {
    const std::string machine = machine_label(run.facts);
    for (const auto& [key, cell] : run.facts.cells) {
      const auto& [arm, id] = key;
      Series& series = all[{machine, arm, id, run.facts.code, cell.simulated}];
      if (series.nights.empty()) {
        series = {machine, arm, id, run.facts.code, cell.simulated, {}};
      }
      const auto known = run.facts.arms.find(arm);
      series.nights.push_back({&run,
                               known == run.facts.arms.end() ? "" : known->second.library,
                               {cell.failures, cell.counted}});
    }
  }
  std::vector<Series> list;
  for (auto& [key, series] : all) list.push_back(std::move(series));
  return list;
}

std::string system_label(const RunFacts& run) {
  const std::string build = machine_fact(run, "os_build");
  return machine_fact(run, "os") + (build.empty() ? "" : " " + build);
}

std::vector<RunFacts> earlier_nights(const KeptRun& run, const std::optional<std::string>& file) {
  if (!file) return {};
  std::error_code error;
  if (!fs::exists(*file, error)) {
    HistoryFile(*file, true).write();
    say(stderr, "{}: begun; it holds no earlier night\n", printable(*file));
  }
  return HistoryFile(*file).before(run);
}

}  // namespace mpsprobe
