#include "reproducers/bundle/redaction/known_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "harness/signature/known_lines.h"
#include "harness/signature/plain_text.h"
#include "reproducers/bundle/redaction/pattern.h"
#include "reproducers/bundle/redaction/software_names.h"
#include "reproducers/bundle/redaction/text_scan.h"
#include "reproducers/bundle/redaction/vocabulary.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostLine = 4096;
/// Decimal digits in a row that may be of a phone, a card or a person; and behind words that speak
/// of somebody.
constexpr size_t kManyDigits = 7;
constexpr size_t kManyOfSomebody = 3;
constexpr size_t kManyOfWhole = 9;
constexpr size_t kMostOfWhole = 12;
constexpr size_t kMostLettersAlone = 3;

bool is_digit_byte(char c) {
  return c >= '0' && c <= '9';
}

bool is_word_byte(char c) {
  return c == '_' || (is_name_byte(c) && static_cast<unsigned char>(c) < 0x80);
}

/// Bytes of a typographic quotation mark, dash or ellipsis (U+2010 to U+2027) at text[at]; 0: none.
size_t mark_at(std::string_view text, size_t at) {
  const bool general = text.substr(at, 2) == "\xE2\x80" && at + 2 < text.size();
  const auto last = general ? static_cast<unsigned char>(text[at + 2]) : 0U;
  return last >= 0x90 && last <= 0xA7 ? 3 : 0;
}

/// What stands between chunks, which are known or not as a whole.
bool is_between(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
         std::string_view("'\"`<>()[]{},;=|!?*&^+").find(c) != std::string_view::npos;
}

