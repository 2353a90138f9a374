#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpsprobe {

/// What stands in the place of what is not known.
constexpr std::string_view kNotKnown = "<...>";

/// What names a text may hold beside words of the vocabulary (vocabulary.h).
enum class Names : unsigned char {
  words,    ///< none
  symbols,  ///< of functions and types, as linkers and debuggers write them: any ASCII identifier
};

/// Which numbers a text may hold.
enum class Numbers : unsigned char {
  harmless,  ///< none that may be a phone's, a card's, a person's or a machine's
  any,       ///< all but one that stands alone and may be a phone's; others look for the rest
};

/// A text of which only what is known is left: words of the vocabulary, numbers that are too short
/// for a phone's or a card's, addresses of memory, paths of the system, punctuation. Everything
/// else is kNotKnown, of a path but for its last part. Linear in the text.
std::string only_known(std::string_view text, Names names, Numbers numbers = Numbers::harmless);

/// The id that a linker gives an image: of hexadecimal digits and '-' alone.
bool is_build_id(std::string_view id);

/// Whether a text of one chunk is of words of the vocabulary and short numbers alone.
bool is_known_name(std::string_view name);

/// Whether a file's name is of words of the vocabulary, with an ending of a source or a library.
bool is_known_file(std::string_view name);

/// A text as people read it: without colours and other bytes that are no text, where it has such.
std::string readable_text(std::string_view text);

/// What a process printed, line by line: those that a rule reads (harness/signature/known_lines.h)
/// or that are of a stack, by only_known(), and those that only_known() leaves as they are. The
/// others are left out: how many is said in their place.
struct KnownLines {
  std::string text;
  size_t left_out = 0;
};
KnownLines only_known_lines(std::string_view text);

}  // namespace mpsprobe
