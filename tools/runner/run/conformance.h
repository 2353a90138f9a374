#pragma once

namespace mpsprobe {

struct RunOptions;

/// With --matrix conformance: puts in the place of the worker that is named one whose operations
/// are the rules of docs/protocol.md, and which is told the path of the other by a variable. So
/// resuming, printed commands and reports need know nothing of it. Does nothing for other matrices.
/// Throws InputError where not exactly one worker is named, and as find_workers does where it is
/// none.
void use_conformance(RunOptions& options);

}  // namespace mpsprobe
