#pragma once

#include <span>
#include <string_view>

#include "harness/signature/rules.h"

namespace mpsprobe {

/// A file of rules. A line of it is empty, a comment (# in front), where its texts come from, a
/// heading, or a row of the table that the heading above it names:
///
///   source https://sourceware.org/git/?p=glibc.git     or: source made up
///
///   [text memory_corruption]         texts of that class
///   free-invalid-size   "malloc: free(): invalid size"   "free(): invalid size"
///
/// A row is a name in small letters, flags, and texts in double quotes. Flags in a heading count
/// for all of its rows.
///
///   heading           texts of a row                           flags
///   [text CLASS]      title, one to four fragments             a place, within=600
///   [form CLASS]      title, fragment, shape                   a place, from-the-line, known,
///                                                              takes-leads, uncaught, mute,
///                                                              by-stacks,
///                                                              as-first-words, as-last-words
///   [mask]            shape, and what is put in its place      within-a-name, anywhere, apart,
///                                                              ends-the-title
///   [lead] [noise]    shape
///   [line RANK]       shape
///   [frame MEANING]   no name: image`function, or what of the two there is (image`, function)
///   [own]             the same, of functions of this project's own
///   [misuse]          a title; in place of the name image`function
///
/// A shape is a regular expression (shape.h). Classes, places and what the rest means: rules.h,
/// rules.h. A place is line-start,
/// after-source or unwarned. A rank is says-nothing, says-something, tells-of-trouble or
/// names-an-error. Of forms, masks, leads, lines and frames the first that fits counts, in the
/// order of the files and of their lines.
struct RuleFile {
  std::string_view name;
  std::string_view text;
};

/// The files in rules/, which are part of the program. Static storage.
std::span<const RuleFile> rule_files();

/// Adds the rows of a file. Throws InputError, which names file and line, where a line is none of
/// the above, or names a row a second time.
void read_rules(const RuleFile& file, Rules& rules);

}  // namespace mpsprobe
