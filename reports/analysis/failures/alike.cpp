#include "reports/analysis/failures/alike.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace mpsprobe {
namespace {

constexpr size_t kFewestShared = 3;
constexpr double kMostAlike = 0.7;

// Of two letters or more, in small letters.
std::set<std::string> words_of(std::string_view title) {
  std::set<std::string> words;
  std::string word;
  for (size_t i = 0; i <= title.size(); ++i) {
    const auto c = static_cast<unsigned char>(i < title.size() ? title[i] : ' ');
    if (std::isalnum(c) != 0 || c == '_') {
      word += static_cast<char>(std::tolower(c));
    } else {
      if (word.size() > 1) words.insert(word);
      word.clear();
    }
  }
  return words;
}

// "run" of "bad access in run, in tear-down"; of a race, which has two functions, none.
std::string_view function_of(std::string_view title) {
  const size_t in = title.find(" in ");
  if (in == std::string_view::npos || title.substr(0, in).ends_with(',')) return {};
  title.remove_prefix(in + 4);
  return title.substr(0, title.find(", "));
}

}  // namespace

bool may_be_one_bug(std::string_view title, Basis basis, std::string_view other,
                    Basis other_basis) {
  if (basis != other_basis || title == other) return false;
  if (basis == Basis::frames) {
    return !function_of(title).empty() && function_of(title) == function_of(other);
  }
  if (basis != Basis::text) return false;
  const std::set<std::string> one = words_of(title);
  const std::set<std::string> two = words_of(other);
  std::vector<std::string> shared;
  std::set_intersection(one.begin(), one.end(), two.begin(), two.end(), std::back_inserter(shared));
  return shared.size() >= kFewestShared &&
         2.0 * static_cast<double>(shared.size()) >=
             kMostAlike * static_cast<double>(one.size() + two.size());
}

}  // namespace mpsprobe
