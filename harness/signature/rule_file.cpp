#include "harness/signature/rule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/input/input_error.h"
#include "harness/signature/fragment_search.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

constexpr RuleFile kFiles[] = {
#include "rule_files.inc"
};

class Reader {
 public:
  Reader(const RuleFile& file, Rules& rules) : file_(file), rules_(rules) {}

  void read() {
    each_line(file_.text, [this](std::string_view line) {
      ++number_;
      line_ = trimmed(line);
      if (line_.empty() || line_.starts_with('#')) return;
      if (line_.starts_with(kSource)) {
        take_source();
      } else if (line_.starts_with('[')) {
        take_heading();
      } else {
        take_row();
      }
    });
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(fmt::format("{}:{}", file_.name, number_), problem,
                     "See rule_file.h for how rules are written.");
  }

  static constexpr std::string_view kSource = "source ";

  void take_source() {
    const std::string_view address = line_.substr(kSource.size());
    sourced_ = address == "made up" || address.starts_with("https://");
    if (!sourced_) fail(fmt::format("'{}' is no source", address));
  }

  void take_heading() {
    if (!line_.ends_with(']')) fail("the heading has no end");
    if (!sourced_) fail("the file names no source");
    take_apart(line_.substr(1, line_.size() - 2));
    if (words_.empty() || !texts_.empty()) fail("the heading is none");
    table_ = words_.front();
    heading_flags_.assign(words_.begin() + 1, words_.end());
  }

  // Words without quotes, and texts in quotes.
  void take_apart(std::string_view line) {
    static const Shape kPiece("[ \\t]*(\"[^\"]*\"|[^\" \\t]+)");
    words_.clear();
    texts_.clear();
    for (size_t i = 0; i < line.size();) {
      const auto piece = kPiece.match(line, i);
      if (!piece) fail("a text has no end");
      const std::string_view held =
          line.substr(piece->inner_begin, piece->inner_end - piece->inner_begin);
      if (held.starts_with('"')) {
        texts_.emplace_back(held.substr(1, held.size() - 2));
      } else {
        words_.push_back(held);
      }
      i = piece->end;
    }
  }

  void take_row() {
    if (table_.empty()) fail("a row stands above the first heading");
    if (table_ == "frame" || table_ == "own") {
      take_frame();
      return;
    }
    take_apart(line_);
    name_ = words_.empty() ? "" : words_.front();
    flags_.assign(words_.begin() + (words_.empty() ? 0 : 1), words_.end());
    flags_.insert(flags_.end(), heading_flags_.begin(), heading_flags_.end());
    static constexpr std::pair<std::string_view, void (Reader::*)()> kTables[] = {
        {"text", &Reader::add_text},    {"form", &Reader::add_form},
        {"mask", &Reader::add_mask},    {"lead", &Reader::add_lead},
        {"noise", &Reader::add_noise},  {"line", &Reader::add_telling},
        {"misuse", &Reader::add_misuse}};
    const auto* const table =
        std::ranges::find(kTables, table_, &std::pair<std::string_view, void (Reader::*)()>::first);
    if (table == std::end(kTables)) fail(fmt::format("'{}' names no table", table_));
    (this->*table->second)();
  }

  // The place among `words` of the flag that is one of them; it is taken out.
  std::optional<size_t> take(std::span<const std::string_view> words) {
    const auto flag = std::find_first_of(flags_.begin(), flags_.end(), words.begin(), words.end());
    if (flag == flags_.end()) return std::nullopt;
    const auto word = std::find(words.begin(), words.end(), *flag);
    flags_.erase(flag);
    return static_cast<size_t>(word - words.begin());
  }

  template <HasWords Enum>
  std::optional<Enum> take() {
    const std::optional<size_t> place = take(kWordsOf<Enum>);
    return place ? std::optional(static_cast<Enum>(*place)) : std::nullopt;
  }

  template <HasWords Enum>
  Enum must(std::string_view what) {
    const std::optional<Enum> value = take<Enum>();
    if (!value) fail(fmt::format("the heading names no {}", what));
    return *value;
  }

  bool flag(std::string_view word) { return take(std::span(&word, 1)).has_value(); }

  size_t window() {
    constexpr std::string_view kWithin = "within=";
    const auto flag = std::ranges::find_if(
        flags_, [&](std::string_view word) { return word.starts_with(kWithin); });
    if (flag == flags_.end()) return TextRule{}.window;
    const std::string_view number = flag->substr(kWithin.size());
    size_t most = 0;
    const auto [end, error] = std::from_chars(number.begin(), number.end(), most);
    if (error != std::errc() || end != number.end()) fail("'within=' takes a number");
    flags_.erase(flag);
    return most;
  }

  // The next text of the row.
  std::string text(std::string_view what) {
    if (texts_.empty()) fail(fmt::format("the row has no {}", what));
    std::string text = std::move(texts_.front());
    texts_.erase(texts_.begin());
    return text;
  }

