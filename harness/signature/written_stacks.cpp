#include "harness/signature/written_stacks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "harness/signature/shape.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFramesOfThread = 1024;  // more than anybody pastes
constexpr size_t kMostThreads = 4096;

enum class Form : uint8_t {
  any,
  none,
  report,
  debugger,
  sampler,
  py_spy,
  faulthandler,
  traceback,
  go,
  own
};
enum class LineKind : uint8_t {
  frame,  ///< groups: image, offset, function, source, line, python
  head,   ///< of a thread. Groups: id, name, crashed, computes, count, why, image: all of a stack
  note,   ///< on the process. Groups: why and id, of a debugger that stopped; lives; cycle; orphan
};

struct Row {
  Form form;
  LineKind kind;
  Shape shape;
};

// The first that fits a line counts. A row of frames counts in its form, or in any. All begin
// behind a line's blanks and marks; a row is read as one line.
// clang-format off
const std::vector<Row>& rows() {
  using enum Form;
  using enum LineKind;
  static const std::vector<Row> kRows = {
      // --- why it stopped
      {debugger, note, Shape(R"((?:Thread (?<id>\d+) [^\n]*|Program )(?:received|terminated with) signal (?<why>SIG\w+))")},
      {debugger, note, Shape(R"(\[Current thread is (?<id>\d+) )")},
      {faulthandler, note, Shape(R"((?<lives>Timeout) \(\d+:\d+:\d+[.\d]*\)!)")},
      {own, note, Shape(R"((?<cycle>Lock cycle) of \d+)")},
      {own, note, Shape(R"([^\n]* waits? for a lock (?<orphan>whose holder) )")},
      {own, note, Shape(R"((?<lives>Stacks of its threads|Trial [^\n]*: hang in the phase ))")},
      // --- where a thread begins
      {py_spy, head, Shape(R"(Thread (?<id>\w+) \((?:idle|(?<computes>active))(?:\+gil)?\)(?:: ["'](?<name>[^\n]*)["'])?)")},
      {faulthandler, head, Shape(R"((?:(?<crashed>Current) t|T)hread 0x(?<id>[0-9a-f]+)(?: \[(?<name>[^\]\n]*)\])? \(most recent call first\):)")},
      {traceback, head, Shape(R"(Traceback \(most recent call last\):)")},
      {debugger, head, Shape(R"(thread #(?<id>\d+)(?:[^\n]*?(?:name|queue) = '(?<name>[^'\n]*)')?(?:[^\n]*?stop reason = (?<why>[^\n]+))?)")},
      {debugger, head, Shape(R"(Thread (?<id>\d+) \([^\n]*?(?:["'](?<name>[^"'\n]*)["'])?\):?$)")},
      {debugger, head, Shape(R"(TID (?<id>\d+):)")},
      {sampler, head, Shape(R"((?<count>\d+) Thread_(?<id>\w+)(?:[: ]+(?:DispatchQueue_\d+: )?(?<name>\S[^\n(]*))?)")},
      {sampler, head, Shape(R"(Thread 0x(?<id>[0-9a-f]+)\s(?:[^\n]*?\x22(?<name>[^\x22\n]*)\x22)?[^\n]*?\d+ samples?\b)")},
      {report, head, Shape(R"(Thread (?<id>\d+)(?: name)?(?<crashed> Crashed)?::? *(?:Dispatch queue: )?(?<name>[^\n]*))")},
      {report, head, Shape(R"(Stack trace of thread (?<id>\d+):)")},
      // the kernel's line on a death
      {none, head, Shape(R"((?:(?:\S+ )?kernel: )?(?:\[[^\]\n]*\] )*(?:traps: )?(?<name>[^\[\]:\n]+)\[(?<id>\d+)\]:? (?:segfault at |general protection |trap )[^\n]*? in (?<image>[^\[\n]+)\[)")},
      {go, head, Shape(R"(goroutine (?<id>\d+) [^\n\[]*\[[^\]\n]*\]:)")},
      {own, head, Shape(R"((?:Stack of|(?<crashed>faulting)) (?<name>[^\n:]*))")},
      // --- frames: lldb, LibTorch, sanitizers and systemd, gdb, eu-stack
      {any, frame, Shape(R"(frame #\d+: (?:0x[0-9a-f]+ )?(?<image>[^`\n]*?)(?:`|\xe2\x80[\x98\x9b])(?:[^\n]*?\[inlined\] )?(?<function>[^\n]+?)(?:\((?:\w+|\(null\))=[^\n]*?)?(?: at (?<source>\S+?:\d+)(?::\d+)?)?(?: \[opt\])?$)")},
      {any, frame, Shape(R"(frame #\d+: (?<function>[^\n]+?)(?: \+ (?:0x[0-9a-f]+|\d+))? \(0x[0-9a-f]+ in (?<image>[^)\n]+)\))")},
      {any, frame, Shape(R"(frame #\d+:)")},
      {any, frame, Shape(R"(#\d+ +(?:0x[0-9a-f]+ (?:in )?)?(?<function>[^\n]*?)(?: (?<source>[^\s()]+:\d+(?::\d+)?|<null>))? ?\((?<image>[^()\n]+?)(?::(?:arm64e?|x86_64h?))? ?\+ ?0x(?<offset>[0-9a-f]+)\))")},
      {any, frame, Shape(R"(#\d+ +0x[0-9a-f]+ (?<function>[^\s()]+) \((?<image>[^()=\n]+)\)$)")},
      {any, frame, Shape(R"(#\d+ +(?:0x[0-9a-f]+ in )?(?<function>[^\n]+?) (?<arguments>\((?:[^()\n]++|(?&arguments))*+\))(?: from (?<image>\S+)| at (?<source>\S+:\d+))?\s*$)")},
      {any, frame, Shape(R"(#\d+ +0x[0-9a-f]+ in (?<function>[^\n]+) (?<source>[^\s()]+:\d+(?::\d+)?)$)")},
      {any, frame, Shape(R"(#\d+ +(?:0x[0-9a-f]+(?: - \d+)? +)?(?<function><signal handler called>|[\w@.:~]+)(?: - (?<image>\S+))?$)")},
      {any, frame, Shape(R"((?:\[[\w.-]+:\d+\] )?(?:\[ ?\d+\] )?(?<image>[^\s()]+)\((?<function>[^+()\n]*)\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\])")},
      // --- Python's
      {faulthandler, frame, Shape(R"(File ["'](?<source>[^"'\n]+)["'], line (?<line>[\d?]+) in (?<function>(?<python>[^\n]+)))")},
      {traceback, frame, Shape(R"(File ["'](?<source>[^"'\n]+)["'], line (?<line>\d+), in (?<function>(?<python>[^\n]+)))")},
      {faulthandler, frame, Shape(R"(Binary file ["'](?<image>[^"'\n]+)["'], at (?<function>[^+\n]*)\+)")},
      {py_spy, frame, Shape(R"((?<function>(?<python>\S[^\n]*?)) \((?<source>(?:[^()\n]+\.pyw?|<[^>()\n]+>)(?::\d+)?)\)$)")},
      {py_spy, frame, Shape(R"((?<function>\S[^\n]*?) \((?<source>[^()\s]+:\d+)\)$)")},
      {py_spy, frame, Shape(R"((?<function>\S[^\n]*?) \((?<image>[^()\s]+)\)$)")},
      // --- samplers'; the kernel's frames, which a star marks, are below what waits
      {sampler, frame, Shape(R"((?<count>\d+) +(?<function>[^\n]+?)(?: \+ \d+)? +\((?:in )?(?<image>[^()\n]+?)(?: \+ \d+)?\))")},
      // --- crash reports', mpsprobe's, and what people leave of them
      {own, frame, Shape(R"(\d+[~ ] +(?<image>\S+)\s+(?<function>[^\n+]\S*[^\n]*?)(?: +\((?<source>[^()\n]+:\d+)\))?(?: +inlined)?$)")},
      {any, frame, Shape(R"(\d+\s+(?<image>\S[^\n]*?)\s+0x[0-9a-f]+\s+(?<function>[^\n]+))")},
      {report, frame, Shape(R"(\d+\s+(?<image>[\w.+-]+)\s+(?<function>[^\n]*[\w\])>] \+ \d+)$)")},
      {report, frame, Shape(R"((?:\d+\s+)?(?<image>[\w.+-]+\.(?:dylib|so)[\w.]*)\s+(?<function>[\w~+:<-][^\n]*(?:\([^\n]*| \+ \d+))$)")},
      {report, frame, Shape(R"((?:\d+\s+)?(?<image>[\w.+-]+\.(?:dylib|so)[\w.]*)\s{2,}(?<function>[A-Za-z_][\w:~]+)$)")},
      // --- Go's; what Go calls of C has a name that says so
      {go, frame, Shape(R"((?:[\w./-]+\._Cfunc_)?(?<function>[A-Za-z][\w./*()\[\]-]*?)\((?:0x|\{|\.\.\.|\))[^\n]*$)")},
  };
  return kRows;
}
// clang-format on

