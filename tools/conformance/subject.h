#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/matrix/operation_info.h"
#include "harness/process/child.h"
#include "harness/process/fork_server.h"
#include "harness/wire/assignment.h"
#include "harness/wire/cell.h"

namespace mpsprobe {

/// What a rule asks of a worker cannot be seen on this one, and why: neither kept nor broken.
class NotSeen : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The worker that is held against docs/protocol.md, and what it says of itself. The rules use one
/// operation of it on one backend.
class Subject {
 public:
  /// Asks it what it is. Throws std::runtime_error where it does not answer as a worker.
  explicit Subject(std::string path);

  /// Chooses the backend of the rules, and on it the known-good operation, else the first. Throws
  /// NotSeen where there is none.
  void use_backend(Backend backend);

  const std::string& path() const { return path_; }
  const nlohmann::json& describe() const { return describe_; }
  bool has_start(std::string_view name) const;
  /// Whether it says that it honours the axis for the operation of the rules.
  bool honours(std::string_view axis) const;

  /// The operation's cell with these axes off their defaults: {"threads", "4"}.
  Cell cell(const std::vector<std::pair<std::string, std::string>>& axes = {}) const;

 private:
  std::string path_;
  nlohmann::json describe_;
  Operations operations_;
  const OperationInfo* operation_ = nullptr;
  Backend backend_ = Backend::cpu;
};

/// What a process of the worker did.
struct Seen {
  struct Slot {
    bool begun = false;
    uint64_t progress = 0;
    uint64_t launches = 0;
    std::string operation;
  };
  ProcessRecord record;
  std::string numbers;      ///< key `numbers` of its result; empty: it does not tell
  std::vector<Slot> slots;  ///< of all threads that a recorder has room for
  uint32_t inside = 0;      ///< threads inside a launch when it had ended
};

/// One process of the worker, whose gate and flight recorder the rule holds in its own hands.
class WatchedProcess {
 public:
  struct Request {
    Cell cell;
    int process = 0;
    int iteration = 0;
    uint64_t seed = 1;
    std::vector<std::string> variables;  ///< beside the environment of this program, as K=V
    bool standby = false;                ///< it learns its cell from its gate
    ForkServer* server = nullptr;        ///< which forks it; nullptr: it is executed
    bool other_layout = false;           ///< the recorder is of no version that there is
  };
  WatchedProcess(const Subject& subject, const Request& request);
  ~WatchedProcess();
  WatchedProcess(const WatchedProcess&) = delete;
  WatchedProcess& operator=(const WatchedProcess&) = delete;

  /// Until it is ready, or has ended; whether it is ready.
  bool wait_until_ready();
  void open_gate();
  /// What a runner does that dies: the gate ends.
  void hang_up();
  /// Watches for so long, or until it has ended, or `look` returns true; looks all the time.
  /// Returns whether it has ended.
  bool watch(double seconds, const std::function<bool()>& look = {});
  bool ended() const;
  /// Kills it where it has not ended.
  Seen end();

  const recorder_layout::Block& recorder() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The whole of it: waits until it is ready, opens the gate, waits for the end.
Seen run_through(const Subject& subject, const WatchedProcess::Request& request);

/// What is wrong with how a process came to its end, in words; empty where it did all that a cell
/// asks: hello, ready, result, exit code 0, no failure.
std::string what_went_wrong(const ProcessRecord& record);

}  // namespace mpsprobe
