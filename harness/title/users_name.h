#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

/// The characters at the front of `text`, in front of which `before` stands, that a user named, and
/// that differ between two reports of one bug: a label, a model, its parameters
/// ("layers.3.weight"), what a message says that it looked for in a user's program or data
/// ("undefined value gain"). 0: none. Looks at a bounded part of normalised text; never throws, may
/// be called from any thread.
size_t users_name_length(std::string_view text, std::string_view before);

/// The same of a word in quotes, which is mostly what a user passed or named ("mode 'thin' is
/// none"), where it does not name what a library has ("function 'take'", "'take' not implemented")
/// and the message says something without it.
size_t quoted_name_length(std::string_view text, std::string_view before);

/// The same of what stands behind "mode=", where a user chose it; not behind "status=", "kernel="
/// and others that tell bugs apart.
size_t assigned_name_length(std::string_view text, std::string_view before);

/// Whether a file is a user's data by its name, and no part of a product: weights, models,
/// settings. Never throws, may be called from any thread.
bool is_data_file(std::string_view name);

}  // namespace mpsprobe
