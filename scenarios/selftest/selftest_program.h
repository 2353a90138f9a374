#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "scenarios/selftest/misbehaviour.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// True for an operation that this file serves: "selftest." and a misbehaviour's name.
bool is_selftest(const Cell& cell);

/// The work of a self-test cell: the last thread misbehaves halfway through its iterations. `more`:
/// what a worker has beside misbehaviours(); it must live as long as the process. Throws
/// UnsupportedError for an unknown name.
std::unique_ptr<Workload> make_selftest(const Cell& cell, std::span<const Misbehaviour> more = {});

/// The self-test's entries for `describe`.
nlohmann::json describe_selftest(std::span<const Misbehaviour> more = {});

/// A worker of self-tests alone, without LibTorch: starts in a few milliseconds, and shows that
/// anything that speaks the protocol is a worker.
class SelftestProgram : public WorkerProgram {
 public:
  nlohmann::json describe() override;
  nlohmann::json provenance(const Cell& cell) override;
  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override;
};

}  // namespace mpsprobe
