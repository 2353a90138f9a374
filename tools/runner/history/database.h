#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace mpsprobe {

/// The history's SQLite file, opened for reading and writing; made where it is missing and `make`
/// says so. Every failure is a HistoryError that names the file and what to do. Not thread safe.
class Database {
 public:
  Database(const std::filesystem::path& file, bool make);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Runs statements that give no rows.
  void execute(const char* statements) const;
  /// Throws: the file is not what was written.
  [[noreturn]] void damaged(const std::string& what) const;
  /// Throws what SQLite says of its last error, after `doing` ("cannot be written").
  [[noreturn]] void fail(const std::string& doing) const;

  sqlite3* handle() const { return database_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  sqlite3* database_ = nullptr;
};

/// A prepared statement of a Database that outlives it. Throws HistoryError as that does.
class Statement {
 public:
  Statement(const Database& database, const char* text);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  /// Binds the next parameter.
  Statement& with(const std::string& text);
  Statement& with(int64_t number);
  /// True where there is a row.
  bool next();
  /// Of the row: any bytes, and a count from 0 to a billion, whatever the file holds.
  int columns() const;
  std::string text(int column) const;
  int number(int column) const;

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace mpsprobe