/// "$12" is an amount of somebody's, "a.b.c.d" a name in pieces.
bool all_names_known(std::string_view chunk, Names names) {
  size_t letters_alone = 0;
  size_t parts = 0;
  size_t people = 0;
  for (size_t i = 0; i < chunk.size();) {
    if (!is_word_byte(chunk[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < chunk.size() && is_word_byte(chunk[end])) ++end;
    const std::string_view name = chunk.substr(i, end - i);
    if (i > 0 && chunk[i - 1] == '$' && is_digit_byte(name.front())) return false;
    i = end;
    parts += is_digit_byte(name.front()) ? 0 : 1;
    people += is_name_of_people(name) ? 1 : 0;
    letters_alone += name.size() == 1 && !is_digit_byte(name.front()) ? 1 : 0;
    const bool symbol = names == Names::symbols && !is_digit_byte(name.front());
    if (!symbol && !is_technical_name(name)) return false;
  }
  return letters_alone <= kMostLettersAlone && (people < 2 || people < parts) &&
         (people == 0 || people + 1 < parts ||
          ending_of_software(chunk.substr(0, chunk.find(':'))).empty());
}

/// Of a machine in a network; the number of a phone or a day that is written like one.
bool is_address(std::string_view chunk) {
  static const Pattern kAddress(
      R"(^\d{1,3}(?:\.\d{1,3}){3}$|^\d{3}\.\d{3}\.\d{4}$|^\d{1,2}\.\d{1,2}\.\d{4}$|^[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}$)"
      R"(|^[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}$|^(?:[0-9A-Fa-f]*:){4,}[0-9A-Fa-f]*$)");
  return kAddress.in(chunk);
}

/// A release ("2.15.0.dev20260131+cu130"), a small fraction ("0.00012207", "1.19e-07"), or a whole
/// number; without_long_numbers() looks at what stands around that.
bool is_number_or_release(std::string_view chunk) {
  static const Pattern kShapes(
      R"(^v?\d{1,4}(?:\.\d{1,4}){1,3}(?:[.+-]?(?:dev|rc|a|b|post|cpu|cu|git|alpha|beta|amd|arm)[0-9a-f]{0,12})*$)"
      R"(|^[+-]?(?:0\.\d{1,20}|\d{1,3}\.\d{1,20}e[+-]?\d{1,3}|\d{1,3}e[+-]?\d{1,3}|\d{1,20}(?:\.\d{1,20})?(?:[kKMGT]i?B)?)$)"
      R"(|^\d{1,2}:\d\d:\d\d[.,]?\d{0,9}$)");
  return kShapes.in(chunk);
}

class Known {
 public:
  Known(std::string_view text, Names names, Numbers numbers)
      : text_(text), names_(names), numbers_(numbers) {}

  std::string take() {
    for (size_t i = 0; i < text_.size();) {
      if (const size_t mark = mark_at(text_, i); mark > 0) {
        result_ += text_.substr(i, mark);
        i += mark;
        continue;
      }
      if (is_between(text_[i])) {
        result_ += text_[i++];
        continue;
      }
      size_t end = i;
      while (end < text_.size() && !is_between(text_[end]) && mark_at(text_, end) == 0) ++end;
      const bool of_image = i > 0 && text_[i - 1] == '<' && end < text_.size() && text_[end] == '>';
      if (of_image && is_build_id(text_.substr(i, end - i))) {
        result_ += text_.substr(i, end - i);
      } else {
        constexpr size_t kAround = 24;
        before_ = text_.substr(i - std::min(i, kAround), std::min(i, kAround));
        behind_ = text_.substr(end, 3);
        begins_ = begins_sentence();
        chunk(text_.substr(i, end - i));
      }
      i = end;
    }
    return std::move(result_);
  }

 private:
  void chunk(std::string_view whole) {
    // What closes a clause is no part of a name.
    const std::string_view bare = whole.substr(0, whole.find_last_not_of(":.") + 1);
    if (!bare.empty()) name(bare);
    result_ += whole.substr(bare.size());
  }

  void name(std::string_view chunk) {
    const bool ascii = std::all_of(chunk.begin(), chunk.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (!ascii) {
      result_ += kNotKnown;
    } else if (chunk.find('@') != std::string_view::npos) {
      static const Pattern kLoaders(
          R"(^@(?:rpath|loader_path|executable_path)/|^\w+@@?(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+$|^\w*@plt$)");
      keep(chunk, kLoaders.in(chunk) && all_names_known(chunk, names_));
    } else if (chunk.find_first_of("/\\") != chunk.npos || chunk.starts_with("~/")) {
      path(chunk);
    } else if (chunk.find('~') != chunk.npos) {
      keep(chunk, is_destructor(chunk) && is_known(chunk));
    } else {
      const bool address = numbers_ == Numbers::harmless && is_address(chunk);
      keep(chunk, !address && is_known(chunk));
    }
  }

  bool is_known(std::string_view chunk) const {
    // Two bytes as numbers, a month in front of a day.
    static const Pattern kBytes(R"(^[0-9a-f]{2}(?::[0-9a-f]{2})?$)");
    static const Pattern kMonth(R"(^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)$)");
    static const Pattern kDay(R"(^ {1,2}\d)");
    static const Pattern kBehindHash(
        R"((?i)(?<![a-z_])(?:sha-?\d{1,3}|md5|commit|git(?: hash)?|(?:lc_)?uuid|build id|base64[a-z ]*|adler|crc32)[:= (]*$)");
    static const Pattern kHash(R"(^[0-9A-Fa-f-]{6,128}$|^[A-Za-z0-9/]{8,}$)");
    // What people, tickets, badges and doors are numbered by: "E-77120", "221B".
    static const Pattern kNumbered(R"(^[A-Za-z]{1,2}-\d{4,}$|^\d{3}[A-Z]$)");
    if (kNumbered.in(chunk)) return false;
    static const Pattern kChip(R"(^(?:Max|Pro|Ultra)$)");
    static const Pattern kBehindChip(R"(M\d+ $)");
    if ((kMonth.in(chunk) && kDay.in(behind_)) || (kChip.in(chunk) && kBehindChip.in(result_))) {
      return true;
    }
    // A word or a number there is somebody's, whatever it is; in whole output patterns say so.
    static const Pattern kOfSomebody(
        R"((?i)(?<![a-z])(?:login|password|passphrase|pwd|pin)[ :='"]{1,3}$)");
    if (numbers_ == Numbers::harmless && kOfSomebody.in(before_)) return false;
    if (names_ == Names::words && !is_technical_word_alone(chunk, begins_)) return false;
    const size_t space = chunk.find("::");  // of names, as C++ and Rust write it
    const bool function = space != std::string_view::npos && chunk.find(":::") == chunk.npos &&
                          is_technical_name(chunk.substr(0, space));
    return all_names_known(chunk, function ? Names::symbols : names_) ||
           is_number_or_release(chunk) || kBytes.in(chunk) ||
           (numbers_ == Numbers::any && kHash.in(chunk) &&
            kBehindHash.in(std::string_view(result_).substr(result_.size() -
                                                            std::min<size_t>(result_.size(), 24))));
  }

  /// "~Tensor", "c10::~TensorImpl"
  static bool is_destructor(std::string_view chunk) {
    static const Pattern kDestructor(R"((?:^|::)~[A-Z]\w*$|::~\w+$)");
    return kDestructor.in(chunk);
  }

  void keep(std::string_view chunk, bool known) {
    // Of "6.1.0-janes" the release.
    static const Pattern kReleaseOf(R"(^\d{1,3}\.\d{1,3}\.\d{1,4}[+-](?=[a-z]))");
    if (known) {
      result_ += chunk;
    } else if (kReleaseOf.in(chunk)) {
      result_ += chunk.substr(0, chunk.find_first_of("+-") + 1);
      result_ += kNotKnown;
    } else {
      result_ += kNotKnown;
    }
  }

  /// A path of the system as it is, of any other its last part, and the lines named behind it.
  void path(std::string_view whole) {
    size_t end = whole.find(':');
    const bool scheme = end != std::string_view::npos && whole.substr(end).starts_with("://");
    if (scheme) end = std::string_view::npos;
    const std::string_view path = whole.substr(0, end);
    const std::string_view behind = whole.substr(path.size());
    const bool system = is_path_of_the_system(path) || path.starts_with("/AppleInternal/") ||
                        path.starts_with("/dev/");
    const bool at_root =
        path.starts_with('/') || path.starts_with('~') || path.find('\\') != path.npos;
    static const Pattern kDayInALog(R"(^\d\d/[A-Z][a-z]{2}/\d{4}$)");
    if (system || path == "/" || kDayInALog.in(path) ||
        ((!at_root || path.starts_with("/usr/local/lib/") ||
          path.starts_with("/opt/homebrew/lib/")) &&
         is_known_name(path))) {
      result_ += path;
    } else if (scheme || path.find('\\') != path.npos) {
      result_ += kNotKnown;
    } else {
      const std::string_view last = path.substr(path.find_last_of('/') + 1);
      result_ += path.starts_with("~/") ? "~/" : "*/";
      if (!last.empty()) keep(last, is_known_file(last));
    }
    if (!behind.empty()) chunk_behind(behind);
  }

  void chunk_behind(std::string_view behind) {
    const size_t begin = std::min(behind.find_first_not_of(':'), behind.size());
    result_ += behind.substr(0, begin);
    if (begin < behind.size()) chunk(behind.substr(begin));
  }

  std::string_view text_;
  Names names_;
  Numbers numbers_;
  /// Whether nothing stands before that a sentence goes on from.
  bool begins_sentence() const {
    const size_t last = result_.find_last_not_of(" \t");
    if (last == std::string::npos) return true;
    return !is_word_byte(result_[last]) &&
           std::string_view(",>&").find(result_[last]) == std::string_view::npos;
  }

  std::string_view before_;
  std::string_view behind_;
  bool begins_ = true;  ///< the chunk that is looked at
  std::string result_;
};

/// Numbers that stand together and may be one of a phone, a card or a person. What is written as a
/// time, a release, a small fraction, an amount of something or behind the name of one is none.
/// `whole`: of those only what is as long as a phone's or a person's, and one number or grouped.
std::string without_long_numbers(const std::string& text, size_t many, bool whole = false) {
  static const Pattern kNumbers(R"((?<![\w.])[(+]{0,2}\d(?:[ .()/-]{0,2}\d)+(?!\w))");
  static const Pattern kHarmless(
      R"(^0\.\d+$|^\(*0000\d+$|^\d{1,3}\.\d{1,4}$|^\d{4}-\d\d-\d\d \d\d$|^\d{1,4}(?:\.\d{1,4}){2,3}$)"
      R"(|^(?:1073741824|214748364[78]|429496729[56])$)");  // limits of integers
  static const Pattern kBehind(
      R"(^(?:e[+-]?\d| ?(?:bytes|[KMGT]i?B|B|ns|us|ms|s|calls|steps|iterations|elements|ops|threads)\b))");
  static const Pattern kBefore(
      R"((?i)(?:\d:|[0-9a-f]{4}-|(?<![0-9a-z])(?:[0-9a-f][a-f]|[a-f]\d) {1,2}|(?<![a-z])(?:region|registry id|seed|bytes|size|count|ticks|clock|total|limit|allocated|allocate|offset)[:= ]{1,2})$)");
  // As numbers of phones are written, and no table.
  static const Pattern kGroups(R"(^[(+]{0,2}\d{1,4}(?:[ .()/-]{1,2}\d{2,4})+$)");
  constexpr size_t kAround = 24;
  std::string result;
  size_t done = 0;
  size_t reached = 0;
  const bool whole_text = kNumbers.each(
      text,
      [&](Pattern::Part part, Pattern::Part) {
        const std::string_view found(text.data() + part.begin, part.end - part.begin);
        const auto digits =
            static_cast<size_t>(std::count_if(found.begin(), found.end(), is_digit_byte));
        if (digits < many) return;
        const bool one = digits == found.size();
        if (whole && (digits > kMostOfWhole || (one ? digits < kManyOfWhole : !kGroups.in(found))))
          return;
        const size_t front = part.begin - std::min(part.begin, kAround);
        const bool harmless = (kHarmless.in(found) && !is_address(found)) ||
                              kBehind.in(std::string_view(text).substr(part.end, kAround)) ||
                              kBefore.in(std::string_view(text).substr(front, part.begin - front));
        if (harmless) return;
        result.append(text, done, part.begin - done);
        result += kNotKnown;
        done = part.end;
      },
      &reached);
  result.append(text, done, (whole_text ? text.size() : std::max(done, reached)) - done);
  return result;
}

/// A number that stands behind a word stays where that word counts, measures or places something:
/// behind any other it may be of an order, a customer or a door.
std::string without_numbers_of_things(const std::string& text) {
  static const Pattern kBehindAnyWord(
      R"((?<!\w)(?!(?i:process|pid|of|not|line|length|in|id|block|allocate|after|size|seed|row|offset|ch|hexdump|steps?|index|at|to|is|than|max|limit|count|bytes|iterations?|threads?) )(?:[A-Za-z][a-z]+|<\.\.\.>) (\d{4,})(?![\w.]| ?(?:bytes?|[kKMG]i?B|ns|us|ms|s)\b))");
  std::string result;
  size_t done = 0;
  size_t reached = 0;
  const bool whole = kBehindAnyWord.each(
      text,
      [&](Pattern::Part, Pattern::Part number) {
        result.append(text, done, number.begin - done);
        result += kNotKnown;
        done = number.end;
      },
      &reached);
  result.append(text, done, (whole ? text.size() : std::max(done, reached)) - done);
  return result;
}

/// Behind these words stands what is nobody else's business, of whatever words it is made.
bool speaks_of_somebody(std::string_view line) {
  static const Pattern kWords(
      R"((?i)(?<![a-z])(?:pass\w*|pwd|pin|secrets?|tokens?|keys?|otp|credentials?|auth\w*|login|logged|user\w*|name\w*|mail|phone|tel|mobile|fax|host\w*|serial|account|born|birth\w*|code|owner|author|by|from|dear|hello|hi)(?![a-z]))");
  return kWords.in(line);
}

bool has_many_digits(std::string_view line) {
  static const Pattern kLong(R"((?<![\w.])\d{5,}|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d)");
  return kLong.in(line);
}

/// Whether a line of a stack is of an image or a file that a library brought: its functions are
/// nobody's own.
bool names_a_library(std::string_view line, const FrameLine& frame) {
  static const Pattern kPython(
      R"(^\s*File "(?:/usr/lib/|/System/|[^"]*/(?:site-packages|dist-packages|lib/python\d\.\d+)/))");
  static const Pattern kOfLibrary(R"(\b(?:from|in) (?:\S*/)?([\w.+-]+?\.(?:so|dylib)[\d.]*)\)?$)");
  if (kPython.in(line)) return true;
  if (frame.image_end > frame.image_begin) {
    return is_known_name(line.substr(frame.image_begin, frame.image_end - frame.image_begin));
  }
  bool known = false;
  size_t reached = 0;
  kOfLibrary.each(
      line,
      [&](Pattern::Part, Pattern::Part name) {
        known = is_known_name(line.substr(name.begin, name.end - name.begin));
      },
      &reached);
  return known;
}

/// A line of which something is known, or nothing.
std::string known_line(std::string_view raw, bool read_by_a_rule) {
  const std::string line = readable_text(raw.substr(0, kMostLine));
  FrameLine frame;
  if (is_frame_line(line, frame)) {
    std::string kept = only_known(line.substr(0, frame.image_end), Names::words);
    kept += only_known(line.substr(frame.image_end, frame.symbol_begin - frame.image_end),
                       Names::words);
    kept += only_known(line.substr(frame.symbol_begin, frame.symbol_end - frame.symbol_begin),
                       names_a_library(line, frame) ? Names::symbols : Names::words);
    return kept + only_known(line.substr(frame.symbol_end), Names::words);
  }
  std::string kept = only_known(line, Names::words);
  if (read_by_a_rule) return kept;
  const bool whole = kept == line && !speaks_of_somebody(line) && !has_many_digits(line);
  return whole ? kept : "";
}

}  // namespace

bool is_build_id(std::string_view id) {
  return id.size() >= 4 && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
           return is_digit_byte(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
                  c == '-' || c == ':';
         });
}

bool is_known_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; }) &&
         all_names_known(name, Names::words);
}

