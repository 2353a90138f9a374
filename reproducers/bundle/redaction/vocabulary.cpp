#include "reproducers/bundle/redaction/vocabulary.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/signature/rules.h"
#include "reproducers/bundle/redaction/known_text.h"
#include "reproducers/bundle/redaction/personal.h"
#include "reproducers/bundle/redaction/text_scan.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostDigits = 6;
constexpr size_t kMostHexDigits = 16;
constexpr size_t kMostDigitGroups = 3;
constexpr size_t kMostSingleLetters = 2;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// The words of a name: "MTLComputePipeline_x2" has MTL, Compute, Pipeline, x and 2.
std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < name.size();) {
    size_t end = i + 1;
    if (is_digit(name[i])) {
      while (end < name.size() && is_digit(name[end])) ++end;
    } else if (is_upper(name[i])) {
      while (end < name.size() && is_upper(name[end])) ++end;
      const bool next_word = end < name.size() && is_lower(name[end]);
      if (next_word && end - i > 1) {
        --end;
      } else {
        while (next_word && end < name.size() && is_lower(name[end])) ++end;
      }
    } else if (is_lower(name[i])) {
      while (end < name.size() && is_lower(name[end])) ++end;
    }
    words.push_back(name.substr(i, end - i));
    i = end;
  }
  return words;
}

/// Words of the vocabulary that people are named by as well: known alone and in lower case, and ...
constexpr std::array kNamesOfPeople{
    "ada",   "adam",  "alma",   "bert",     "blackwell", "chance", "cross",  "don",
    "green", "hal",   "haven",  "hopper",   "judge",     "lang",   "little", "marks",
    "may",   "noble", "pascal", "patience", "price",     "rocky",  "sid",    "strong",
    "sun",   "tesla", "turing", "volta",    "wall",      "wild",   "will"};
/// ... as a part of other names: "page_size".
constexpr std::array kPartsOfNames{"field",  "fields", "kern",  "steel", "lane", "long",
                                   "master", "mat",    "max",   "norm",  "page", "power",
                                   "rand",   "short",  "small", "val"};

using Words = std::set<std::string, std::less<>>;
struct Vocabulary {
  Words words;        ///< in lower case
  Words capitalised;  ///< "Invalid", and what names of APIs are made of: "Pipeline"
};

template <typename List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), ascii_lower(word)) != list.end();
}

bool is_capitalised(std::string_view word) {
  return word.size() > 1 && is_upper(word[0]) &&
         std::all_of(word.begin() + 1, word.end(), is_lower);
}

/// Words of letters in what a rule says, without its classes of characters ("\w").
void add_words(std::string_view text, Vocabulary& known) {
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\\') {
      i += 2;
      continue;
    }
    size_t end = i;
    while (end < text.size() && (is_lower(text[end]) || is_upper(text[end]))) ++end;
    const std::string_view whole = text.substr(i, end - i);
    for (std::string_view word : words_of(whole)) {
      if (is_capitalised(word)) known.capitalised.emplace(word);
      if (word.size() > 1) known.words.insert(ascii_lower(word));
    }
    i = std::max(end, i + 1);
  }
}

const Vocabulary& vocabulary() {
  static const Vocabulary words = [] {
    Vocabulary all;
    for (const char* word : {
#include "technical_words.inc"
         }) {
      add_words(word, all);
    }
    const Rules& rules = Rules::standard();
    for (const KnownText& known : rules.texts) {
      add_words(known.title, all);
      for (const std::string& fragment : known.fragments) add_words(fragment, all);
    }
    for (const Form& form : rules.forms) {
      add_words(form.title, all);
      add_words(form.anchor, all);
    }
    for (const MisuseFrame& misuse : rules.misuses) {
      for (const std::string* text : {&misuse.title, &misuse.image, &misuse.function}) {
        add_words(*text, all);
      }
    }
    for (const PassingFrame& frame : rules.frames) {
      add_words(frame.image, all);
      add_words(frame.function, all);
    }
    return all;
  }();
  return words;
}

/// As compilers for C++ write names; on Apple's systems with one more '_'.
bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("__Z");
}

/// "81234560kB", "512MiB"
bool is_amount_of_memory(std::string_view name) {
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  constexpr std::array<std::string_view, 8> kUnits{"kB", "KB",  "MB",  "GB",
                                                   "TB", "KiB", "MiB", "GiB"};
  return digits > 0 && std::find(kUnits.begin(), kUnits.end(), name.substr(digits)) != kUnits.end();
}

bool is_technical_function(std::string_view mangled) {
  if (mangled.starts_with("__")) mangled.remove_prefix(1);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), std::free);
  return demangled != nullptr && is_known_name(demangled.get());
}

}  // namespace

bool is_name_of_people(std::string_view word) {
  return holds(kNamesOfPeople, word) || holds(kPartsOfNames, word);
}

bool is_technical_word_alone(std::string_view word, bool begins) {
  if (word.size() < 2 || !is_upper(word.front())) return true;
  if (is_name_of_people(word)) return false;
  return begins || !is_capitalised(word) || vocabulary().capitalised.contains(word);
}

bool is_technical_word(std::string_view lower) {
  if (vocabulary().words.contains(lower) ||
      (lower != "planted" && PersonalStrings::is_own_word(lower))) {
    return true;  // "planted" is of simulated defects, which are words of ours alone
  }
  // "kernels", "libcudart"
  if (lower.size() > 3 && lower.ends_with('s'))
    return is_technical_word(lower.substr(0, lower.size() - 1));
  return lower.size() > 4 && lower.starts_with("lib") && is_technical_word(lower.substr(3));
}

bool is_technical_name(std::string_view name) {
  if (name.size() > 2 && name[0] == '0' && (name[1] == 'x' || name[1] == 'X')) {
    return name.size() <= 2 + kMostHexDigits &&
           std::all_of(name.begin() + 2, name.end(), is_hex_digit);
  }
  if (is_mangled(name)) return is_technical_function(name);
  if (is_amount_of_memory(name)) return true;
  if (name.starts_with("000"))
    name.remove_prefix(std::min(name.find_first_not_of('0'), name.size()));
  size_t letters_alone = 0;
  size_t digits = 0;
  size_t groups = 0;
  size_t known = 0;  // words that chance hardly makes
  size_t words = 0;
  size_t people = 0;  // of them
  for (std::string_view word : words_of(name)) {
    const char first = word.front();
    if (first == '_') continue;
    if (is_digit(first)) {
      if (word.size() > kMostDigits) return false;
      digits += word.size();
      ++groups;
      continue;
    }
    if (!is_lower(first) && !is_upper(first)) return false;
    if (word.size() == 1) {
      ++letters_alone;
    } else if (is_technical_word(ascii_lower(word))) {
      ++words;
      people += is_name_of_people(word) ? 1 : 0;
      if (word.size() < name.size() && holds(kNamesOfPeople, word)) return false;
      known += word.size() > 2 ? 1 : 0;
    } else {
      return false;
    }
  }
  if (people > 1 && people == words) return false;
  return digits <= kMostDigits + 2 * known && groups <= kMostDigitGroups + known &&
         letters_alone <= kMostSingleLetters + known;
}

}  // namespace mpsprobe
