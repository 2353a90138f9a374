#pragma once

#include <string>

#include "harness/record/field.h"

namespace mpsprobe {

/// Which library a worker loaded, in the parts that no two builds share. Empty where not told.
struct BuildIdentity {
  std::string version;
  std::string git_hash;
  std::string build_id;  ///< ELF build id or Mach-O UUID

  /// Whether anything tells it from another.
  bool is_known() const { return !version.empty() || !git_hash.empty() || !build_id.empty(); }
  friend bool operator==(const BuildIdentity&, const BuildIdentity&) = default;
};

template <>
inline constexpr auto fields<BuildIdentity> =
    described<BuildIdentity>(field::name("version", &BuildIdentity::version),
                             field::build_id("git_hash", &BuildIdentity::git_hash),
                             field::build_id("build_id", &BuildIdentity::build_id));

}  // namespace mpsprobe
