#include "harness/signature/rule_file.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

constexpr RuleFile kFiles[] = {
#include "rule_files.inc"
};

constexpr std::string_view kBlanks = " \t\r";

/// A row, or a heading: the word in front, words without quotes, and texts in quotes.
struct Line {
  std::string word;
  std::vector<std::string_view> flags;
  std::vector<std::string> texts;
};

class Reader {
 public:
  Reader(const RuleFile& file, Rules& rules) : file_(file), rules_(rules) {}

  void read() {
    for (std::string_view rest = file_.text; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++line_;
      line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
      line = line.substr(0, line.find_last_not_of(kBlanks) + 1);  // npos + 1 is 0
      if (line.empty() || line.starts_with('#')) continue;
      if (line.starts_with("source ")) {
        source(line.substr(7));
      } else if (line.starts_with('[')) {
        heading(line);
      } else {
        row(line);
      }
    }
  }

 private:
  [[noreturn]] void fail(std::string_view problem, std::string_view remedy) const {
    throw InputError(std::string(file_.name) + ":" + std::to_string(line_), std::string(problem),
                     std::string(remedy));
  }

  void source(std::string_view address) {
    if (address != "made up" && !address.starts_with("https://")) {
      fail("'" + std::string(address) + "' is no source",
           "Name the https:// address of what writes these texts, or \"made up\".");
    }
    sourced_ = true;
  }

  void heading(std::string_view line) {
    if (!line.ends_with(']')) fail("the heading has no end", "Close it with ].");
    heading_ = split(line.substr(1, line.size() - 2));
    if (!heading_.texts.empty()) fail("the heading holds a text", "Write texts in rows.");
    if (!sourced_) {
      fail("the file names no source",
           "Put a line \"source https://...\" above its first heading.");
    }
  }

  // "free-invalid-size known "malloc: ..."" in its parts.
  Line split(std::string_view line) const {
    Line parts;
    for (size_t i = 0; i < line.size();) {
      if (kBlanks.find(line[i]) != std::string_view::npos) {
        ++i;
      } else if (line[i] == '"') {
        const size_t end = line.find('"', i + 1);
        if (end == std::string_view::npos) fail("a text has no end", "Close it with \".");
        parts.texts.emplace_back(line.substr(i + 1, end - i - 1));
        i = end + 1;
      } else {
        const size_t end = std::min(line.find_first_of(" \t\"", i), line.size());
        const std::string_view word = line.substr(i, end - i);
        if (i == 0) {
          parts.word = word;
        } else {
          parts.flags.push_back(word);
        }
        i = end;
      }
    }
    return parts;
  }

  template <typename Value>
  using Words = std::initializer_list<std::pair<std::string_view, Value>>;

  // The value of the flag that is one of `words`, which is taken out.
  template <typename Value>
  std::optional<Value> take(Words<Value> words) {
    for (const auto& [word, value] : words) {
      const auto flag = std::find(now_.flags.begin(), now_.flags.end(), word);
      if (flag == now_.flags.end()) continue;
      now_.flags.erase(flag);
      return value;
    }
    return std::nullopt;
  }

  template <typename Value>
  Value must(std::string_view what, Words<Value> words) {
    if (const std::optional<Value> value = take(words)) return *value;
    std::string list;
    for (const auto& [word, value] : words) list += (list.empty() ? "" : ", ") + std::string(word);
    fail("the heading names no " + std::string(what), "It is one of: " + list + ".");
  }

  bool flag(std::string_view word) { return take<bool>({{word, true}}).value_or(false); }

  TextClass text_class() {
    using enum TextClass;
    return must<TextClass>("class", {{name_of(assertion), assertion},
                                     {name_of(exception), exception},
                                     {name_of(gpu_error), gpu_error},
                                     {name_of(out_of_memory), out_of_memory},
                                     {name_of(setup_failed), setup_failed},
                                     {name_of(unsupported), unsupported},
                                     {name_of(memory_corruption), memory_corruption},
                                     {name_of(abort_message), abort_message},
                                     {name_of(data_race), data_race}});
  }

  Place place() {
    return take<Place>({{"line-start", Place::line_start},
                        {"after-source", Place::after_source},
                        {"unwarned", Place::unwarned}})
        .value_or(Place::anywhere);
  }

  size_t window() {
    constexpr std::string_view kWithin = "within=";
    for (auto flag = now_.flags.begin(); flag != now_.flags.end(); ++flag) {
      if (!flag->starts_with(kWithin)) continue;
      size_t most = 0;
      const std::string_view number = flag->substr(kWithin.size());
      const auto [end, error] = std::from_chars(number.begin(), number.end(), most);
      if (error != std::errc() || end != number.end())
        fail("'within=' takes a number", "Give one.");
      now_.flags.erase(flag);
      return most;
    }
    return KnownText{}.window;
  }

  // The next text of the row.
  std::string text(std::string_view what) {
    if (now_.texts.empty()) {
      fail("the row has no " + std::string(what), "Write it in double quotes.");
    }
    std::string text = std::move(now_.texts.front());
    now_.texts.erase(now_.texts.begin());
    return text;
  }

  Shape shape() {
    const std::string expression = text("shape");
    try {
      return Shape(expression);
    } catch (const std::invalid_argument& mistake) {
      fail(mistake.what(), "See the syntax of PCRE2: " + expression);
    }
  }

