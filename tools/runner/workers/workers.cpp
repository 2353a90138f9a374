#include "tools/runner/workers/workers.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "harness/executor/environment.h"
#include "harness/executor/worker_starts.h"
#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/platform/executable.h"
#include "harness/process/command.h"
#include "harness/provenance/probes_variable.h"
#include "harness/wire/axis.h"
#include "harness/wire/event.h"
#include "harness/wire/library_under_test.h"
#include "harness/wire/split.h"
#include "reports/words/safe_text.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/say.h"
#include "tools/runner/workers/shadowing.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string how_it_ended(const CommandResult& result, double seconds) {
  if (result.timed_out) return fmt::format("did not answer within {:.0f} s", seconds);
  if (const auto* failed = std::get_if<NotSpawned>(&result.termination)) {
    return "cannot be started: " + failed->what;
  }
  if (const auto* signaled = std::get_if<Signaled>(&result.termination)) {
    return "died of " + signal_name(signaled->signal);
  }
  return fmt::format("ended with exit code {}", std::get<Exited>(result.termination).code);
}

std::string remedy_for(const CommandResult& result, const std::string& path) {
  const Termination& termination = result.termination;
  if (result.timed_out) return "Where it needs longer to load, give a longer --timeout";
  const auto* failed = std::get_if<NotSpawned>(&termination);
  if (failed != nullptr && (failed->error == EMFILE || failed->error == ENFILE)) {
    return "Allow more open files: ulimit -n 256";
  }
  const std::vector<std::string> words{path, "describe"};
  return fmt::format("Run `{}` to see why", shell_command(words));
}

/// What a worker says by itself of why it cannot be told, as its last line with its own name before
/// it, or that of the library that workers stand on; empty where it says nothing such.
std::string own_reason(const CommandResult& result, const std::string& path) {
  if (result.timed_out || result.termination != Termination(Exited{3})) return "";
  std::string last = last_lines(result.err, 1, 1000);
  last.erase(last.find_last_not_of(" \n") + 1);
  for (const std::string& name :
       {fs::path(path).filename().string(), std::string("mpsprobe-worker")}) {
    if (last.starts_with(name + ": ")) return last.substr(name.size() + 2);
  }
  return "";
}

json describe(const std::string& name, const std::string& path,
              const std::vector<std::string>& environment, double seconds) {
  const std::string who = fmt::format("worker {} ({})", name, path);
  if (!fs::exists(path)) {
    throw MachineError(fmt::format(
        "{} does not exist. Build it (tools/mpsprobe does), or name another with --worker {}=PATH",
        who, name));
  }
  const std::vector<std::string> whole =
      worker_environment(Cell{}, inherited_environment(), environment);
  const CommandResult result = run_command({path, "describe"}, seconds, whole);
  if (result.timed_out || result.termination != Termination(Exited{0})) {
    if (const std::string reason = own_reason(result, path); !reason.empty()) {
      throw MachineError(fmt::format("worker {}: {}", name, printable(reason)));
    }
    const std::string last = last_lines(result.err, 3, 300);
    const std::string redirected = printable(redirected_loader(whole));
    throw MachineError(fmt::format("{} {} when asked what it is{}{}. {}", who,
                                   how_it_ended(result, seconds), last.empty() ? "" : ": ", last,
                                   redirected.empty() ? remedy_for(result, path) : redirected));
  }
  constexpr int kDeepest = 16;
  json answer =
      nested_deeper(result.out, kDeepest) ? json() : json::parse(result.out, nullptr, false);
  if (!answer.is_object() || !answer.contains("mpsprobe_worker")) {
    throw MachineError(
        fmt::format("{} does not answer as a worker. Name a program that speaks the protocol of "
                    "docs/protocol.md",
                    who));
  }
  if (answer.at("mpsprobe_worker") != kProtocolVersion) {
    throw MachineError(fmt::format(
        "{} speaks version {} of the protocol, this runner speaks {}. Build both from one checkout",
        who, answer.at("mpsprobe_worker").dump().substr(0, 20), kProtocolVersion));
  }
  try {
    operations_from(answer);
    for (const json& backend : answer.at("backends")) {
      backend.at("name").get<std::string>();
      backend.at("available").get<bool>();
      backend.at("reason").get<std::string>();
    }
  } catch (const InputError& error) {
    throw MachineError(who + ": " + error.what());
  } catch (const json::exception& error) {
    throw MachineError(fmt::format("{}: its answer is not of the form in docs/protocol.md: {}", who,
                                   json_problem(error)));
  }
  return answer;
}

