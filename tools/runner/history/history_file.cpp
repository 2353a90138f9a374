#include "tools/runner/history/history_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/journal/journal_line.h"
#include "reports/words/safe_text.h"
#include "tools/runner/history/database.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

constexpr int kHistoryForm = 4;  // of the tables below

constexpr const char* kTables = R"(
CREATE TABLE run(
  id TEXT PRIMARY KEY, started TEXT NOT NULL, machine TEXT NOT NULL, system TEXT NOT NULL,
  simulated INTEGER NOT NULL, planned INTEGER NOT NULL, undone INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE part(
  run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, id TEXT NOT NULL, PRIMARY KEY(run, id))
  WITHOUT ROWID;
CREATE TABLE cell(
  run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, arm TEXT NOT NULL, cell TEXT NOT NULL,
  library TEXT NOT NULL, simulated INTEGER NOT NULL, trials INTEGER NOT NULL,
  failures INTEGER NOT NULL, PRIMARY KEY(run, arm, cell)) WITHOUT ROWID;
CREATE TABLE signature(
  run TEXT NOT NULL, arm TEXT NOT NULL, cell TEXT NOT NULL, signature TEXT NOT NULL,
  failures INTEGER NOT NULL, PRIMARY KEY(run, arm, cell, signature),
  FOREIGN KEY(run, arm, cell) REFERENCES cell ON DELETE CASCADE) WITHOUT ROWID;
PRAGMA user_version = 1;
)";

// What entries of known failures ask of a night. Nights kept before that were not told it.
constexpr const char* kFromForm1 = R"(
ALTER TABLE run ADD COLUMN matrix TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE cell ADD COLUMN library_name TEXT NOT NULL DEFAULT '';
ALTER TABLE cell ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE cell ADD COLUMN paravirtual INTEGER NOT NULL DEFAULT 0;
ALTER TABLE signature ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
PRAGMA user_version = 2;
)";

// What a library refuses is neither passed nor failed. Nights kept before that were not told it.
constexpr const char* kFromForm2 = R"(
ALTER TABLE cell ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 3;
)";

// What a flipped byte would change without a word: a digest of all that is kept of a run.
constexpr const char* kFromForm3 = R"(
ALTER TABLE run ADD COLUMN digest TEXT NOT NULL DEFAULT '';
PRAGMA user_version = 4;
)";

/// Every row of a run, but for the digest itself.
constexpr const char* kRowsOfRun[] = {
    "SELECT id, started, machine, system, simulated, planned, undone, matrix, facts FROM run WHERE "
    "id = ?",
    "SELECT id FROM part WHERE run = ? ORDER BY id",
    "SELECT arm, cell, library, simulated, trials, failures, library_name, version, paravirtual, "
    "refused FROM cell WHERE run = ? ORDER BY arm, cell",
    "SELECT arm, cell, signature, failures, outcome FROM signature WHERE run = ? ORDER BY arm, "
    "cell, signature"};

std::string system_label(const nlohmann::json& machine) {
  const std::string build = machine.value("os_build", "");
  return machine.value("os", "") + (build.empty() ? "" : " " + build);
}

/// Of everything that the file has of a run.
std::string digest_of(const Database& database, const std::string& run) {
  uint64_t digest = fnv1a("");
  for (const char* rows : kRowsOfRun) {
    Statement statement(database, rows);
    statement.with(run);
    while (statement.next()) {
      for (int column = 0; column < statement.columns(); ++column) {
        const std::string text = statement.text(column);
        digest = fnv1a(fmt::format("{}:", text.size()), fnv1a(text, digest));
      }
    }
    digest = fnv1a(";", digest);
  }
  return fmt::format("{:016x}", digest);
}

void seal(const Database& database, const std::string& run) {
  Statement(database, "UPDATE run SET digest = ? WHERE id = ?")
      .with(digest_of(database, run))
      .with(run)
      .next();
}

/// (run, its digest) of all.
std::vector<std::pair<std::string, std::string>> seals(const Database& database) {
  std::vector<std::pair<std::string, std::string>> all;
  Statement runs(database, "SELECT id, digest FROM run ORDER BY id");
  while (runs.next()) all.emplace_back(runs.text(0), runs.text(1));
  return all;
}

}  // namespace

std::string machine_label(const nlohmann::json& machine) {
  const std::string model = machine.value("model", "");
  const std::string chip = machine.value("chip", "");
  return model.empty() || model == chip ? chip : model + (chip.empty() ? "" : ", " + chip);
}

