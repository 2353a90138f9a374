#include "tools/runner/history/history_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/journal/journal_line.h"
#include "reports/words/safe_text.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

constexpr int kHistoryForm = 4;  // of the tables below
constexpr int kBusyMilliseconds = 30'000;

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

std::string machine_label(const nlohmann::json& machine) {
  const std::string model = machine.value("model", "");
  const std::string chip = machine.value("chip", "");
  return model.empty() || model == chip ? chip : model + (chip.empty() ? "" : ", " + chip);
}

std::string system_label(const nlohmann::json& machine) {
  const std::string build = machine.value("os_build", "");
  return machine.value("os", "") + (build.empty() ? "" : " " + build);
}

HistoryError damaged_history(const std::string& file, const std::string& what) {
  return HistoryError(
      fmt::format("{}: is damaged: {}. Put a copy from before in its place, or begin another with "
                  "--db and `mpsprobe history add RUN...` of the runs' folders",
                  printable(file), printable(what)));
}

}  // namespace

struct HistoryFile::State {
  std::string file;
  sqlite3* database = nullptr;

  ~State() { sqlite3_close(database); }

  [[noreturn]] void fail(const std::string& what) const {
    const int code = database == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) damaged(sqlite3_errmsg(database));
    throw HistoryError(
        fmt::format("{}: {}: {}. Name another file with --db, or free the disk", printable(file),
                    what, database == nullptr ? "out of memory" : sqlite3_errmsg(database)));
  }
  [[noreturn]] void damaged(const std::string& what) const { throw damaged_history(file, what); }
  void execute(const char* statement) const {
    if (sqlite3_exec(database, statement, nullptr, nullptr, nullptr) != SQLITE_OK) {
      fail("cannot be written");
    }
  }
};

