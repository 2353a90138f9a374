#pragma once

#include <string>

#include "reproducers/bundle/pages/finding.h"

namespace mpsprobe {

// The texts that people read, and the trials. Each says only what the run measured, is printable
// whatever the evidence holds, and says so first where that is simulated.

constexpr size_t kMostTitle = 255;  ///< bytes, and so characters, of a title for Apple
constexpr size_t kMostDescription = 4096;
constexpr size_t kMostTrialsBytes = size_t{8} << 20;  ///< of trials.ndjson

/// What is to be pasted into Feedback Assistant: the title, the description, and suggested values
/// for its pop-ups.
std::string apple_issue(const BundleFinding& finding);

/// The raw trials, one a line; the first line says what follows. Beyond the bound trials are told
/// without what their processes left, and the first line says how many.
std::string trials_ndjson(const BundleFinding& finding);

/// README.md begins with what could not be verified, and says what is in the bundle and what was
/// left out. `files` are those of the bundle.
std::string readme_markdown(const BundleFinding& finding, const std::vector<BundleFile>& files,
                            const Redactor& redactor);

}  // namespace mpsprobe