// Behind what pages, lldb's selection and a sampler's tree put in front.
size_t words_begin(std::string_view line) {
  return std::min(line.find_first_not_of(" \t>*+!:|"), line.size());
}

bool counts_in(const Row& row, Form form) {
  return row.kind != LineKind::frame || row.form == Form::any || row.form == form ||
         (row.form == Form::report && (form == Form::none || form == Form::own));
}

/// The first row of the table that fits a line, of all of them or of those of frames.
struct Fit {
  const Row* row;
  ShapeMatch parts;
};

std::optional<Fit> fit_of(std::string_view line, size_t begin, Form form, bool frames_alone) {
  for (const Row& row : rows()) {
    if (!counts_in(row, form) || (frames_alone && row.kind != LineKind::frame)) continue;
    if (auto parts = row.shape.match(line, begin)) return Fit{&row, std::move(*parts)};
  }
  return std::nullopt;
}

// Of a source that a debugger tells in place of an image: whose it is.
std::string_view image_of_source(std::string_view source) {
  static const Shape kCPython(
      R"((?:\S*/)?(?:\./)?(?:Python|Objects|Modules|Include/internal|Include/cpython)/)");
  static const Shape kGlibc(
      R"((?:\./(?:nptl|misc|io|time|socket|posix|stdlib|signal)|\.\./sysdeps)/)");
  if (kCPython.match(source, 0)) return "CPython";
  static const Shape kSanitizer(R"([^\n]*/(?:libsanitizer|compiler-rt)/)");
  if (kGlibc.match(source, 0)) return "libc.so";
  if (kSanitizer.match(source, 0)) return "libsanitizer";
  return source.find("/c++/") == std::string_view::npos ? "" : "libstdc++";
}

