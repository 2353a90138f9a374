#pragma once

#include <string>

#include "reproducers/bundle/pages/finding.h"

namespace mpsprobe {

// The texts that people read. Each says only what the run measured. Plain text, printable whatever
// the evidence holds; where it is simulated, the first line says so.

constexpr size_t kMostTitle = 255;         ///< bytes, and so characters, of title.txt
constexpr size_t kMostDescription = 4096;  ///< the same of description.txt

std::string title_text(const BundleFinding& finding);
std::string description_text(const BundleFinding& finding);
/// Suggested values for the pop-ups of Feedback Assistant.
std::string form_markdown(const BundleFinding& finding);

std::string rate_markdown(const BundleFinding& finding);
std::string rate_json(const BundleFinding& finding);
std::string boundary_markdown(const BundleFinding& finding);
std::string layers_markdown(const BundleFinding& finding);
/// The path of the minimiser and which conditions are needed; empty where it was not minimised.
std::string conditions_markdown(const BundleFinding& finding);
/// What was built and run before the programs were handed out.
std::string programs_markdown(const BundleFinding& finding);

/// README.md begins with what could not be verified. `files` are those of the bundle.
std::string readme_markdown(const BundleFinding& finding, const std::vector<BundleFile>& files,
                            bool redacted);
/// What was replaced and what was left out, without the strings themselves.
std::string redactions_markdown(const BundleFinding& finding, const Redactor& redactor,
                                const PersonalStrings& strings);

}  // namespace mpsprobe