HistoryFile::HistoryFile(const std::filesystem::path& file, bool make)
    : database_(std::make_unique<Database>(file, make)) {
  database_->execute("PRAGMA foreign_keys = ON; BEGIN IMMEDIATE;");
  int form = 0;
  int tables = 0;
  {
    Statement version(*database_, "PRAGMA user_version");
    if (version.next()) form = version.number(0);
    Statement count(*database_, "SELECT count(*) FROM sqlite_master");
    if (count.next()) tables = count.number(0);
  }
  if (form == 0 && tables == 0 && make) {
    database_->execute(kTables);
    form = 1;
  }
  if (form == 1) {
    database_->execute(kFromForm1);
    form = 2;
  }
  if (form == 2) {
    database_->execute(kFromForm2);
    form = 3;
  }
  if (form == 3) {
    database_->execute(kFromForm3);
    for (const auto& [run, none] : seals(*database_)) seal(*database_, run);
  } else if (form != kHistoryForm) {
    throw HistoryError(
        fmt::format("{}: is no history of this version of mpsprobe. Name another file with --db",
                    printable(database_->file())));
  }
  database_->execute("COMMIT");
  check();
}

HistoryFile::~HistoryFile() = default;

void HistoryFile::check() const {
  Statement whole(*database_, "PRAGMA quick_check(1)");
  if (whole.next() && whole.text(0) != "ok") database_->damaged(whole.text(0));
  for (const auto& [run, digest] : seals(*database_)) {
    if (digest_of(*database_, run) != digest) {
      database_->damaged("what it has of the run " + run + " is not what was kept");
    }
  }
  Statement orphans(*database_,
                    "SELECT run FROM cell WHERE run NOT IN (SELECT id FROM run) LIMIT 1");
  if (orphans.next())
    database_->damaged("the run " + orphans.text(0) + " is lost, its cells are not");
}

Added HistoryFile::add(const KeptRun& run) {
  const Database& database = *database_;
  database_->execute("BEGIN IMMEDIATE");
  // Whatever ends this early leaves the file as it was.
  struct Transaction {
    sqlite3* database;
    ~Transaction() {
      if (sqlite3_get_autocommit(database) == 0) {
        sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
      }
    }
  } const transaction{database.handle()};

  std::map<std::string, std::set<std::string>> others;  // that share a part
  for (const std::string& part : run.parts) {
    Statement sharing(database, "SELECT run FROM part WHERE id = ?");
    sharing.with(part);
    while (sharing.next()) others[sharing.text(0)];
  }
  bool there = false;
  for (auto& [id, parts] : others) {
    Statement of(database, "SELECT id FROM part WHERE run = ?");
    of.with(id);
    while (of.next()) parts.insert(of.text(0));
    if (std::includes(run.parts.begin(), run.parts.end(), parts.begin(), parts.end())) {
      there = there || id == run.id;
      continue;
    }
    if (std::includes(parts.begin(), parts.end(), run.parts.begin(), run.parts.end())) {
      return Added::contained;
    }
    throw HistoryError(fmt::format(
        "{}: shares trials with {}, which is in the history. Merge both, and add what was merged",
        printable(run.facts.name), printable(id)));
  }
  for (const auto& [id, parts] : others) {
    Statement(database, "DELETE FROM run WHERE id = ?").with(id).next();
  }
  const RunFacts& facts = run.facts;
  Statement(database, "INSERT INTO run VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, '')")
      .with(run.id)
      .with(facts.started)
      .with(machine_label(facts.machine))
      .with(system_label(facts.machine))
      .with(facts.simulated ? 1 : 0)
      .with(facts.planned)
      .with(facts.undone)
      .with(facts.matrix)
      .with(facts.machine.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))
      .next();
  for (const std::string& part : run.parts) {
    Statement(database, "INSERT INTO part VALUES(?, ?)").with(run.id).with(part).next();
  }
  for (const auto& [key, cell] : facts.cells) {
    if (cell.counted + cell.refused == 0) continue;
    const auto& [arm, id] = key;
    const auto found = facts.arms.find(arm);
    const ArmFacts library = found == facts.arms.end() ? ArmFacts() : found->second;
    Statement(database, "INSERT INTO cell VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(run.id)
        .with(arm)
        .with(id)
        .with(library.library)
        .with(cell.simulated ? 1 : 0)
        .with(cell.counted)
        .with(cell.failures)
        .with(library.library_name)
        .with(library.version)
        .with(cell.paravirtual ? 1 : 0)
        .with(cell.refused)
        .next();
    for (const auto& [title, failures] : cell.titles) {
      const auto outcome = facts.outcomes.find(title);
      Statement(database, "INSERT INTO signature VALUES(?, ?, ?, ?, ?, ?)")
          .with(run.id)
          .with(arm)
          .with(id)
          .with(title)
          .with(failures)
          .with(outcome == facts.outcomes.end() ? "" : std::string(name_of(outcome->second)))
          .next();
    }
  }
  seal(database, run.id);
  database_->execute("COMMIT");
  return there ? Added::again : Added::fresh;
}

std::vector<RunFacts> earlier_nights(const KeptRun& run, const std::optional<std::string>& file) {
  if (!file) return {};
  const std::filesystem::path folder = std::filesystem::path(*file).parent_path();
  std::error_code error;
  if (!std::filesystem::exists(*file, error)) {
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    say(stderr, "{}: begun; it holds no earlier night\n", printable(*file));
  }
  return HistoryFile(*file, true).before(run);
}

}  // namespace mpsprobe
