#pragma once

#include <string>

namespace mpsprobe {

/// Whether version `a` comes before `b`: numbers are compared as numbers and all else as text, so
/// that 2.9.1 comes before 2.11.0 and the macOS build 25A354 before 25B78. What follows a '+' is
/// left out (PEP 440's local part: "+cu130"). A version that goes on with a letter after a full
/// stop ("2.16.0.dev20261101"), or with "a", "b" or "rc" after three numbers ("2.16.0rc1"), comes
/// before the one that it goes on from. Pure.
bool version_before(const std::string& a, const std::string& b);

/// Versions from `from` on, up to `before`, which is not one of them. An empty end is open.
struct VersionRange {
  std::string from;
  std::string before;

  bool open() const { return from.empty() && before.empty(); }
  /// An empty version is in an open range only.
  bool holds(const std::string& version) const;
};

}  // namespace mpsprobe