json torch_of(const WorkerInfo& worker) {
  const json torch = worker.describe.value("/provenance/torch"_json_pointer, json::object());
  return torch.is_object() ? torch : json::object();
}

constexpr std::string_view kMlxWorker = "mpsprobe-mlx-worker-";
// The release in which a race shows on every machine.
constexpr std::string_view kMlxControl = MPSPROBE_MLX_CONTROL;

fs::path stock_worker() {
  return executable_path().parent_path() / "mpsprobe-worker";
}

/// Serves where no C++ worker was built: in the Python package none is.
fs::path python_beside() {
  return executable_path().parent_path() / "mpsprobe-python-worker";
}

/// The simulated device without LibTorch: serves where the worker of LibTorch is not.
fs::path sim_beside() {
  return executable_path().parent_path() / "mpsprobe-sim-worker";
}

bool needs_stock(const std::set<Backend>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [](Backend backend) { return !info_of(backend).own_worker; });
}

/// What the simulated device can do alone.
bool serves_sim(const std::set<Backend>& wanted) {
  return wanted == std::set<Backend>{Backend::sim} && fs::exists(sim_beside());
}

std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  for (const std::string_view part : split(version, '.')) {
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

/// `wanted` as for find_workers: a worker that none of it is for is not asked, so that no run waits
/// for one, or fails of one, that it has no use for.
std::vector<NamedWorker> workers_beside_program(const std::set<Backend>& wanted) {
  const fs::path folder = executable_path().parent_path();
  std::vector<NamedWorker> workers;
  std::error_code error;
  const bool wants_mlx = wanted.empty() || wanted.contains(Backend::mlx);
  std::vector<std::string> releases;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (wants_mlx && name.starts_with(kMlxWorker))
      releases.push_back(name.substr(kMlxWorker.size()));
  }
  // Workers that were built for other releases are named with --worker.
  std::sort(releases.begin(), releases.end(), [](const std::string& a, const std::string& b) {
    return numbers_of(a) > numbers_of(b);
  });
  for (size_t i = 0; i < releases.size(); ++i) {
    if (i > 0 && releases[i] != kMlxControl) continue;
    workers.push_back(
        {"mlx-" + releases[i], (folder / (std::string(kMlxWorker) + releases[i])).string()});
  }
  const bool wants_stock = wanted.empty() || needs_stock(wanted);
  if (wants_stock && fs::exists(stock_worker(), error)) {
    workers.insert(workers.begin(), {"stock", stock_worker().string()});
  }
  if (workers.empty() && !serves_sim(wanted) && fs::exists(python_beside(), error)) {
    workers.push_back({"python", python_beside().string()});
  }
  const bool wants_sim = wanted.empty() || wanted.contains(Backend::sim);
  if (wants_sim && !fs::exists(stock_worker(), error) && fs::exists(sim_beside(), error)) {
    workers.push_back({"sim", sim_beside().string()});
  }
  if (workers.empty()) workers.push_back({"stock", stock_worker().string()});
  return workers;
}

const char* builder_of_workers() {
  const char* const builder = std::getenv("MPSPROBE_BUILD_WORKER");
  return builder == nullptr || *builder == '\0' ? nullptr : builder;
}

// tools/mpsprobe leaves LibTorch, which is large, until a cell needs it.
void build_stock_worker(const std::set<Backend>& wanted) {
  const char* const builder = builder_of_workers();
  if (builder == nullptr) return;  // that it is missing is said when it is asked
  for (const Backend backend : wanted) {
    if (backend == Backend::mps || backend == Backend::cpu || backend == Backend::cuda)
      say(stderr, "mpsprobe: the backend {}: {}\n", name_of(backend), why_no_worker(backend));
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);  // what it says is for people, and our stdout for programs
    execl(builder, builder, "torch", nullptr);
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw MachineError(fmt::format("{} torch: the worker of LibTorch could not be built", builder));
  }
}

