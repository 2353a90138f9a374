#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// The most lines that a Python reproducer has besides its imports; blank ones and lines that hold
/// nothing but a comment are not counted, but bounded by kMostCommentLines.
inline constexpr size_t kMostPythonLines = 20;
inline constexpr size_t kMostCommentLines = 6;
inline constexpr size_t kMostPythonColumns = 140;   ///< of code
inline constexpr size_t kMostCommentColumns = 500;  ///< of a line with nothing but a comment

/// What a Python program does that a reproducer pasted into PyTorch's tracker must not do, one
/// sentence each, with the line; empty where it keeps every rule. The rules: it imports torch and
/// threading alone; it has at most kMostPythonLines lines, one statement each; it starts no
/// process, runs no text as code, reads and changes no file, environment or network, and loads
/// nothing. Whoever triages runs such a program without a second look, and puts the others back or
/// aside. What stands in comments and strings is not code; what an f-string evaluates is.
///
/// A check of honest programs, not a sandbox: it reads names, and follows no value. Pure; accepts
/// any bytes.
std::vector<std::string> broken_python_rules(std::string_view program);

}  // namespace mpsprobe
