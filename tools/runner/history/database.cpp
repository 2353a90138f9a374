#include "tools/runner/history/database.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/words/safe_text.h"
#include "tools/runner/history/history_file.h"

namespace mpsprobe {

constexpr int kBusyMilliseconds = 30'000;

Database::Database(const std::filesystem::path& file, bool make) : file_(file.string()) {
  const int flags = SQLITE_OPEN_READWRITE | (make ? SQLITE_OPEN_CREATE : 0);
  if (sqlite3_open_v2(file.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
    // A constructor that throws has no destructor run.
    try {
      fail("cannot be opened");
    } catch (...) {
      sqlite3_close(database_);
      throw;
    }
  }
  sqlite3_busy_timeout(database_, kBusyMilliseconds);
}

Database::~Database() {
  sqlite3_close(database_);
}

void Database::execute(const char* statements) const {
  if (sqlite3_exec(database_, statements, nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail("cannot be written");
  }
}

void Database::damaged(const std::string& what) const {
  throw HistoryError(
      fmt::format("{}: is damaged: {}. Put a copy from before in its place, or begin another with "
                  "--db and `mpsprobe history add RUN...` of the runs' folders",
                  printable(file_), printable(what)));
}

void Database::fail(const std::string& doing) const {
  const int code = database_ == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database_);
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) damaged(sqlite3_errmsg(database_));
  throw HistoryError(
      fmt::format("{}: {}: {}. Name another file with --db, or free the disk", printable(file_),
                  doing, database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_)));
}

Statement::Statement(const Database& database, const char* text) : database_(database) {
  if (sqlite3_prepare_v2(database.handle(), text, -1, &statement_, nullptr) != SQLITE_OK) {
    database.fail("cannot be read");
  }
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::with(const std::string& text) {
  sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::with(int64_t number) {
  sqlite3_bind_int64(statement_, ++bound_, number);
  return *this;
}

bool Statement::next() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail("cannot be read or written");
  return code == SQLITE_ROW;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_);
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? "" : std::string(bytes, size);
}

int Statement::number(int column) const {
  return static_cast<int>(
      std::clamp<int64_t>(sqlite3_column_int64(statement_, column), 0, 1'000'000'000));
}

}  // namespace mpsprobe
