#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// Texts of the software under test: literals of its images and its package's source files. What
/// stands in them names no user. Texts are added first; afterwards several threads may ask.
class SoftwareText {
 public:
  /// Shorter runs of words are said by chance.
  static constexpr size_t kFewestInRun = 10;

  /// Literals end at a zero byte or in quotation marks. At most 4 GiB in all are looked at. Folders
  /// of persons in them are forgotten: those below /home and /Users, and this account's by HOME and
  /// by name.
  void add(std::string_view text);

  /// Bytes of the longest run of whole words that begins at the word at text[at] and stands in the
  /// software; where a literal there ends or has a conversion ("%d", "{}"), it may go on with a
  /// number. 0: there is none of kFewestInRun bytes, numbers not counted.
  size_t run_at(std::string_view text, size_t at) const;

  /// Whether `text`, a word or several with '.' or '-' between them, is a whole literal there.
  bool has_literal(std::string_view text) const { return words_.contains(text); }

  bool empty() const { return text_.size() <= 1; }

 private:
  struct Run {
    size_t bytes = 0;
    size_t of_literal = 0;
  };
  Run run_from(std::string_view text, size_t place) const;
  void index(size_t from);
  void add_words(size_t from);

  std::string text_ = std::string(1, '\0');
  /// Places where words begin, by the hash of their first bytes: the last one, and the one before.
  std::vector<uint32_t> last_;
  std::vector<uint32_t> places_;
  std::vector<uint32_t> before_;
  std::set<std::string, std::less<>> words_;
};

/// Letters, digits and '_' of ASCII, and every byte beyond it.
bool is_word_byte(char c);

}  // namespace mpsprobe