// Which operations and axes the build with ThreadSanitizer has, it says itself when it is run.
void add_sanitizer(json& describe) {
  const auto add = [](json& object) {
    const auto axes = object.find("axes");
    const bool lists = axes != object.end() && axes->is_array();
    if (lists && std::ranges::find(*axes, "sanitizer") == axes->end()) axes->push_back("sanitizer");
  };
  if (!describe.contains("axes")) describe["axes"] = json::array();
  add(describe);
  for (const char* list : {"backends", "operations"}) {
    for (json& entry : describe.at(list)) add(entry);
  }
}

std::vector<std::string> backends_of(const WorkerInfo& worker) {
  std::vector<std::string> names;
  for (const json& entry : worker.describe.at("backends")) names.push_back(entry.at("name"));
  return names;
}

}  // namespace

std::vector<NamedWorker> name_workers(const std::vector<std::string>& options,
                                      const std::set<Backend>& wanted) {
  std::vector<NamedWorker> workers;
  for (const std::string& option : options) {
    const size_t equals = option.find('=');
    const std::string name = option.substr(0, equals);
    const bool word = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (equals == std::string::npos || equals + 1 == option.size() || !word) {
      throw InputError("--worker", "\"" + printable(option) + "\" is not NAME=PATH",
                       "Write for example --worker fork=build/fork/bin/mpsprobe-worker");
    }
    for (const NamedWorker& other : workers) {
      if (other.name == name) throw InputError("--worker", name + " is given twice", "Rename one");
    }
    workers.push_back({name, fs::absolute(option.substr(equals + 1)).lexically_normal().string()});
  }
  return workers.empty() ? workers_beside_program(wanted) : workers;
}

WorkerInfo ask_worker(const NamedWorker& worker, const std::vector<std::string>& environment,
                      double seconds) {
  json answer = describe(worker.name, worker.path, environment, seconds);
  if (!sanitized_build(worker.path).empty()) add_sanitizer(answer);
  return {worker.name, worker.path, std::move(answer)};
}

std::vector<WorkerInfo> find_workers(const std::vector<std::string>& options,
                                     const std::vector<std::string>& environment,
                                     const std::set<Backend>& wanted, double seconds) {
  if (options.empty() && needs_stock(wanted) && !serves_sim(wanted) && !fs::exists(stock_worker()))
    build_stock_worker(wanted);
  std::vector<WorkerInfo> workers;
  for (const NamedWorker& worker : name_workers(options, wanted)) {
    workers.push_back(ask_worker(worker, environment, std::max(seconds, kDescribeSeconds)));
  }
  return workers;
}

Operations operations_of(const std::vector<WorkerInfo>& workers) {
  Operations operations;
  for (const WorkerInfo& worker : workers) {
    Operations own = operations_from(worker.describe);
    for (auto& [name, operation] : own) {
      // On all backends of its worker, which are not those of the others.
      if (operation.backends.empty() && workers.size() > 1) {
        operation.backends = backends_of(worker);
      }
    }
    merge_operations(operations, own);
  }
  return operations;
}

std::string why_no_worker(Backend backend) {
  std::string none = "its worker is not built yet: the first run of it builds it";
  if (builder_of_workers() == nullptr) {
    const std::string_view library = info_of(backend).library;
    const char* const mlx = backend_table::kOnMac ? "mlx" : "'mlx[cpu]'";
    none = "no worker here has it. ";
    if (!library.empty())
      none += fmt::format("For Python: pip install {}. ", library == "MLX" ? mlx : "torch");
    none += "For C++: build one in a clone (tools/build-worker --help), and name it with --worker";
  }
  std::string elsewhere;
  if (!backend_table::kOnMac && backend == Backend::mps) {
    elsewhere =
        "PyTorch's MPS needs a Mac, and here it would be SIMULATED, on LibTorch for the CPU; ";
  } else if (!backend_table::kOnMac && backend == Backend::metal) {
    elsewhere = "Apple's frameworks need a Mac, and here they would be SIMULATED, by GNUstep; ";
  }
  return elsewhere + none;
}

