#pragma once

#include <cstddef>
#include <string>

/// What proves to somebody outside that a worker draws its numbers as it should, and compares what
/// it computes (docs/protocol.md): asked for by `run --matrix conformance`. Any thread.
namespace mpsprobe {

/// Notes numbers that were drawn for the cell from its seed.
void note_drawn(const void* numbers, size_t bytes);

/// What tells the numbers that this process has noted from others, in whatever order they were
/// drawn: 16 hexadecimal digits; empty where none were.
std::string digest_of_drawn();

/// Whether every comparison is to come out as if the first number of the result were another one
/// (MPSPROBE_SPOIL=1).
bool spoils_results();

}  // namespace mpsprobe
