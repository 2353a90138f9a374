#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// The last line of an uncaught Python exception, "ValueError: no such thing", at the end of
/// `printed`, or the one that Python calls its direct cause; empty where it ends in something else.
/// A type that does not call itself an error is left out in front of a whole message. Of no use
/// before it is known that the process failed: a traceback alone is no failure. Reads a traceback
/// also behind what a log puts in front of each of its lines, one that a page broke, one that
/// became a single line, a message below its type, what pytest shows of it, and the end of the
/// story that TorchScript's interpreter tells. Looks at the last 64 KiB. Throws only for lack of
/// memory; may be called from any thread.
std::string uncaught_python_exception(std::string_view printed);

/// What was printed above the exception that a launcher raised over a process of its own that left
/// (torch.multiprocessing's ProcessExitedException): that process has told why. All where there is
/// no such exception, or nothing above it. The result is a part of `printed`.
std::string_view above_launcher(std::string_view printed);

}  // namespace mpsprobe