bool is_known_file(std::string_view name) {
  return is_name_of_a_file_of_software(name) && is_known_name(name);
}

std::string only_known(std::string_view text, Names names, Numbers numbers) {
  std::string known = Known(text, names, numbers).take();
  const bool any = numbers == Numbers::any;
  const size_t many = any ? kManyDigits : speaks_of_somebody(text) ? kManyOfSomebody : kManyDigits;
  return without_numbers_of_things(without_long_numbers(known, many, any));
}

std::string readable_text(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\t' || c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  });
  return plain ? std::string(text) : plain_text(text, std::max(kMostLine, text.size())).text;
}

KnownLines only_known_lines(std::string_view text) {
  const std::vector<size_t> read = places_that_rules_read(text);
  KnownLines known;
  size_t waiting = 0;
  auto place = read.begin();
  const auto say_left_out = [&known, &waiting] {
    if (waiting > 0) {
      known.text += fmt::format("[... {} left out ...]\n",
                                waiting == 1 ? "1 line" : fmt::format("{} lines", waiting));
    }
    known.left_out += waiting;
    waiting = 0;
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    while (place != read.end() && *place < begin) ++place;
    const std::string_view line = text.substr(begin, end - begin);
    const bool by_a_rule = place != read.end() && *place <= end;
    const bool blank = line.find_first_not_of(" \t") == std::string_view::npos;
    const std::string kept = blank ? "" : known_line(line, by_a_rule);
    if (!kept.empty()) {
      say_left_out();
      known.text += kept + '\n';
    } else if (!blank) {
      ++waiting;
    }
    begin = end + 1;
  }
  say_left_out();
  // One that ended without a break still does: a message is compared and shown as one line.
  if (known.text.ends_with('\n') && !text.ends_with('\n')) known.text.pop_back();
  return known;
}

}  // namespace mpsprobe
