#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/journal/journal.h"
#include "reproducers/bundle/redaction/redactor.h"
#include "reproducers/minimise/minimum.h"

namespace mpsprobe {

/// Fills the redactor with the texts of the software that a run had, as far as it is at hand with
/// the ids that the run saw: the literals of its images, and source files of its packages.
void add_software(const Journal& journal, Redactor& redactor);

/// The same of a file of mpsprobe's own: a program, or a text.
void add_own(const std::filesystem::path& file, Redactor& redactor);

/// A journal as it may be handed on. Everything that is derived from it afterwards is clean: each
/// field is taken by its kind (harness/record/field.h), of structured parts what a list names, and
/// long texts are cut to their bounds, which their text then says. Names of workers that are not
/// mpsprobe's become "worker-1". With `with_output`, what processes printed stays as it is, and is
/// returned, each text once. Throws only for lack of memory.
std::vector<std::string> redact_journal(Journal& journal, Redactor& redactor, bool with_output);

/// The same of what `mpsprobe repro` found.
void redact_minimum(Minimum& minimum, Redactor& redactor);

}  // namespace mpsprobe
