#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mpsprobe {

/// Where a shape was found: all of it, and the part between its parentheses (all of it without
/// any).
struct ShapeMatch {
  size_t begin = 0;
  size_t end = 0;
  size_t inner_begin = 0;
  size_t inner_end = 0;
};

/// Matches `shape` at text[at]. The rules of the tables are written in it, a small part of Lua's
/// patterns:
///
///   %d %x %a %l %u %w   a digit, a lower-case hex digit, a letter, a small one, a capital one, one
///                       of a name (letters, digits, underscore)
///   %s %S .  %A         a blank, none (nor a line break), any but a line break, any
///   [...] [^...]        one of these, or none of them: characters, ranges, classes; %] is itself
///   {one|two}           one of these words, the first that lets the rest match; {..}? or nothing
///   {!one|two}          none of these words follows: no character
///   * + ? -             behind one character's form: any number, one or more, one or none, and any
///                       number but as few as do
///   ( )                 the part that is asked for, once
///   %f %e $             where a name begins, where one ends, where a line does: no character
///   %b<>                from a bracket to the one that closes it
///   %<other>            that character itself; a minus sign is %- but in front of a form
///
/// Looks at no more than 4,096 characters and takes a bounded number of steps: what needs more does
/// not match. Never throws; from any thread.
std::optional<ShapeMatch> match_shape(std::string_view shape, std::string_view text, size_t at);

}  // namespace mpsprobe