  std::string name() const {
    const bool good =
        !now_.word.empty() && std::all_of(now_.word.begin(), now_.word.end(), [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' ||
                 c == '.';
        });
    if (!good) fail("'" + now_.word + "' is no name", "Use small letters, digits and hyphens.");
    return now_.word;
  }

  // Adds a row to its table, and refuses what nothing took of it.
  template <typename Row>
  void add(std::vector<Row>& table, Row row) {
    if (!now_.flags.empty()) {
      fail("'" + std::string(now_.flags.front()) + "' is no flag here", "See rule_file.h.");
    }
    if (!now_.texts.empty()) fail("the row has a text too many", "See rule_file.h.");
    if constexpr (requires { row.name; }) {
      if (std::any_of(table.begin(), table.end(),
                      [&](const Row& other) { return other.name == row.name; })) {
        fail("'" + row.name + "' names two rows", "Give one of them another name.");
      }
    }
    table.push_back(std::move(row));
  }

  // Of "image`function".
  static std::pair<std::string, std::string> image_and_function(std::string_view frame) {
    const size_t tick = frame.find('`');
    if (tick == std::string_view::npos) return {"", std::string(frame)};
    return {std::string(frame.substr(0, tick)), std::string(frame.substr(tick + 1))};
  }

  Passing meaning() {
    using enum Passing;
    return must<Passing>("meaning", {{"trampoline", trampoline},
                                     {"ending", ending},
                                     {"messaging", messaging},
                                     {"dispatch", dispatch},
                                     {"thread-entry", thread_entry},
                                     {"tear-down", teardown},
                                     {"memory", memory},
                                     {"allocator", allocator},
                                     {"lock", lock},
                                     {"standard", standard},
                                     {"interpreter", interpreter},
                                     {"placeholder", placeholder},
                                     {"unnamed", unnamed}});
  }

  void row(std::string_view line) {
    const std::string& table = heading_.word;
    if (table == "frame" || table == "own") {  // names of functions hold blanks
      now_ = {};
      now_.flags = heading_.flags;
      const auto [image, function] = image_and_function(line);
      if (table == "frame") {
        add(rules_.frames, {meaning(), image, function});
      } else {
        add(rules_.own, {Passing::placeholder, image, function});
      }
      return;
    }
    now_ = split(line);
    now_.flags.insert(now_.flags.end(), heading_.flags.begin(), heading_.flags.end());
    if (table == "text") {
      add_text();
    } else if (table == "form") {
      add_form();
    } else if (table == "mask") {
      add_mask();
    } else if (table == "lead") {
      add(rules_.leads, Mask{name(), shape(), "", Mask::Begins::at_a_name, false});
    } else if (table == "noise") {
      add(rules_.noise, Mask{name(), shape(), "", Mask::Begins::at_a_name, false});
    } else if (table == "line") {
      const int rank = must<int>("rank", {{"says-nothing", 0},
                                          {"says-something", 1},
                                          {"tells-of-trouble", 2},
                                          {"names-an-error", 4}});
      add(rules_.telling, Telling{name(), rank, shape()});
    } else if (table == "misuse") {
      const auto [image, function] = image_and_function(now_.word);
      add(rules_.misuses, MisuseFrame{image, function, text("title")});
    } else if (table.empty()) {
      fail("a row stands above the first heading", "Put a heading, as [text assertion], above it.");
    } else {
      fail("'" + table + "' names no table",
           "It is one of: text, form, mask, lead, noise, line, frame, own, misuse.");
    }
  }

  void add_text() {
    KnownText row{name(), text_class(), place(), window(), text("title"), {}};
    row.fragments.push_back(text("fragment"));
    while (!now_.texts.empty() && row.fragments.size() < kMostFragments) {
      row.fragments.push_back(text("fragment"));
    }
    for (const std::string& fragment : row.fragments) {
      if (fragment.empty()) fail("a fragment is empty", "Write what the text holds.");
    }
    add(rules_.texts, std::move(row));
  }

  void add_form() {
    Form row{name(), text_class(), text("title"), text("anchor"), shape()};
    if (row.anchor.empty()) fail("the anchor is empty", "Write what every such text holds.");
    row.from_the_line = flag("from-the-line");
    row.place = place();
    row.counts = take<Counts>({{"as-first-words", Counts::as_first_words},
                               {"as-last-words", Counts::as_last_words}})
                     .value_or(Counts::always);
    row.known = flag("known");
    row.takes_leads = flag("takes-leads");
    row.uncaught = flag("uncaught");
    row.mute = flag("mute");
    row.by_stacks = flag("by-stacks");
    add(rules_.forms, std::move(row));
  }

  void add_mask() {
    Mask row{name(), shape(), now_.texts.empty() ? "" : text("stand-in")};
    row.begins = take<Mask::Begins>({{"within-a-name", Mask::Begins::within_a_name},
                                     {"anywhere", Mask::Begins::anywhere},
                                     {"apart", Mask::Begins::apart}})
                     .value_or(Mask::Begins::at_a_name);
    row.ends_the_title = flag("ends-the-title");
    add(rules_.masks, std::move(row));
  }

  const RuleFile& file_;
  Rules& rules_;
  size_t line_ = 0;
  bool sourced_ = false;
  Line heading_;
  Line now_;  ///< the row that is read
};

}  // namespace

std::span<const RuleFile> rule_files() {
  return kFiles;
}

void read_rules(const RuleFile& file, Rules& rules) {
  Reader(file, rules).read();
}

}  // namespace mpsprobe
