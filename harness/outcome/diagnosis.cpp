#include "harness/outcome/diagnosis.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "harness/outcome/pattern_search.h"
#include "harness/outcome/reading.h"
#include "harness/text/normal_text.h"
#include "harness/title/clause.h"
#include "harness/title/title.h"

namespace mpsprobe {
namespace {

constexpr size_t kLongestTitle = 160;
constexpr size_t kLongestExcerpt = 600;
constexpr size_t kLongestReading = 600;
// Forms are read in order of place until there are this many findings: more than the table has
// complete titles, by more than kMostFindings, so the first kMostFindings by place are among them.
// Those that end a process are read on, up to as many again.
constexpr size_t kMostCollected = 256;

bool ends_with_place(std::string_view before) {
  // "file.mm:78:", "]:78:", "prog[1:2]", "program: file.cpp:12: void f():"
  return before.ends_with(':') || before.ends_with(']');
}

// Whether a match stands where its pattern may count, and not in a comment, a warning or what
// pytest says of a failure that was expected.
bool in_place(const NormalText& normal, const Match& match) {
  const Reader reader{normal, normal.text.size()};
  const size_t line = reader.line_begin(match.begin);
  const std::string_view before = reader.slice(line, match.begin);
  if (before.starts_with("#") || before.starts_with("* ") || before.starts_with("/*") ||
      before.starts_with("//") || before.starts_with("XFAIL ") ||
      before.find(" // ") != std::string_view::npos ||
      before.find(" /* ") != std::string_view::npos) {
    return false;
  }
  switch (match.pattern->place) {
    case Place::anywhere:
      return true;
    case Place::line_start:
      return before.empty();
    case Place::unwarned:
      return before.find("Warning: ") == std::string_view::npos;
    case Place::after_source: {
      if (before.empty()) {
        // A wrapped message: what stands in front of it is on the line above.
        return true;
      }
      return ends_with_place(before.substr(0, before.find_last_not_of(' ') + 1));
    }
  }
  return false;
}

// Metal's older wording, "], line 7: error 'message'", is not what complete patterns hold.
std::string known_by_older_wording(const Pattern& pattern, std::string_view message) {
  return pattern.fragments[0] == "], line " ? known_message_title(message) : "";
}

std::string make_title(const Pattern& pattern, std::string_view message) {
  std::string title = known_by_older_wording(pattern, message);
  if (!title.empty()) return title;
  title = pattern.title;
  if (pattern.reading == Reading::none) return title;
  // An exception's text may hold the words of others that passed it on.
  const bool passed_on = pattern.text_class == TextClass::exception && pattern.title.empty();
  std::string rest = passed_on ? clause_title(message) : normalise_title(message);
  // Rust and Swift end a process over an error of another library, which is its title.
  if (pattern.passes_on) {
    std::string inner = clause_title(message);
    if (inner != rest || inner.starts_with('[')) return inner;
  }
  if (pattern.reading == Reading::above) {
    // MPSGraph's error is the same whether its compiler gave up over it or not.
    if (!rest.empty()) title = std::string(kGraphError) + rest;
  } else {
    title += rest.empty() ? "without a text" : rest;
  }
  if (title.size() > kLongestTitle) title.resize(kLongestTitle);
  while (title.ends_with(' ')) title.pop_back();
  return title;
}

// The runtime's own words about an exception that nobody caught.
bool is_uncaught_form(const Match& match) {
  const Reading reading = match.pattern->reading;
  return reading == Reading::thrown || reading == Reading::typed || reading == Reading::reason;
}

// From those words to the end of the message that they tell. The spans do not overlap, so all
// together read each character once.
using Spans = std::vector<std::pair<size_t, size_t>>;
Spans uncaught_spans(const NormalText& normal, const std::vector<Match>& forms, size_t& steps) {
  Spans spans;
  for (size_t i = 0; i < forms.size(); ++i) {
    if (!is_uncaught_form(forms[i])) continue;
    size_t next = i + 1;
    while (next < forms.size() && !is_uncaught_form(forms[next])) ++next;
    size_t stop = std::min(normal.text.size(), forms[i].end + kLongestReading);
    if (next < forms.size()) stop = std::max(forms[i].end, std::min(stop, forms[next].begin));
    steps += stop - forms[i].end + next - i;
    const Reader reader{normal, stop};
    const std::optional<ReadText> reading = read_match(reader, forms[i]);
    spans.emplace_back(forms[i].begin, reading ? reading->end : reader.line_end(forms[i].end));
    i = next - 1;
  }
  return spans;
}

bool is_within(const Spans& spans, size_t place) {
  const auto after = std::upper_bound(
      spans.begin(), spans.end(), place,
      [](size_t wanted, const std::pair<size_t, size_t>& span) { return wanted < span.first; });
  return after != spans.begin() && place < std::prev(after)->second;
}

// The lines around a match as they were, cut at whole characters.
std::string make_excerpt(std::string_view original, const NormalText& normal, size_t begin,
                         size_t end) {
  const Reader reader{normal, std::min(normal.text.size(), end + kLookBack)};
  size_t first = normal.origin[reader.line_begin(begin)];
  size_t last = normal.origin[reader.line_end(std::min(end, reader.stop))];
  // Escapes between two characters can be long, and the two halves of a text far apart.
  if (last - first > kLongestExcerpt) {
    first =
        std::max(first, normal.origin[begin] - std::min<size_t>(normal.origin[begin], kLookBack));
    last = std::min(last, first + kLongestExcerpt);
  }
  const auto inside = [&](size_t i) {
    return i < original.size() && (static_cast<unsigned char>(original[i]) & 0xc0U) == 0x80U;
  };
  for (int i = 0; i < 3 && first < last && inside(first); ++i) ++first;
  for (int i = 0; i < 3 && last > first && inside(last); ++i) --last;
  return std::string(original.substr(first, last - first));
}

}  // namespace

std::string_view name_of(TextClass text_class) {
  switch (text_class) {
    case TextClass::assertion:
      return "assertion";
    case TextClass::exception:
      return "exception";
    case TextClass::gpu_error:
      return "gpu_error";
    case TextClass::out_of_memory:
      return "out_of_memory";
    case TextClass::setup_failed:
      return "setup_failed";
    case TextClass::unsupported:
      return "unsupported";
    case TextClass::memory_corruption:
      return "memory_corruption";
    case TextClass::abort_message:
      return "abort_message";
  }
  return "abort_message";
}

bool ends_the_process(TextClass text_class) {
  return text_class == TextClass::assertion || text_class == TextClass::memory_corruption ||
         text_class == TextClass::abort_message;
}

void cut_findings(std::vector<Finding>& findings) {
  if (findings.size() <= kMostFindings) return;
  std::vector<Finding> last;
  for (size_t i = findings.size(); i > kMostFindings && last.size() < kMostLastWords; --i) {
    if (ends_the_process(findings[i - 1].text_class)) last.push_back(std::move(findings[i - 1]));
  }
  findings.resize(kMostFindings - last.size());
  std::move(last.rbegin(), last.rend(), std::back_inserter(findings));
}

std::vector<Finding> find_failures(std::string_view text, size_t* work) {
  const NormalText normal = normalise_text(text, kMostTextBytes, Logs::left_out);
  size_t steps = std::min(text.size(), kMostTextBytes);
  const std::vector<Match> matches = find_patterns(normal.text, steps);

  // What is recognised by its form. A reading ends where the next one begins, so that all of them
  // together read each character once, whatever the text repeats.
  std::vector<Match> forms;
  for (const Match& match : matches) {
    if (match.pattern->reading == Reading::none) continue;
    steps += kLookBack;
    if (!in_place(normal, match)) continue;
    // Of two forms that begin at one place the longer one says more.
    if (!forms.empty() && forms.back().begin == match.begin) forms.pop_back();
    forms.push_back(match);
  }
  const Spans uncaught = uncaught_spans(normal, forms, steps);

  std::vector<Finding> findings;
  std::set<std::string, std::less<>> titles;
  const auto add = [&](const Match& match, std::string title, size_t end) {
    if (!titles.insert(title).second) {
      if (!ends_the_process(match.pattern->text_class)) return;
      // Told when it might be survived, and again when it was not.
      const auto told = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
        return finding.title == title;
      });
      if (told->text_class != TextClass::exception) return;
      told->text_class = match.pattern->text_class;
      told->known = match.pattern->known;
      return;
    }
    findings.push_back({match.pattern->text_class, std::move(title),
                        make_excerpt(text, normal, match.begin, end), normal.origin[match.begin],
                        match.pattern->known, is_within(uncaught, match.begin)});
    steps += kLongestExcerpt;
  };

  // Complete patterns first: what they cover is explained, and no reading may start in it.
  std::vector<Match> covered;
  for (const Match& match : matches) {
    if (match.pattern->reading != Reading::none) continue;
    steps += kLookBack;
    if (!in_place(normal, match)) continue;
    covered.push_back(match);
    add(match, std::string(match.pattern->title), match.end);
  }

  size_t next_covered = 0;
  bool app_terminated = false;
  std::optional<Match> wrapper;
  for (size_t i = 0; i < forms.size() && findings.size() < 2 * kMostCollected; ++i) {
    const Match& match = forms[i];
    if (findings.size() >= kMostCollected && !ends_the_process(match.pattern->text_class)) continue;
    size_t stop = std::min(normal.text.size(), match.end + kLongestReading);
    const bool cut = i + 1 < forms.size() && forms[i + 1].begin < stop;
    if (cut) stop = std::max(match.end, forms[i + 1].begin);
    steps += stop - match.end;
    const std::optional<ReadText> reading = read_match(Reader{normal, stop}, match);
    const size_t end = reading ? std::max(reading->end, match.end) : match.end;
    while (next_covered < covered.size() && covered[next_covered].end <= match.begin) {
      ++next_covered;
    }
    const bool explained = next_covered < covered.size() && covered[next_covered].begin < end;
    if (wrapper && !reading && !explained) {
      // What it ran into was no form after all: its message goes on.
      steps += stop - wrapper->end;
      if (const auto whole = read_match(Reader{normal, stop}, *wrapper)) {
        add(*wrapper, make_title(*wrapper->pattern, whole->message), whole->end);
      }
    }
    wrapper.reset();
    if (!reading || explained) continue;
    // Why it could not be loaded says more, where the line goes on with it.
    if (match.pattern->title == kCannotLoad) {
      const Reader line{normal, stop};
      const size_t line_end = line.line_end(match.end);
      if (cut && line_end == stop) continue;
      if (next_covered < covered.size() && covered[next_covered].begin < line_end) continue;
    }
    // An uncaught exception, or a panic, whose message runs into another form: that one says more,
    // unless it turns out to be none.
    const bool wraps = match.pattern->reading == Reading::panic ||
                       (is_uncaught_form(match) && match.pattern->reading != Reading::reason);
    if (wraps && cut && end >= stop) {
      wrapper = match;
      continue;
    }
    if (match.pattern->reading == Reading::reason) app_terminated = true;
    // The C++ runtime's echo of an Objective-C exception that was told already.
    if (app_terminated && reading->message == "exception of type NSException") continue;
    add(match, make_title(*match.pattern, reading->message), end);
  }

  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.offset < b.offset; });
  cut_findings(findings);
  if (work != nullptr) *work = steps;
  return findings;
}

std::string known_message_title(std::string_view message) {
  const std::string text = "x.mm:1: failed assertion '" +
                           normalise_text(message.substr(0, kLongestReading), kLongestReading).text;
  size_t steps = 0;
  for (const Match& match : find_patterns(text, steps)) {
    if (match.pattern->reading == Reading::none) return std::string(match.pattern->title);
  }
  return "";
}

std::optional<TextClass> class_of_message(std::string_view message) {
  // What keeps a failure from counting as evidence first, then what says most about its cause.
  constexpr TextClass kOrder[] = {TextClass::unsupported,       TextClass::out_of_memory,
                                  TextClass::setup_failed,      TextClass::gpu_error,
                                  TextClass::memory_corruption, TextClass::assertion,
                                  TextClass::abort_message,     TextClass::exception};
  const std::vector<Finding> findings = find_failures(message);
  for (TextClass text_class : kOrder) {
    for (const Finding& finding : findings) {
      if (finding.text_class == text_class) return text_class;
    }
  }
  return std::nullopt;
}

}  // namespace mpsprobe
