#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/cell.h"
#include "reproducers/minimise/build_identity.h"

namespace mpsprobe {

/// The file in a bundle's folder that programs read.
inline constexpr const char* kBundleRecordFile = "bundle.json";

// A bundle may come from anywhere: what is beyond these bounds is refused.
inline constexpr size_t kMostBundleBytes = size_t{16} << 20;  ///< of bundle.json
inline constexpr size_t kMostBundleText = 4096;               ///< bytes of one text in it
inline constexpr size_t kMostBundleCells = 4096;
inline constexpr uint64_t kMostBundleMemoryMib = 1 << 24;
inline constexpr int kMostBundleTrials = 1'000'000;  ///< of one cell

/// What the trials of one cell, worker and build came to when the bundle was made.
struct BundleCell {
  Cell cell;
  std::string worker;  ///< name given with --worker, personal data replaced: "stock"
  BuildIdentity build;
  std::vector<std::string> devices;  ///< as its processes named them, each once
  int failures = 0;                  ///< trials that failed by the signature of the bundle
  int otherwise = 0;                 ///< trials that failed by another one
  int trials = 0;                    ///< passes and failures, of whatever signature
  /// Never failed: part of the same table, rerun to see that the rest of the machine is well.
  bool control = false;
  friend bool operator==(const BundleCell&, const BundleCell&) = default;
};

/// What the trials ran on. A fact that the run does not tell is empty.
struct BundleMachine {
  std::string os;  ///< "macOS 15.1"
  std::string os_build;
  std::string model;
  std::string chip;
  friend bool operator==(const BundleMachine&, const BundleMachine&) = default;
};

/// `bundle.json`: what a program needs to know of a bundle, and `mpsprobe verify` to run its cells
/// again. A plain value. Everything in it was measured, or said by what was measured.
struct BundleRecord {
  std::string mpsprobe_version;
  std::string signature;     ///< title of the failure, personal data replaced; never empty
  bool simulated = false;    ///< at least one cell ran on a simulated device
  bool paravirtual = false;  ///< at least one cell ran on the GPU of a virtual Mac
  std::string measured;      ///< when the run began that it was made from, UTC
  BundleMachine machine;
  // How the trials were run: what a rerun has to repeat.
  uint64_t seed = 0;
  double timeout_seconds = 60;
  double stall_seconds = 10;
  uint64_t memory_limit_mib = 0;         ///< where the run chose one; 0: it did not
  std::vector<std::string> environment;  ///< --env, as K=V, as far as it could be told
  /// Cells that failed by the signature, and controls. Each cell, worker and build once.
  std::vector<BundleCell> cells;
  friend bool operator==(const BundleRecord&, const BundleRecord&) = default;
};

/// {"mpsprobe_bundle": 1, "signature": ..., "cells": [...]} as bytes, ASCII, indented. Throws
/// InputError where the record is none that `parse_bundle_record` takes.
std::string bundle_record_json(const BundleRecord& record);

/// Reads exactly what `bundle_record_json` writes. `place` names the source in errors. Throws
/// InputError for anything else: another version, an unknown, missing or repeated key, a wrong
/// type, a cell that is none, counts that cannot be.
BundleRecord parse_bundle_record(std::string_view text, const std::string& place);

/// Reads `bundle.json` of a bundle's folder. A path of that file itself serves as well. Throws
/// InputError; never waits for a pipe or a device.
BundleRecord read_bundle_record(const std::filesystem::path& folder);

/// A bundle may come from anywhere. Checks it before anything of it is used: no link, pipe or
/// device lies in its folder, and each file that MANIFEST.sha256 names, bundle.json among them, is
/// there with the bytes that were packed. Files that the manifest does not name are not used, and
/// may be there: a filing number, verdicts, one's own notes. Throws InputError that names the file.
void check_bundle(const std::filesystem::path& folder);

}  // namespace mpsprobe