// Python's own modules, whole or as py-spy shortens their paths.
bool of_pythons_library(std::string_view path) {
  static const Shape kLibrary(
      R"(.*?[/\\](?:lib(?:64)?/python3[\w.]*|Lib)[/\\](?!site-packages|dist-packages)|<frozen |)"
      R"((?:asyncio|concurrent|ctypes|http|importlib|multiprocessing|unittest)/|)"
      R"((?:contextlib|functools|queue|runpy|selectors|socket|socketserver|ssl|subprocess|threading)\.py)");
  return kLibrary.match(path, 0).has_value();
}

// 0 where the text is none.
uint64_t number(std::string_view text, int base = 10) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

StackFrame frame_of(const ShapeMatch& parts) {
  StackFrame frame;
  frame.image = parts["image"];
  frame.offset = number(parts["offset"], 16);
  frame.source = parts["source"];
  if (frame.source == "<null>") frame.source.clear();
  const std::string_view line = parts["line"];
  std::string_view path = parts["source"];
  if (line.empty()) path = path.substr(0, path.rfind(':'));
  if (!line.empty()) frame.source += ":" + std::string(line);
  if (parts.has("python")) {
    // npos + 1 is 0
    frame.image =
        of_pythons_library(path) ? kPythonsLibrary : path.substr(path.find_last_of("/\\") + 1);
  } else if (frame.image.empty()) {
    frame.image = image_of_source(path);
  }
  // "0x180000000 + 1234": a place in the image, no function.
  static const Shape kNoName(R"(0x|\+ |\?|<unknown|<null>$|n/a$)");
  if (kNoName.match(frame.image, 0)) frame.image.clear();
  std::string_view function = parts["function"];
  if (kNoName.match(function, 0)) return frame;
  static const Shape kOffset(R"( \+ (?:0x[0-9a-f]+|\d+)$)");
  const size_t plus = function.rfind(" + ");
  if (plus != std::string_view::npos && kOffset.match(function, plus)) {
    function = function.substr(0, plus);
  }
  frame.function = function;
  return frame;
}

