#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reproducers/reverify/verification.h"

namespace mpsprobe {

/// What a bundle is filed as: "FB12345678", "pytorch/pytorch#197805", an address. 1 to 200
/// characters, printable ASCII without spaces at its ends. Throws InputError (place `--filing`).
void check_filing(const std::string& number);

/// Notes it in the bundle's filing.txt, which no manifest lists, in the place of an earlier one.
/// Throws InputError (check_filing) and ReportError.
void note_filing(const std::filesystem::path& bundle, const std::string& number);

/// What is noted; empty where nothing is, or nothing that check_filing would take.
std::string noted_filing(const std::filesystem::path& bundle);

/// Keeps a verification inside its bundle, in the folder `verified`, as TIME.json and TIME.md, and
/// returns that folder. Throws ReportError where it cannot, or where the folder is a link: a bundle
/// from elsewhere must not say where to write.
std::filesystem::path keep_verification(const std::filesystem::path& bundle,
                                        const Verification& verification);

/// A bundle that was found.
struct FoundBundle {
  std::filesystem::path folder;
  std::string signature;
  bool simulated = false;
  bool paravirtual = false;
  std::string measured;                ///< UTC
  std::string filing;                  ///< "": not filed
  std::optional<VerdictLine> verdict;  ///< of the last verification that is kept in it
};

struct FoundBundles {
  std::vector<FoundBundle> bundles;  ///< by folder
  std::vector<std::string> skipped;  ///< a bundle.json that is none: place and problem
  bool bounded = false;              ///< there was more than is looked at
};

/// How far is looked below each folder.
inline constexpr int kMostBundleDepth = 5;
inline constexpr size_t kMostEntries = 100'000;

/// Looks for bundles in and below the folders: at most kMostBundleDepth levels and kMostEntries
/// entries, without following links, without folders whose names begin with a dot, and not inside
/// of a bundle. A folder that is not there holds none.
FoundBundles find_bundles(const std::vector<std::filesystem::path>& folders);

}  // namespace mpsprobe
