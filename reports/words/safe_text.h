#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// How to make text harmless that a worker, or a journal from elsewhere, brought along. All
/// functions are pure and accept any bytes.

enum class Lines : unsigned char { join, keep };

/// Valid UTF-8 without anything that acts on a reader's screen: invalid bytes become U+FFFD;
/// control characters (C0, DEL, C1), invisible and bidirectional ones become visible escapes
/// (`\x1b`,
/// `\u202e`). Line ends become a space, or stay with Lines::keep ("\r\n" and "\r" as "\n").
std::string printable(std::string_view bytes, Lines lines = Lines::join);

/// At most `most` bytes of `text`, which must be valid UTF-8, cut between characters; "..." says
/// that something is missing.
std::string shortened(std::string_view text, size_t most);

/// The last `most` lines of printable text, each cut to `width` bytes.
std::string last_lines(std::string_view bytes, size_t most, size_t width);

/// Printable text in lines of at most `width` columns (characters), broken at spaces, and within a
/// word only where that alone is longer; lines after the first begin with `indent` spaces. At least
/// one line.
std::vector<std::string> wrapped(std::string_view text, size_t width, size_t indent);

/// A Markdown code span that shows `bytes` (cut to `most`) and nothing else. In it no markup, HTML,
/// link, @mention or #reference is in force. Good in tables too.
std::string code_span(std::string_view bytes, size_t most = 200);

/// A fenced code block, its fence longer than any run of backticks inside. Ends with a newline.
std::string code_block(std::string_view bytes, std::string_view language = "text");

/// Text in which `...` is code, each piece through one of the two.
std::string with_code(std::string_view text, std::string (*plain)(std::string_view),
                      std::string (*code)(std::string_view));

/// One line of running text with everything escaped that Markdown or HTML would act on.
std::string escaped(std::string_view bytes, size_t most = 400);

/// An argument that a POSIX shell reads back as `text`; as it is where it holds nothing special.
std::string shell_quoted(std::string_view text);
std::string shell_command(std::span<const std::string> arguments);

}  // namespace mpsprobe
