#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// The scopes and the name that a mangled C++, Rust or Swift name begins with, without parameters
/// and template arguments: "_ZN2at3mps4syncEv" is "at::mps::sync", "$s3App4ViewV4drawyyF" is
/// "App.View.draw". Empty where `name` is none, or begins with what has no plain name. Reads only
/// what a title needs: unlike a demangler, linear in the name, whatever it holds.
std::string plain_name(std::string_view name);

/// Without the hash that Rust puts behind a function: "core::f::h0123456789abcdef" is "core::f".
std::string_view without_rust_hash(std::string_view name);

}  // namespace mpsprobe
