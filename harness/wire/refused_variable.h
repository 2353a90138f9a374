#pragma once

#include <string_view>

namespace mpsprobe {

/// Why no cell may give an environment variable this value; empty where it may. Cells come from
/// bundles, journals, matrices and expectations of other people: they may say how a library under
/// test works, and never which program, library, path or interpreter is taken. Refused are the
/// variables of loaders, interpreters, shells, allocators and sanitizers, those whose value is a
/// path that somebody loads code from or writes to, and every value that names a folder or a file
/// of code. Names are compared without regard to case. Pure; safe to call from several threads.
/// The answer is static text that follows "NAME ".
std::string_view why_no_cell_sets(std::string_view name, std::string_view value);

}  // namespace mpsprobe
