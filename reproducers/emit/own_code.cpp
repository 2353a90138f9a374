#include <fmt/format.h>

#include <algorithm>

#include "reproducers/emit/program.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string why_not(const Cell& cell, const std::string& code, const fs::path& place) {
  std::error_code error;
  if (cell.processes > 1) return "the cell has several processes, and the program is one";
  if (!is_printable(code) || place.string().size() + 2 >= code.size()) {
    return "the worker's name of the code has not the form FILE::NAME";
  }
  if (!place.is_absolute()) return "";
  if (!fs::is_regular_file(place, error)) return "the file of the code is not there";
  return place.stem() == "reproducer" ? "the file has the name of the program" : "";
}

std::string in_quotes(std::string_view text) {
  return fmt::format("\"{}\"", replaced(std::string(text), {{"\\", "\\\\"}, {"\"", "\\\""}}));
}

}  // namespace

Emission emit_own_code(const EmissionRequest& request) {
  const Cell& cell = request.cell;
  Emission emission{.kind = Kind::python};
  const bool test = request.own_function.empty();
  const std::string& code = test ? request.own_test : request.own_function;
  const fs::path place = code.substr(0, code.find("::"));
  emission.why_not = why_not(cell, code, place);
  if (!emission.possible()) return emission;
  const std::string name = code.substr(place.string().size() + 2);
  const std::string module = place.is_absolute() ? place.stem().string() : place.string();
  const std::string file = place.is_absolute() ? read_program(place) : "";
  // A function that stands beside it, by the names that the worker looks for.
  const auto beside = [&](std::string_view what) {
    for (const std::string& each : {fmt::format("{}_{}", name, what), std::string(what)}) {
      if (file.starts_with(fmt::format("def {}(", each)) ||
          file.find(fmt::format("\ndef {}(", each)) != std::string::npos) {
        return fmt::format("{}.{}", module, each);
      }
    }
    return std::string();
  };
  const auto called = [](const std::string& function, std::string_view arguments) {
    return function.empty() ? function : fmt::format("{}({})", function, arguments);
  };
  const bool locked = cell.lock == Lock::forward;
  const bool numbers = request.outcome == Outcome::wrong_result;
  const std::string_view i = cell.iterations > 1 ? "i" : "0";
  const std::string call = test ? "pyfuncitem.obj(**given)"
                           : numbers
                               ? fmt::format("got.append((thread, {0}, call(thread, {0})))", i)
                               : fmt::format("call(thread, {})", i);
  ProgramLines by_main, before, launch, after, start, checks;
  if (!test) {
    by_main.add(called(beside("setup"), ""));
    before.add(called(beside("thread_setup"), "thread"));
  }
  by_main.add(fmt::format("threading.stack_size({})", cell.stack), cell.stack > 0)
      .add("lock = threading.Lock()", locked)
      .add("got = []", numbers && !test)
      .add("threading.excepthook = lambda raised: (threading.__excepthook__(raised), os._exit(1))",
           !test && !numbers)
      .add(test ? call : "call(0, 0)", cell.warmup == Warmup::main);
  launch.add("with lock:", locked).add((locked ? "    " : "") + call);
  if (!test) after.add(called(beside("thread_teardown"), "thread"));
  after.add("sys.modules[\"mlx.core\"].clear_streams()", cell.leave == Leave::clear_streams);
  if (cell.start == Start::main) {
    start.add(fmt::format("for t in range({}):\n    work(t)", cell.threads));
  } else if (in_turn(cell)) {
    start.add(fmt::format("for t in range({}):", cell.threads))
        .add("    thread = threading.Thread(target=work, args=(t,))")
        .add("    thread.start()\n    thread.join()");
  } else {
    start
        .add(fmt::format("threads = [threading.Thread(target=work, args=(t,)) for t in range({})]",
                         cell.threads))
        .add("[thread.start() for thread in threads]\n[thread.join() for thread in threads]");
  }
  if (numbers && !test) {
    const std::string expected = beside("expected");
    checks
        .add(fmt::format("wrong = [each for each in got if each[2] != {}]",
                         expected.empty() ? "call(*each[:2])" : expected + "(*each[:2])"))
        .add("if wrong:\n    sys.exit(f\"thread, call, result: {wrong[0]}\"[:500])");
  }
  const std::string attempt =
      test ? fmt::format(
                 "code = pytest.main([os.path.join(os.path.dirname(os.path.abspath(__file__)), "
                 "{}), \"-q\", \"-p\", \"no:cacheprovider\"], "
                 "plugins=[Threads()])\nif code:\n    sys.exit(code)",
                 in_quotes(place.filename().string() + "::" + name))
           : "";
  emission.files = {
      {"reproducer.py", compose(request, test ? "own_test.py.mustache" : "own_code.py.mustache",
                                {{"module", module},
                                 {"function", name},
                                 {"together", std::to_string(in_turn(cell) ? 1 : cell.threads)},
                                 {"by_main", by_main},
                                 {"before_start", before},
                                 {"launch", launch},
                                 {"after_loop", after},
                                 {"start", start},
                                 {"checks", checks},
                                 {"attempt", attempt}})}};
  if (place.is_absolute()) {
    emission.files.push_back({place.filename().string(), file});
    emission.beside = place.parent_path();
  }
  emission.run = "python3 reproducer.py";
  say_rest(emission, cell, {"lock", "warmup", "leave", "stack", in_turn(cell) ? "start" : ""});
  return emission;
}

}  // namespace mpsprobe
