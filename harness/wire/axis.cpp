#include "harness/wire/axis.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "harness/input/input_error.h"
#include "harness/input/near_name.h"
#include "harness/input/placed_json.h"
#include "harness/wire/split.h"
#include "harness/wire/variables.h"

namespace mpsprobe {
namespace {

using std::string_view;

constexpr auto kBackends = [] {
  std::array<string_view, backend_table::kRows.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = backend_table::kRows[i].name;
  return names;
}();
constexpr std::array<string_view, 3> kPaths{"default", "nograph", "graph"};
constexpr std::array<string_view, 2> kDevices{"default", "cpu"};
constexpr std::array<string_view, 3> kStreams{"default", "per-thread", "thread-unsafe"};
// As PyTorch's capture_error_mode has them (torch/cuda/graphs.py).
constexpr std::array<string_view, 3> kCaptures{"global", "thread_local", "relaxed"};
constexpr std::array<string_view, 2> kQueues{"per-thread", "shared"};
constexpr std::array<string_view, 2> kModels{"shared", "per-thread"};
constexpr std::array<string_view, 3> kOwners{"thread", "main", "other"};
constexpr std::array<string_view, 2> kInits{"main", "threads"};
constexpr std::array<string_view, 2> kWarmups{"none", "main"};
constexpr std::array<string_view, 4> kStarts{"barrier", "staggered", "sequential", "main"};
constexpr std::array<string_view, 3> kMeets{"none", "launch", "stage"};
constexpr std::array<string_view, 6> kBesides{"none",  "wait",       "event",
                                              "cache", "statistics", "profiler"};
constexpr std::array<string_view, 2> kShapes{"same", "per-thread"};
constexpr std::array<string_view, 3> kSyncs{"each", "end", "never"};
constexpr std::array<string_view, 4> kWaits{"device", "stream", "event", "item"};
constexpr std::array<string_view, 2> kLocks{"none", "forward"};
constexpr std::array<string_view, 2> kLeaves{"nothing", "clear-streams"};
constexpr std::array<string_view, 2> kEnds{"join", "exit"};
constexpr std::array<string_view, 3> kValidations{"none", "api", "api+shader"};
constexpr std::array<string_view, 3> kObservers{"none", "rules", "trap"};
constexpr std::array<string_view, 2> kSanitizers{"none", "thread"};
constexpr std::array<string_view, 2> kLifetimes{"process", "fresh"};

// What a person typed goes into messages; a terminal must not act on it, and it may be long.
std::string quoted(string_view text) {
  std::string result = "\"";
  for (char c : text.substr(0, 80)) {
    const auto byte = static_cast<unsigned char>(c);
    result += (byte < 0x20 || byte == 0x7f) ? '?' : c;
  }
  if (text.size() > 80) result += "...";
  return result + "\"";
}

[[noreturn]] void reject(const Axis& axis, string_view value, const std::string& allowed) {
  throw InputError(
      std::string(axis.name),
      quoted(value) + " is not a value of this axis" + did_you_mean(value, axis.values),
      "Write " + allowed);
}

int64_t parse_count(const Axis& axis, string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool canonical = !text.empty() && (text.size() == 1 || text[0] != '0');
  if (error != std::errc() || end != text.data() + text.size() || !canonical ||
      number < axis.minimum || number > axis.maximum) {
    reject(axis, text,
           "a whole number from " + std::to_string(axis.minimum) + " to " +
               std::to_string(axis.maximum));
  }
  return number;
}

template <auto Member>
void write_choice(Cell& cell, const Axis& axis, string_view text) {
  const auto at = std::find(axis.values.begin(), axis.values.end(), text);
  if (at == axis.values.end()) reject(axis, text, "one of " + listed(axis.values));
  using Value = std::remove_reference_t<decltype(cell.*Member)>;
  cell.*Member = static_cast<Value>(at - axis.values.begin());
}

template <auto Member, const auto& Names>
std::string read_name(const Cell& cell) {
  return std::string(Names[static_cast<size_t>(cell.*Member)]);
}

template <auto Member>
std::string read_count(const Cell& cell) {
  return std::to_string(cell.*Member);
}

template <auto Member>
void write_count(Cell& cell, const Axis& axis, string_view text) {
  cell.*Member = static_cast<int32_t>(parse_count(axis, text));
}

template <auto Member>
std::string read_text(const Cell& cell) {
  return cell.*Member;
}

constexpr size_t kLongestWord = 40;

bool is_word(string_view text, string_view extra) {
  const std::string allowed = "abcdefghijklmnopqrstuvwxyz0123456789" + std::string(extra);
  return !text.empty() && text.size() <= kLongestWord &&
         text.find_first_not_of(allowed) == string_view::npos;
}

bool is_shape(string_view text) {
  const std::vector<string_view> sizes = split(text, 'x');
  const bool whole = std::all_of(sizes.begin(), sizes.end(), [](string_view size) {
    return !size.empty() && size.front() != '0' &&
           size.find_first_not_of("0123456789") == string_view::npos;
  });
  return text == "default" || (whole && text.size() <= kLongestWord);
}

template <auto Member, bool (*Valid)(string_view)>
void write_text(Cell& cell, const Axis& axis, string_view text) {
  if (!Valid(text)) reject(axis, text, std::string(axis.form));
  cell.*Member = std::string(text);
}

void write_env(Cell& cell, const Axis&, string_view text) {
  cell.env = to_axis_value(parse_variables(text));
}

// Not "." and "..", which lead elsewhere in a path.
bool is_operation(string_view text) {
  return is_word(text, "_.") && text.find_first_not_of('.') != string_view::npos;
}
bool is_dtype(string_view text) {
  return is_word(text, "_");
}
bool is_profile(string_view text) {
  return is_word(text, "-");
}

template <auto Member, const auto& Names>
constexpr Axis choice(string_view name, string_view help) {
  return {.name = name,
          .help = help,
          .kind = AxisKind::choice,
          .values = Names,
          .default_value = Names[0],
          .read = read_name<Member, Names>,
          .write = write_choice<Member>};
}

template <auto Member>
constexpr Axis count(string_view name, string_view help, int64_t maximum, string_view default_value,
                     int64_t minimum = 1) {
  return {.name = name,
          .help = help,
          .kind = AxisKind::count,
          .minimum = minimum,
          .maximum = maximum,
          .default_value = default_value,
          .read = read_count<Member>,
          .write = write_count<Member>};
}

template <auto Member, bool (*Valid)(string_view)>
constexpr Axis text(string_view name, string_view help, string_view form,
                    string_view default_value) {
  return {.name = name,
          .help = help,
          .kind = AxisKind::text,
          .form = form,
          .default_value = default_value,
          .read = read_text<Member>,
          .write = write_text<Member, Valid>};
}

constexpr std::array kAxes{
    choice<&Cell::backend, kBackends>("backend", "where the work runs"),
    text<&Cell::op, is_operation>("op", "operation or model",
                                  "a name from `mpsprobe list operations`", ""),
    choice<&Cell::path, kPaths>(
        "path",
        "kernel path: what LibTorch takes by itself, without a graph (MPSNDArray kernels; eager on "
        "cuda), or with one (MPSGraph; a CUDA graph that is captured and replayed)"),
    count<&Cell::threads>("threads", "threads in each process", kMostThreads, "1"),
    count<&Cell::processes>("processes", "processes that run at the same time", 64, "1"),
    count<&Cell::iterations>("iterations", "iterations of each thread (in each round of churn)",
                             1'000'000, "10"),
    text<&Cell::shape, is_shape>("shape", "sizes of the input, meaning per operation",
                                 "default, or sizes such as 8x64x64", "default"),
    choice<&Cell::shapes, kShapes>("shapes",
                                   "all threads have one shape, or thread t one whose first size "
                                   "is 7 t larger (operations of LibTorch only)"),
    text<&Cell::dtype, is_dtype>("dtype", "element type of the input",
                                 "default, or a type such as float16", "default"),
    choice<&Cell::device, kDevices>(
        "device",
        "where the library computes: on the GPU where it has one, or on the CPU (mlx only)"),
    choice<&Cell::stream, kStreams>(
        "stream",
        "what the library gives, or a stream of its own for each thread (of LibTorch's pool; of "
        "MLX a new one, also by new_thread_unsafe_stream)"),
    choice<&Cell::capture, kCaptures>(
        "capture",
        "capture mode of CUDA graphs: what unsafe calls end a capture (cuda with path graph only)"),
    choice<&Cell::queue, kQueues>("queue",
                                  "a command queue for each thread, or one for all (metal only)"),
    choice<&Cell::model, kModels>("model", "weights shared by all threads, or a copy for each"),
    choice<&Cell::owner, kOwners>(
        "owner",
        "who makes a thread's stream and arrays: itself, once it has started, the main thread, or "
        "a thread that has ended (mlx only)"),
    choice<&Cell::init, kInits>("init",
                                "where the device is touched first and the inputs are made: on the "
                                "main thread, or in the threads"),
    choice<&Cell::warmup, kWarmups>("warmup",
                                    "one iteration on the main thread before the threads"),
    choice<&Cell::start, kStarts>(
        "start",
        "how the threads start: together, 1 ms apart, each after the one before it has ended, or "
        "not at all: the main thread does the work of each in turn"),
    choice<&Cell::meet, kMeets>("meet",
                                "where the threads wait for one another in each iteration: "
                                "nowhere; when all have launched, before any waits for the device; "
                                "or between the stages of the operation as well"),
    choice<&Cell::sync, kSyncs>("sync",
                                "synchronise after each iteration, once at the end, or leave work "
                                "in flight when the thread ends (not on metal)"),
    choice<&Cell::wait, kWaits>(
        "wait",
        "how a thread synchronises: waits for the whole device (what torch.mps.synchronize() "
        "does), for its own stream, for an event (mps only), or by reading one number of its last "
        "result back (mps and cuda)"),
    choice<&Cell::lock, kLocks>("lock", "a mutex around every launch, or none"),
    count<&Cell::throttle>("throttle",
                           "the most launches at a time in one process, the others wait for their "
                           "turn; 256 is as many as there can be threads",
                           kMostThreads, "256"),
    choice<&Cell::beside, kBesides>(
        "beside",
        "what one more thread does while the others launch, again and "
        "again: nothing, wait for the whole device, or of torch.mps time "
        "two events, empty the cache, read the allocator's statistics, "
        "start and stop the profiler (mps)"),
    count<&Cell::churn>("churn", "rounds in which all threads are spawned and joined", 1000, "1"),
    choice<&Cell::leave, kLeaves>("leave",
                                  "what a thread does last: nothing, or it calls MLX's "
                                  "clear_streams, which a thread's end needs (mlx only)"),
    count<&Cell::stack>("stack",
                        "bytes of stack that each thread has, pages of 16384 of them; 0: what the "
                        "system gives (512 KiB on macOS)",
                        1 << 30, "0", 0),
    choice<&Cell::end, kEnds>("end",
                              "how a process ends: after all threads, or by the return of main "
                              "while they go on with their iterations (results are not compared)"),
    Axis{.name = "env",
         .help = "a variable of the workers' environment, which a library under test must read",
         .kind = AxisKind::text,
         .form = "env.NAME=VALUE or env.NAME=unset, by as many variables as you like",
         .default_value = "inherited",
         .read = read_text<&Cell::env>,
         .write = write_env},
    choice<&Cell::validation, kValidations>("validation", "Metal's validation layers"),
    choice<&Cell::observe, kObservers>(
        "observe",
        "the observer names the rules of Metal that the operation's own calls break; with trap it "
        "holds a thread inside a call, so that two meet there (metal, mps)"),
    choice<&Cell::sanitizer, kSanitizers>(
        "sanitizer",
        "the build of the worker that runs the cell: its own, or the one beside it that was "
        "compiled with ThreadSanitizer, whose reports are failures (WORKER-tsan)"),
    choice<&Cell::lifetime, kLifetimes>("lifetime",
                                        "all iterations in one process, or each in a fresh one"),
    text<&Cell::profile, is_profile>(
        "profile", "defects of a simulated device (sim; metal, mps where simulated)",
        "a name from `mpsprobe list profiles`", "report-000"),
};

}  // namespace

std::span<const Axis> axes() {
  return kAxes;
}

const Axis* find_axis(string_view name) {
  const auto at = std::find_if(kAxes.begin(), kAxes.end(),
                               [name](const Axis& axis) { return axis.name == name; });
  return at == kAxes.end() ? nullptr : &*at;
}

const Axis& axis_named(string_view name) {
  if (const Axis* const axis = find_axis(name)) return *axis;
  std::vector<string_view> names;
  for (const Axis& each : kAxes) names.push_back(each.name);
  throw InputError(
      "axis", quoted(name) + " is no axis of this release" + did_you_mean(name, names),
      "Leave it out, or use a release that has it: `mpsprobe list axes` shows those of "
      "this one");
}

void set_axis(Cell& cell, const Axis& axis, string_view value) {
  axis.write(cell, axis, value);
}

std::string setting(const Axis& axis, string_view value, string_view between) {
  if (axis.name != "env" || value == axis.default_value) {
    return std::string(axis.name) + "=" + std::string(value);
  }
  std::string text;
  for (const auto& [name, set] : parse_variables(value)) {
    if (!text.empty()) text += between;
    text += "env." + name + "=" + set;
  }
  return text;
}

std::vector<std::string> parse_axis_values(const Axis& axis, string_view text) {
  constexpr size_t kMostValues = 1'000'000;
  std::vector<std::string> values;
  std::unordered_set<std::string> seen;
  const auto add = [&](std::string value) {
    if (values.size() >= kMostValues) {
      throw InputError(std::string(axis.name), "more than a million values", "Write fewer");
    }
    if (seen.insert(value).second) values.push_back(std::move(value));
  };
  for (const string_view item : split(text, ',')) {
    const size_t dash = item.find('-', 1);
    if (axis.kind == AxisKind::count && dash != string_view::npos) {
      const int64_t first = parse_count(axis, item.substr(0, dash));
      const int64_t last = parse_count(axis, item.substr(dash + 1));
      if (first > last) reject(axis, item, "a range with the smaller number first");
      for (int64_t number = first; number <= last; ++number) add(std::to_string(number));
    } else {
      Cell scratch;
      set_axis(scratch, axis, item);
      add(axis.read(scratch));
    }
  }
  return values;
}

string_view name_of(Path path) {
  return kPaths[static_cast<size_t>(path)];
}

}  // namespace mpsprobe