namespace {

/// A prepared statement; `fail` is told what SQLite says.
class Statement {
 public:
  Statement(sqlite3* database, const char* text) {
    if (sqlite3_prepare_v2(database, text, -1, &statement_, nullptr) != SQLITE_OK) {
      refuse_damage(database);
      throw HistoryError(std::string("the history cannot be read: ") + sqlite3_errmsg(database));
    }
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& with(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& with(int64_t number) {
    sqlite3_bind_int64(statement_, ++bound_, number);
    return *this;
  }
  /// True where there is a row.
  bool next() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
      refuse_damage(sqlite3_db_handle(statement_));
      throw HistoryError(
          fmt::format("the history cannot be read or written: {}. Another program may hold it, or "
                      "the disk be full",
                      sqlite3_errmsg(sqlite3_db_handle(statement_))));
    }
    return code == SQLITE_ROW;
  }
  int columns() const { return sqlite3_column_count(statement_); }
  std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
    return bytes == nullptr ? "" : std::string(bytes, size);
  }
  int number(int column) const {
    return static_cast<int>(
        std::clamp<int64_t>(sqlite3_column_int64(statement_, column), 0, 1'000'000'000));
  }

 private:
  static void refuse_damage(sqlite3* database) {
    const int code = sqlite3_errcode(database);
    if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB) return;
    const char* name = sqlite3_db_filename(database, "main");
    throw damaged_history(name == nullptr ? "" : name, sqlite3_errmsg(database));
  }

  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// Of everything that the file has of a run.
std::string digest_of(sqlite3* database, const std::string& run) {
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

void seal(sqlite3* database, const std::string& run) {
  Statement(database, "UPDATE run SET digest = ? WHERE id = ?")
      .with(digest_of(database, run))
      .with(run)
      .next();
}

/// (run, its digest) of all.
std::vector<std::pair<std::string, std::string>> seals(sqlite3* database) {
  std::vector<std::pair<std::string, std::string>> all;
  Statement runs(database, "SELECT id, digest FROM run ORDER BY id");
  while (runs.next()) all.emplace_back(runs.text(0), runs.text(1));
  return all;
}

using SeriesKey = std::tuple<std::string, std::string, std::string, bool>;

NightRow night_of(const Statement& row) {
  NightRow night{
      row.text(4),   row.text(5), row.text(6), row.text(7), {row.number(8), row.number(9)},
      row.number(10)};
  night.seen.failures = std::min(night.seen.failures, night.seen.trials);
  return night;
}

}  // namespace

HistoryFile::HistoryFile(const std::filesystem::path& file, bool make)
    : state_(std::make_unique<State>()) {
  state_->file = file.string();
  const int flags = SQLITE_OPEN_READWRITE | (make ? SQLITE_OPEN_CREATE : 0);
  if (sqlite3_open_v2(file.c_str(), &state_->database, flags, nullptr) != SQLITE_OK) {
    state_->fail("cannot be opened");
  }
  sqlite3_busy_timeout(state_->database, kBusyMilliseconds);
  state_->execute("PRAGMA foreign_keys = ON; BEGIN IMMEDIATE;");
  int form = 0;
  int tables = 0;
  {
    Statement version(state_->database, "PRAGMA user_version");
    if (version.next()) form = version.number(0);
    Statement count(state_->database, "SELECT count(*) FROM sqlite_master");
    if (count.next()) tables = count.number(0);
  }
  if (form == 0 && tables == 0 && make) {
    state_->execute(kTables);
    form = 1;
  }
  if (form == 1) {
    state_->execute(kFromForm1);
    form = 2;
  }
  if (form == 2) {
    state_->execute(kFromForm2);
    form = 3;
  }
  if (form == 3) {
    state_->execute(kFromForm3);
    for (const auto& [run, none] : seals(state_->database)) seal(state_->database, run);
  } else if (form != kHistoryForm) {
    throw HistoryError(
        fmt::format("{}: is no history of this version of mpsprobe. Name another file with --db",
                    printable(state_->file)));
  }
  state_->execute("COMMIT");
  check();
}

HistoryFile::~HistoryFile() = default;

void HistoryFile::check() const {
  Statement whole(state_->database, "PRAGMA quick_check(1)");
  if (whole.next() && whole.text(0) != "ok") state_->damaged(whole.text(0));
  for (const auto& [run, digest] : seals(state_->database)) {
    if (digest_of(state_->database, run) != digest) {
      state_->damaged("what it has of the run " + run + " is not what was kept");
    }
  }
  Statement orphans(state_->database,
                    "SELECT run FROM cell WHERE run NOT IN (SELECT id FROM run) LIMIT 1");
  if (orphans.next()) state_->damaged("the run " + orphans.text(0) + " is lost, its cells are not");
}

Added HistoryFile::add(const KeptRun& run) {
  sqlite3* const database = state_->database;
  state_->execute("BEGIN IMMEDIATE");
  // Whatever ends this early leaves the file as it was.
  struct Transaction {
    sqlite3* database;
    ~Transaction() {
      if (sqlite3_get_autocommit(database) == 0) {
        sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
      }
    }
  } const transaction{database};

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
  state_->execute("COMMIT");
  return there ? Added::again : Added::fresh;
}

std::vector<RunFacts> HistoryFile::before(const KeptRun& kept) const {
  sqlite3* const database = state_->database;
  const RunFacts& run = kept.facts;
  std::set<std::string> itself;
  for (const std::string& part : kept.parts) {
    Statement sharing(database, "SELECT run FROM part WHERE id = ?");
    sharing.with(part);
    while (sharing.next()) itself.insert(sharing.text(0));
  }
  std::vector<RunFacts> nights;
  Statement rows(database,
                 "SELECT id, started, matrix, facts, simulated, planned, undone FROM run WHERE "
                 "machine = ? AND started <= ? ORDER BY started, id");
  rows.with(machine_label(run.machine)).with(run.started);
  while (rows.next()) {
    if (itself.contains(rows.text(0))) continue;
    RunFacts night;
    night.name = rows.text(0);
    night.started = rows.text(1);
    night.matrix = rows.text(2);
    night.machine = nlohmann::json::parse(rows.text(3), nullptr, false);
    night.simulated = rows.number(4) != 0;
    night.planned = rows.number(5);
    night.undone = rows.number(6);
    nights.push_back(std::move(night));
  }
  for (RunFacts& night : nights) {
    Statement cells(database,
                    "SELECT arm, cell, library, simulated, trials, failures, library_name, "
                    "version, paravirtual, refused FROM cell WHERE run = ?");
    cells.with(night.name);
    while (cells.next()) {
      const std::string id = cells.text(1);
      if (!run.cells.contains({cells.text(0), id})) continue;
      CellFacts& cell = night.cells[{cells.text(0), id}];
      cell.cell = parse_cell(id);
      cell.simulated = cells.number(3) != 0;
      cell.planned = cell.counted = cells.number(4);
      cell.failures = std::min(cells.number(5), cell.counted);
      cell.paravirtual = cells.number(8) != 0;
      cell.refused = cells.number(9);
      ArmFacts& arm = night.arms[cells.text(0)];
      arm.library = cells.text(2);
      arm.library_name = cells.text(6);
      arm.version = cells.text(7);
    }
    Statement titles(database,
                     "SELECT arm, cell, signature, failures, outcome FROM signature WHERE run = ?");
    titles.with(night.name);
    while (titles.next()) {
      const auto cell = night.cells.find({titles.text(0), titles.text(1)});
      if (cell == night.cells.end()) continue;
      cell->second.titles[titles.text(2)] = std::min(titles.number(3), cell->second.counted);
      if (const auto outcome = named<Outcome>(titles.text(4))) {
        night.outcomes[titles.text(2)] = *outcome;
      }
    }
  }
  return nights;
}

std::vector<RunRow> HistoryFile::runs() const {
  Statement rows(
      state_->database,
      "SELECT run.id, started, machine, system, run.simulated, planned, undone, count(cell), "
      "total(trials), total(failures), group_concat(DISTINCT library) FROM run LEFT JOIN cell ON "
      "cell.run = run.id GROUP BY run.id ORDER BY started, run.id");
  std::vector<RunRow> runs;
  while (rows.next()) {
    runs.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.number(4) != 0,
                    rows.number(5), rows.number(6), rows.number(7), rows.number(8), rows.number(9),
                    rows.text(10)});
  }
  return runs;
}