  // One that every text which the row fits holds.
  std::string literal(std::string_view what) {
    std::string literal = text(what);
    if (literal.size() < FragmentSearch::kShortest) fail(fmt::format("the {} is too short", what));
    return literal;
  }

  // The group keeps what stands in front of the expression from becoming a part of its first
  // choice.
  Shape shape(const std::string& begin = "") {
    const std::string expression = text("shape");
    try {
      return Shape(begin.empty() ? expression : begin + "(?:" + expression + ")");
    } catch (const std::invalid_argument& mistake) {
      fail(mistake.what());
    }
  }

  std::string name() const {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-+.";
    const bool good = !name_.empty() && name_.find_first_not_of(kLetters) == std::string_view::npos;
    if (!good) fail(fmt::format("'{}' is no name", name_));
    return std::string(name_);
  }

  // Adds a row to its table, and refuses what nothing took of it.
  template <typename Row>
  void add(std::vector<Row>& table, Row row) {
    if (!flags_.empty()) fail(fmt::format("'{}' is no flag here", flags_.front()));
    if (!texts_.empty()) fail("the row has a text too many");
    if constexpr (requires { row.name; }) {
      const bool twice = std::ranges::find(table, row.name, &Row::name) != table.end();
      if (twice) fail(fmt::format("'{}' names two rows", row.name));
    }
    table.push_back(std::move(row));
  }

  // Of "image`function".
  static std::pair<std::string, std::string> image_and_function(std::string_view frame) {
    const size_t tick = frame.find('`');
    if (tick == std::string_view::npos) return {"", std::string(frame)};
    return {std::string(frame.substr(0, tick)), std::string(frame.substr(tick + 1))};
  }

  // The whole line: names of functions hold blanks and quotes.
  void take_frame() {
    texts_.clear();
    flags_ = heading_flags_;
    const bool own = table_ == "own";
    const Passing meaning = own ? Passing::placeholder : must<Passing>("meaning");
    const auto [image, function] = image_and_function(line_);
    add(own ? rules_.own : rules_.frames, {meaning, image, function});
  }

  TextRule rule() {
    TextRule row{name(), must<TextClass>("class"), text("title")};
    row.fragments.push_back(literal("fragment"));
    row.place = take<Place>().value_or(row.place);
    return row;
  }

  void add_text() {
    TextRule row = rule();
    row.window = window();
    row.known = true;
    while (!texts_.empty() && row.fragments.size() < kMostFragments) {
      row.fragments.push_back(literal("fragment"));
    }
    add(rules_.texts, std::move(row));
  }

  void add_form() {
    TextRule row = rule();
    row.shape = shape();
    row.from_the_line = flag("from-the-line");
    row.counts = take<Counts>().value_or(row.counts);
    row.known = flag("known");
    row.takes_leads = flag("takes-leads");
    row.uncaught = flag("uncaught");
    row.mute = flag("mute");
    row.by_stacks = flag("by-stacks");
    add(rules_.texts, std::move(row));
  }

  void add_mask() {
    // Not behind a character of a name, unless a flag says: behind one alone, wherever it fits, or
    // behind a blank, a quote, a bracket or an equals sign.
    std::string begin = R"((?<!\w))";
    if (flag("within-a-name")) begin = R"((?<=[\w\]')]))";
    if (flag("anywhere")) begin = "";
    if (flag("apart")) begin = R"((?<![^ '(\[{=,:]))";
    Mask row{name(), shape(begin), texts_.empty() ? "" : text("stand-in")};
    row.ends_the_title = flag("ends-the-title");
    add(rules_.masks, std::move(row));
  }

  void add_lead() { add(rules_.leads, Mask{name(), shape(), ""}); }
  void add_noise() { add(rules_.noise, Mask{name(), shape(), ""}); }
  void add_telling() { add(rules_.telling, Telling{name(), must<Rank>("rank"), shape()}); }

  void add_misuse() {
    const auto [image, function] = image_and_function(name_);
    add(rules_.misuses, MisuseFrame{image, function, text("title")});
  }

  const RuleFile& file_;
  Rules& rules_;
  size_t number_ = 0;  ///< of the line
  std::string_view line_;
  bool sourced_ = false;
  std::string_view table_;  ///< that the heading names
  std::vector<std::string_view> heading_flags_;
  std::vector<std::string_view> words_;
  // What is left of the row that is read.
  std::string_view name_;
  std::vector<std::string_view> flags_;
  std::vector<std::string> texts_;
};

}  // namespace

std::span<const RuleFile> rule_files() {
  return kFiles;
}

void read_rules(const RuleFile& file, Rules& rules) {
  Reader(file, rules).read();
}

const Rules& Rules::standard() {
  static const Rules rules = [] {
    Rules read;
    for (const RuleFile& file : kFiles) read_rules(file, read);
    return read;
  }();
  return rules;
}

}  // namespace mpsprobe