/// A line of a tree of samples.
struct Sampled {
  size_t depth;
  uint64_t count;
  StackFrame frame;
};

// The heaviest path, innermost first.
std::vector<StackFrame> heaviest(const std::vector<Sampled>& tree) {
  std::vector<StackFrame> frames;
  for (size_t at = 0; at < tree.size() && frames.size() < kMostFramesOfThread;) {
    size_t best = at;
    for (size_t i = at; i < tree.size() && tree[i].depth >= tree[at].depth; ++i) {
      if (tree[i].depth == tree[at].depth && tree[i].count > tree[best].count) best = i;
    }
    frames.push_back(tree[best].frame);
    if (best + 1 == tree.size() || tree[best + 1].depth <= tree[best].depth) break;
    at = best + 1;
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

/// Reads line by line; what a line means depends on the form that the last heading had.
class StackReader {
 public:
  WrittenStacks read(std::string_view text) {
    each_line(text, [this](std::string_view line) { take(line); });
    end_thread();
    std::stable_partition(stacks_.threads.begin(), stacks_.threads.end(),
                          [this](const ThreadStack& stack) {
                            return stack.faulting || std::to_string(stack.thread_id) == stopped_;
                          });
    stacks_.alive = lives_ && !died_;
    return std::move(stacks_);
  }

 private:
  void take(std::string_view line) {
    const size_t begin = words_begin(line);
    // gdb breaks its frames between words.
    if (form_ == Form::debugger && !broken_.empty() && begin > 2 && line.substr(begin, 1) != "#" &&
        !line.substr(begin).starts_with("frame #")) {
      broken_ += " " + std::string(trimmed(line));
      if (const auto fit = fit_of(broken_, words_begin(broken_), form_, true)) {
        current_.frames.back() = frame_of(fit->parts);
      }
      return;
    }
    broken_.clear();
    if (const auto fit = fit_of(line, begin, form_, false)) {
      take(*fit->row, fit->parts, line, begin);
      return;
    }
    if (form_ == Form::debugger && line.substr(begin, 1) == "#") add(ShapeMatch(), line, begin);
    // Bare frames end where other words begin.
    if (form_ == Form::none || form_ == Form::report) end_thread();
  }

  void take(const Row& row, const ShapeMatch& parts, std::string_view line, size_t begin) {
    if (row.kind == LineKind::frame) return add(parts, line, begin);
    if (row.kind == LineKind::head) return begin_thread(row.form, parts);
    stacks_.lock_cycle = stacks_.lock_cycle || parts.has("cycle");
    stacks_.owner_gone = stacks_.owner_gone || parts.has("orphan");
    lives_ = lives_ || parts.has("lives");
    note_stop(parts["why"]);
    if (parts.has("id")) stopped_ = parts["id"];
  }

  // A signal that people send to see where a process is, or one that it died of.
  void note_stop(std::string_view why) {
    static const Shape kSent(R"([^\n]*?SIG(?:STOP|INT|TSTP|QUIT|USR[12])\b)");
    static const Shape kDied(R"([^\n]*?(?:SIG(?:SEGV|BUS|ABRT|ILL|FPE|TRAP)\b|EXC_))");
    lives_ = lives_ || kSent.match(why, 0).has_value();
    died_ = died_ || kDied.match(why, 0).has_value();
  }

  void begin_thread(Form form, const ShapeMatch& parts) {
    end_thread();
    form_ = form;
    const std::string_view id = parts["id"];
    const bool decimal = id.find_first_not_of("0123456789") == std::string_view::npos;
    current_.name = parts["name"];
    if (decimal && form != Form::faulthandler) {
      current_.thread_id = number(id);
    } else if (current_.name.empty()) {
      current_.name = "0x" + std::string(id);
    }
    current_.faulting = parts.has("crashed");
    if (parts.has("computes")) current_.thread = kSaidToCompute;
    if (form == Form::sampler || form == Form::py_spy) lives_ = true;
    if (form == Form::debugger) stacks_.all_threads = true;
    note_stop(parts["why"]);
    // lldb shows the thread that it stopped for first, and all of them again where it is asked; the
    // kernel tells of one alone, and systemd of all behind it.
    const bool again = form == Form::debugger || form == Form::report;
    std::erase_if(stacks_.threads, [&](const ThreadStack& stack) {
      return again && stack.thread_id == current_.thread_id && current_.thread_id != 0;
    });
    if (parts.has("image")) current_.frames.push_back(frame_of(parts));
  }

  void add(const ShapeMatch& parts, std::string_view line, size_t begin) {
    if (form_ == Form::sampler) {
      // The kernel's frames, which a star marks, tell nothing of who waits.
      if (begin > 0 && line[begin - 1] == '*') return;
      tree_.push_back({begin, number(parts["count"]), frame_of(parts)});
      return;
    }
    const std::string_view words = line.substr(begin);
    // A debugger's list that begins again is of another time.
    const bool first = words.starts_with("#0 ") || words.starts_with("frame #0");
    if (first && !current_.frames.empty()) end_thread();
    if (current_.frames.size() == kMostFramesOfThread) return;
    current_.frames.push_back(frame_of(parts));
    if (!words.starts_with('#')) return;
    form_ = Form::debugger;
    broken_ = line;
  }

  void end_thread() {
    if (!tree_.empty()) current_.frames = heaviest(tree_);
    tree_.clear();
    if (form_ == Form::traceback) {
      std::reverse(current_.frames.begin(), current_.frames.end());
      stacks_.traceback = std::move(current_.frames);
    } else if (!current_.frames.empty() && stacks_.threads.size() < kMostThreads) {
      stacks_.threads.push_back(std::move(current_));
    }
    current_ = {};
    form_ = Form::none;
  }

  WrittenStacks stacks_;
  Form form_ = Form::none;
  ThreadStack current_;
  std::vector<Sampled> tree_;
  std::string broken_;   ///< a debugger's frame that may go on in the next line
  std::string stopped_;  ///< the number of the thread that a debugger stopped for
  bool lives_ = false;
  bool died_ = false;
};

}  // namespace

std::optional<StackFrame> read_written_frame(std::string_view line) {
  line = trimmed(line);
  const auto fit = fit_of(line, words_begin(line), Form::none, true);
  return fit ? std::optional(frame_of(fit->parts)) : std::nullopt;
}

std::optional<FrameLine> read_frame_line(std::string_view line) {
  const auto fit = fit_of(line, words_begin(line), Form::traceback, true);
  if (!fit) return std::nullopt;
  const bool python = fit->parts.has("python");
  return FrameLine{fit->parts[python ? "source" : "image"], fit->parts["function"], python};
}

WrittenStacks read_written_stacks(std::string_view text) {
  return StackReader().read(text);
}

}  // namespace mpsprobe
