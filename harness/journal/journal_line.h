#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace mpsprobe {

/// Levels of JSON in a line; a deeper one is damaged: what copies or prints it would overrun the
/// stack.
constexpr int kDeepestRecord = 32;
/// Bytes of a line; no more is read of one that never ends.
constexpr size_t kMostLineBytes = size_t{256} << 20;

/// A name for a run that no other has: 16 hexadecimal digits by chance.
std::string new_run_name();

/// A record as a line of a journal, with its newline: {"n": number, ..., "sum": "16 digits"}. The
/// sum is FNV-1a (64 bits) over the run's name and the bytes before it: one changed byte always
/// changes it, and no line of another run has it. Text that is no UTF-8 is replaced.
std::string sealed_line(nlohmann::json record, uint64_t number, std::string_view run);

/// The same for a record of that name whose value is JSON already.
std::string sealed_line(std::string_view name, std::string_view value, uint64_t number,
                        std::string_view run);

/// Why a line, without its newline, is none that `sealed_line` made for this run; empty where it
/// is. Looks at bytes alone: cheap before anything is parsed.
std::string broken_seal(std::string_view line, std::string_view run);

/// The value of a sealed line, {"n":..., "record": "NAME", "NAME": value, "sum": ...}, as it stands
/// there; empty where the line is none of a record of that name.
std::string_view sealed_value(std::string_view line, std::string_view name);

/// FNV-1a, 64 bits: names equal texts equally; nothing here has to withstand an attacker.
uint64_t fnv1a(std::string_view text, uint64_t begin = 0xcbf29ce484222325);

}  // namespace mpsprobe