std::vector<Series> HistoryFile::series() const {
  Statement rows(state_->database,
                 "SELECT machine, arm, cell, cell.simulated, run.id, started, system, library, "
                 "failures, trials, refused FROM cell JOIN run ON cell.run = run.id ORDER BY "
                 "machine, arm, cell, cell.simulated, started, run.id");
  std::vector<Series> all;
  SeriesKey last;
  while (rows.next()) {
    const SeriesKey key{rows.text(0), rows.text(1), rows.text(2), rows.number(3) != 0};
    if (all.empty() || key != last) {
      all.push_back({rows.text(0), rows.text(1), rows.text(2), rows.number(3) != 0, {}});
    }
    last = key;
    all.back().nights.push_back(night_of(rows));
  }
  return all;
}

std::vector<SignatureSeries> HistoryFile::signatures() const {
  std::map<std::tuple<std::string, std::string, std::string>, int>
      failures;  // run, cell key, title
  std::map<SeriesKey, std::set<std::string>> titles;
  Statement rows(state_->database,
                 "SELECT machine, signature.arm, signature.cell, cell.simulated, signature.run, "
                 "signature, signature.failures FROM signature JOIN cell USING(run, arm, cell) "
                 "JOIN run ON run.id = signature.run");
  while (rows.next()) {
    titles[{rows.text(0), rows.text(1), rows.text(2), rows.number(3) != 0}].insert(rows.text(5));
    failures[{rows.text(4), rows.text(1) + '\n' + rows.text(2), rows.text(5)}] = rows.number(6);
  }
  std::vector<SignatureSeries> all;
  for (const Series& series : this->series()) {
    const auto found = titles.find({series.machine, series.arm, series.cell, series.simulated});
    if (found == titles.end()) continue;
    for (const std::string& title : found->second) {
      SignatureSeries one{series, title};
      for (NightRow& night : one.series.nights) {
        const auto count = failures.find({night.run, series.arm + '\n' + series.cell, title});
        night.seen.failures =
            count == failures.end() ? 0 : std::min(count->second, night.seen.trials);
      }
      all.push_back(std::move(one));
    }
  }
  return all;
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
