#include "tools/runner/workers/workers.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "harness/executor/environment.h"
#include "harness/executor/worker_starts.h"
#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/process/command.h"
#include "harness/provenance/executable.h"
#include "harness/wire/ascii.h"
#include "harness/wire/axis.h"
#include "harness/wire/event.h"
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

/// The first object in what a worker printed that says what a worker is, else none. What it loads
/// prints as well: a module of somebody's own when it is imported, a library when it is left.
json answer_in(const std::string& printed) {
  constexpr int kDeepest = 16;
  std::istringstream in(printed);
  for (size_t at = printed.find('{'); at != std::string::npos; at = printed.find('{', at)) {
    in.clear();
    in.seekg(static_cast<std::streamoff>(at));
    try {
      json answer;
      in >> answer;
      const std::string_view text(printed.data() + at, static_cast<size_t>(in.tellg()) - at);
      if (answer.contains("mpsprobe_worker") && !nested_deeper(text, kDeepest)) return answer;
      at += text.size();
    } catch (const json::parse_error& error) {
      at += std::max<size_t>(error.byte, 2) - 1;
    } catch (const json::exception&) {  // a number that none holds
      ++at;
    }
  }
  return {};
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
  json answer = answer_in(result.out);
  if (answer.is_null()) {
    throw MachineError(
        fmt::format("{} does not answer as a worker. Name a program that speaks the protocol of "
                    "docs/protocol.md",
                    who));
  }
  if (answer.at("mpsprobe_worker") != kProtocolVersion) {
    throw MachineError(fmt::format(
        "{} speaks version {} of the protocol, this runner speaks {}. Build both from one checkout",
        who, json_text(answer.at("mpsprobe_worker")).substr(0, 20), kProtocolVersion));
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

constexpr const char* kPythonWorker = "mpsprobe-python-worker";
constexpr std::string_view kMlxWorker = "mpsprobe-mlx-worker-";
// The release in which a race shows on every machine.
constexpr std::string_view kMlxControl = MPSPROBE_MLX_CONTROL;

fs::path beside_program(std::string_view name) {
  return own_executable().parent_path() / name;
}

fs::path stock_worker() {
  return beside_program("mpsprobe-worker");
}

/// The simulated device without LibTorch: serves where the worker of LibTorch is not.
fs::path sim_worker() {
  return beside_program("mpsprobe-sim-worker");
}

bool needs_stock(const std::set<Backend>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [](Backend backend) { return !info_of(backend).own_worker; });
}

/// What the simulated device can do alone.
bool serves_sim(const std::set<Backend>& wanted) {
  return wanted == std::set<Backend>{Backend::sim} && fs::exists(sim_worker());
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

/// The releases of MLX that workers lie beside the program for: the newest, and the one in which a
/// race is known. Workers that were built for others are named with --worker.
std::vector<std::string> mlx_releases() {
  std::vector<std::string> releases;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(beside_program(""), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kMlxWorker)) releases.push_back(name.substr(kMlxWorker.size()));
  }
  std::ranges::sort(releases, std::greater<>(), numbers_of);
  const std::string newest = releases.empty() ? "" : releases.front();
  std::erase_if(releases, [&](const std::string& release) {
    return release != newest && release != kMlxControl;
  });
  return releases;
}

/// `wanted` as for find_workers: a worker that none of it is for is not asked, so that no run waits
/// for one, or fails of one, that it has no use for.
std::vector<NamedWorker> workers_beside_program(const std::set<Backend>& wanted) {
  const auto wants = [&](Backend backend) { return wanted.empty() || wanted.contains(backend); };
  std::vector<NamedWorker> workers;
  const auto add = [&workers](const std::string& name, const fs::path& path) {
    if (fs::exists(path)) workers.push_back({name, path.string()});
  };
  if (wanted.empty() || needs_stock(wanted)) add("stock", stock_worker());
  if (wants(Backend::mlx)) {
    for (const std::string& release : mlx_releases())
      add("mlx-" + release, beside_program(std::string(kMlxWorker) + release));
  }
  // Serves where no C++ worker was built: in the Python package none is.
  if (workers.empty() && !serves_sim(wanted)) add("python", beside_program(kPythonWorker));
  if (wants(Backend::sim) && !fs::exists(stock_worker())) add("sim", sim_worker());
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
    if (name.empty() || !ascii::all_plain(name) || equals == std::string::npos ||
        equals + 1 == option.size()) {
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
    workers.push_back(ask_worker(worker, environment, seconds));
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

std::string python_worker() {
  const fs::path beside = beside_program(kPythonWorker);
  const bool is_beside = access(beside.c_str(), X_OK) == 0;
  const fs::path program = is_beside ? beside : program_in_path(kPythonWorker);
  if (!program.empty()) return fs::absolute(program).string();
  throw InputError(
      "--python", fmt::format("{} is neither beside this program nor in PATH", kPythonWorker),
      "Install mpsprobe into the Python environment that has your library: pip install "
      "mpsprobe. Or name the worker: --worker python=PATH");
}

std::string python_for_scripts() {
  const char* const named = std::getenv("MPSPROBE_PYTHON");
  if (named != nullptr && *named != '\0') return named;
  std::ifstream worker(beside_program(kPythonWorker));
  std::string line;
  std::getline(worker, line);
  const bool is_python = line.starts_with("#!") &&
                         fs::path(line).filename().string().starts_with("python") &&
                         line.find(' ') == std::string::npos;
  return is_python ? line.substr(2) : "python3";
}

std::string command_worker() {
  const fs::path program = beside_program("mpsprobe-command-worker");
  if (access(program.c_str(), X_OK) == 0) return program.string();
  throw InputError("-- COMMAND", program.string() + " is missing",
                   "Install mpsprobe again, or name the worker: --worker NAME=PATH");
}

std::optional<NamedWorker> selftest_worker() {
  const fs::path path = beside_program("mpsprobe-selftest-worker");
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

std::string probe_answer(const WorkerInfo& worker, const std::string& symbol) {
  const json::json_pointer at = "/provenance/symbols"_json_pointer / symbol;
  const json answer = worker.describe.contains(at) ? worker.describe.at(at) : json();
  if (!answer.is_boolean()) return "not told";
  return answer.get<bool>() ? "there" : "not there";
}

}  // namespace mpsprobe
