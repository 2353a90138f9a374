#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

/// The characters at the front of a line of normalised text by which a program names itself, or the
/// part of it that caught an exception: "saver: ", "./evalops: ", "train.py: ", "[edge] ",
/// "in take(): ", and several in a row ("saver: take_window: "). 0 where there is none, or where
/// the name may be that of an operator, which LibTorch puts in front of its messages as well
/// ("addmm: ", "sparse_mask: "). Of use where a program printed the line itself. Never throws; may
/// be called from any thread.
size_t program_name_length(std::string_view line);

}  // namespace mpsprobe
