#pragma once

#include <string_view>

namespace mpsprobe {

/// The commit that this mpsprobe was built from, and how: "0af7756c31b2 with changes, Release, GNU
/// 14.2.0"; "no commit known, ..." for sources outside a checkout. Written by cmake/OwnBuild.cmake.
std::string_view own_build();

}  // namespace mpsprobe