std::optional<NamedWorker> selftest_worker() {
  const fs::path path = executable_path().parent_path() / "mpsprobe-selftest-worker";
  if (fs::exists(stock_worker()) || !fs::exists(path)) return std::nullopt;
  return NamedWorker{"selftest", path.string()};
}

json backend_told(const WorkerInfo& worker, Backend backend) {
  const json& backends = worker.describe.at("backends");
  const auto entry = std::ranges::find_if(
      backends, [&](const json& each) { return each.at("name") == name_of(backend); });
  return entry == backends.end() ? json() : *entry;
}

std::string why_unavailable(const std::vector<WorkerInfo>& workers, Backend backend) {
  std::string reason = why_no_worker(backend);
  for (const WorkerInfo& worker : workers) {
    const json entry = backend_told(worker, backend);
    if (entry.is_null()) continue;
    if (entry.at("available").get<bool>()) return "";
    reason = printable(entry.at("reason").get<std::string>());
  }
  return reason;
}

namespace {

/// On a real device of some worker: what is simulated is taken where somebody names it, and never
/// because the real one is missing.
bool really_there(const std::vector<WorkerInfo>& workers, Backend backend) {
  return std::ranges::any_of(workers, [&](const WorkerInfo& worker) {
    const json entry = backend_told(worker, backend);
    return !entry.is_null() && entry.at("available").get<bool>() &&
           !entry.value("simulated", false);
  });
}

}  // namespace

std::optional<Backend> best_backend(const std::vector<WorkerInfo>& workers) {
  for (Backend backend : kDefaultBackends) {
    if (really_there(workers, backend)) return backend;
  }
  const bool choice = std::any_of(
      backend_table::kRows.begin(), backend_table::kRows.end(), [&workers](const BackendInfo& row) {
        return row.backend != Backend::cpu && row.backend != Backend::sim &&
               why_unavailable(workers, row.backend).empty();
      });
  if (!choice && why_unavailable(workers, Backend::cpu).empty()) return Backend::cpu;
  return std::nullopt;
}

namespace {

/// What --expect-torch names.
class ExpectedTorch {
 public:
  explicit ExpectedTorch(const std::string& text) {
    for (const char* kind : {"git:", "uuid:", "path:"}) {
      if (text.starts_with(kind)) kind_ = kind;
    }
    value_ = text.substr(kind_.size());
    if (value_.empty() || (kind_ == "git:" && value_.size() < 7)) {
      throw InputError(
          "--expect-torch", "\"" + printable(text) + "\" names no LibTorch",
          "Write a version (2.15.0), git:HASH with 7 characters or more, uuid:ID or path:FOLDER");
    }
    if (kind_ == "path:" && !fs::is_directory(value_)) {
      throw InputError("--expect-torch " + printable(text),
                       fs::exists(value_) ? "is no folder" : "names a folder that does not exist",
                       "Name the folder that the expected LibTorch lies in, at any depth");
    }
  }

  /// `id` is a build id or UUID.
  bool is(const std::string& version, const std::string& git, const std::string& id,
          const std::string& library) const {
    if (kind_ == "git:") return git.starts_with(value_);
    if (kind_ == "uuid:") return id == value_;
    if (kind_ == "path:") return lies_in_folder(library);
    // "2.15.0" is every build of that version, "2.15.0+cu130" only that one.
    return version == value_ || version.starts_with(value_ + "+");
  }
  bool is(const Shadowing& shadowed) const {
    return is(shadowed.files.version, shadowed.files.git_hash, "", shadowed.built_against);
  }

 private:
  bool lies_in_folder(const std::string& library) const {
    std::error_code no_folder;
    std::error_code no_file;
    const fs::path folder = fs::canonical(value_, no_folder);
    const fs::path below = fs::canonical(library, no_file).lexically_relative(folder);
    return !no_folder && !no_file && !below.empty() && *below.begin() != "..";
  }

