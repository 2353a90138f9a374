#include "reports/words/safe_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/words/counted.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Printable, ShowsWhatATerminalWouldActOn) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("bell\x07 del\x7f"), "bell\\x07 del\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");  // C1: CSI in one character
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202eb");
  EXPECT_EQ(printable("a\xe2\x81\xa6"
                      "b"),
            "a\\u2066b");
  EXPECT_EQ(printable("a\xe2\x80\x8b"
                      "b"),
            "a\\u200bb");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(printable("\xc3"), "\xEF\xBF\xBD");
  EXPECT_EQ(printable("\xed\xa0\x80").find("\xed"), std::string::npos);      // surrogate
  EXPECT_EQ(printable("\xc0\xaf").find("\xc0"), std::string::npos);          // overlong "/"
  EXPECT_EQ(printable("\xf4\x90\x80\x80").find("\xf4"), std::string::npos);  // above U+10FFFF
  EXPECT_EQ(printable("Grüße, 世界 🙂"), "Grüße, 世界 🙂");
}

TEST(Printable, JoinsOrKeepsLines) {
  EXPECT_EQ(printable("a\nb\r\nc\td"), "a b c d");
  EXPECT_EQ(printable("a\r\nb\rc", Lines::keep), "a\nb\nc");
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcdef", 5), "ab...");
  EXPECT_EQ(shortened("aüüü", 6), "aü...");
}

TEST(LastLines, KeepsTheEndAndBoundsIt) {
  EXPECT_EQ(last_lines("a\nb\nc\n", 2, 80), "b\nc\n");
  EXPECT_EQ(last_lines("", 2, 80), "");
  EXPECT_EQ(last_lines("\n\n", 2, 80), "");
  const std::string flood(100000, 'x');
  EXPECT_EQ(last_lines(flood, 5, 300).size(), 301u);
}

TEST(CodeSpan, NothingInItIsInForce) {
  EXPECT_EQ(code_span("a`b"), "``a`b``");
  EXPECT_EQ(code_span("`a``"), "``` `a`` ```");
  EXPECT_EQ(code_span("line\nbreak"), "`line break`");
  EXPECT_THAT(code_span("a|b"), Not(HasSubstr("|")));
  EXPECT_EQ(code_span(""), "(empty)");
  EXPECT_EQ(code_span(" \n "), "(empty)");
}

TEST(CodeBlock, FenceIsLongerThanAnyInside) {
  EXPECT_EQ(code_block("x", "sh"), "```sh\nx\n```\n");
  const std::string block = code_block("````\n# title\n````");
  EXPECT_EQ(block, "`````text\n````\n# title\n````\n`````\n");
}

TEST(Escaped, MarkupAndHtmlAreText) {
  EXPECT_EQ(escaped("<img src=x> & \"q\""), "&lt;img src=x&gt; &amp; \"q\"");
  EXPECT_EQ(escaped("a|b `c` *d* _e_ [f](g) \\h #1 ~~i~~"),
            "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\[f\\](g) \\\\h \\#1 \\~\\~i\\~\\~");
  EXPECT_THAT(escaped("@someone"), Not(HasSubstr("@s")));
  EXPECT_EQ(escaped("http://a.b, www.c.d"), "http\\://a.b, www\\.c.d");
  EXPECT_EQ(escaped("two\nlines"), "two lines");
}

TEST(ShellCommand, QuotesWhatAShellWouldChange) {
  const std::vector<std::string> arguments{"mpsprobe", "--cell",     "sim/linear/nograph/threads=3",
                                           "--env",    "A=$(x) 'y'", ""};
  EXPECT_EQ(shell_command(arguments),
            "mpsprobe --cell sim/linear/nograph/threads=3 --env 'A=$(x) '\\''y'\\''' ''");
}

TEST(ShellCommand, AShellReadsBackEveryByteAndAScreenActsOnNone) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text :
       {all, std::string("a\nb\n"), std::string("\x1b[2J"), std::string("\u202eevil\u202c"),
        std::string("it's $(x) `y` \"z\" \\ !1 *"), std::string("j\u00fcrgen"), std::string("\t"),
        std::string("'\x1b'")}) {
    const std::string quoted = shell_quoted(text);
    EXPECT_EQ(printable(quoted, Lines::keep), quoted);
    std::FILE* const shell = ::popen(("printf %s " + quoted).c_str(), "r");
    std::string read;
    for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) read += static_cast<char>(c);
    ::pclose(shell);
    EXPECT_EQ(read, text) << quoted;
  }
}

TEST(DurationInWords, HasTheUnitThatFits) {
  EXPECT_EQ(duration_in_words(0.04), "0.0 s");
  EXPECT_EQ(duration_in_words(3.26), "3.3 s");
  EXPECT_EQ(duration_in_words(42.7), "43 s");
  EXPECT_EQ(duration_in_words(143), "2:23 min");
  EXPECT_EQ(duration_in_words(3725), "1:02 h");
}

TEST(Wrapped, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_THAT(wrapped("one two three four", 9, 2),
              testing::ElementsAre("one two", "  three", "  four"));
  EXPECT_THAT(wrapped("exactly 9", 9, 2), testing::ElementsAre("exactly 9"));
  EXPECT_THAT(wrapped("exactly 9 on", 9, 0), testing::ElementsAre("exactly 9", "on"));
}

TEST(Wrapped, BreaksAWordOnlyWhereItAloneIsTooLong) {
  EXPECT_THAT(wrapped("a 0123456789", 6, 1), testing::ElementsAre("a", " 01234", " 56789"));
  EXPECT_THAT(wrapped("", 6, 1), testing::ElementsAre(""));
}

TEST(Wrapped, CountsCharactersAndNotBytes) {
  EXPECT_THAT(wrapped("\u00e4\u00e4\u00e4 \u00e4", 5, 0), testing::SizeIs(1));
}

}  // namespace
}  // namespace mpsprobe