  std::string kind_;
  std::string value_;
};

/// "MLX 0.32.4": what a worker loads that is not LibTorch; empty where it is, or is not told.
std::string other_library_of(const WorkerInfo& worker) {
  if (!worker.describe.is_object() || !worker.describe.contains("provenance")) return "";
  const LibraryUnderTest library = library_under_test(worker.describe.at("provenance"));
  if (library.name.empty() || library.name == "LibTorch") return "";
  return library.name + (library.version.empty() ? "" : " " + library.version);
}

std::string text_or(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

}  // namespace

std::string torch_mismatch(const WorkerInfo& worker, const std::string& expected) {
  const ExpectedTorch wanted(expected);
  const json torch = torch_of(worker);
  if (const std::string other = other_library_of(worker); !other.empty()) {
    return fmt::format(
        "worker {} loads {}, and no LibTorch. Leave the option out, or name a worker that loads "
        "LibTorch with --worker",
        worker.name, other);
  }
  const std::string path = text_at(torch, "path");
  const std::string id = text_at(torch, "build_id") + text_at(torch, "uuid");
  const auto shadowing = find_shadowing(torch);
  const bool right = wanted.is(text_at(torch, "version"), text_at(torch, "git_hash"), id, path);
  const bool ambiguous =
      right && shadowing.has_value() && !shadowing->same_bytes && wanted.is(*shadowing);
  if (right && !ambiguous) return "";

  const std::string version = text_at(torch, "version");
  std::string text = fmt::format("worker {} loads no LibTorch", worker.name);
  if (!version.empty() || !path.empty()) {
    text = fmt::format("worker {} loads LibTorch {} (git {}, id {}) from {}", worker.name,
                       text_or(version, "of unknown version"),
                       text_or(text_at(torch, "git_hash"), "unknown"), text_or(id, "unknown"),
                       text_or(path, "nowhere"));
  }
  if (ambiguous) text += ", which another build of that version would be as well";
  if (shadowing.has_value()) text += ". " + in_words(*shadowing);
  return text + ". " +
         (shadowing.has_value()
              ? "Remedy: " + remedy_for(*shadowing)
              : "Build the worker against the right one, or name it with --worker");
}

void expect_torch(const std::vector<WorkerInfo>& workers, const std::string& expected) {
  for (const WorkerInfo& worker : workers) {
    const std::string mismatch = torch_mismatch(worker, expected);
    if (mismatch.empty()) continue;
    throw MachineError(fmt::format("--expect-torch {}: {}. Nothing was run", printable(expected),
                                   printable(mismatch)));
  }
}

std::string shadowing_of(const WorkerInfo& worker) {
  const auto shadowing = find_shadowing(torch_of(worker));
  return shadowing.has_value() ? printable(in_words(*shadowing)) : "";
}

std::string probes_variable(const std::vector<std::string>& symbols) {
  std::string list;
  for (const std::string& symbol : symbols) {
    const bool plausible =
        !symbol.empty() && symbol.size() < 4096 && symbol.find("::") == std::string::npos &&
        std::all_of(symbol.begin(), symbol.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || c == '_' || c == '$' || c == '.' || c == '@';
        });
    if (!plausible) {
      throw InputError("--probe", "\"" + printable(symbol) + "\" is no mangled name",
                       "Write the symbol as nm shows it: _ZN2at3mps17getStreamFromPoolEv and not "
                       "at::mps::getStreamFromPool()");
    }
    list += (list.empty() ? "" : " ") + symbol;
  }
  return std::string(kProbesVariable) + "=" + list;
}

std::string probe_answer(const WorkerInfo& worker, const std::string& symbol) {
  const json::json_pointer at = "/provenance/symbols"_json_pointer / symbol;
  const json answer = worker.describe.contains(at) ? worker.describe.at(at) : json();
  if (!answer.is_boolean()) return "not told";
  return answer.get<bool>() ? "there" : "not there";
}

}  // namespace mpsprobe
