#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/cell.h"
#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// What observed_path() says where the path was not seen.
inline constexpr std::string_view kNotObserved = "not observed";

/// How a backend takes the path that a cell asks for.
enum class PathChoice : uint8_t {
  layout,   ///< by the layout of the weights, as LibTorch does for MPS
  capture,  ///< by what surrounds the calls: they are made as they are, or captured and replayed
};

/// One backend, opened for one cell: everything in which mps, cuda, cpu and sim differ. One object
/// for the life of a workload. Functions throw what LibTorch throws, and the errors of workload.h.
class Device {
 public:
  virtual ~Device() = default;
  /// Where tensors of the cell live.
  virtual at::Device torch_device() const = 0;
  /// First contact: allocates, encodes and waits once. Main thread.
  virtual void touch() = 0;
  /// Gives the calling thread its stream. Once per thread, before it launches.
  virtual void enter_thread(StreamUse use) = 0;
  virtual PathChoice path_choice() const { return PathChoice::layout; }
  /// One launch by the calling thread: has `calls` made in the way of the cell's path and returns
  /// what they did, which is complete after the next synchronise().
  virtual std::vector<at::Tensor> launch(const std::function<std::vector<at::Tensor>()>& calls) {
    return calls();
  }
  /// Commits the calling thread's stream and waits for it.
  virtual void synchronise() = 0;
  /// Commits every stream and waits for all. Any thread.
  virtual void settle() = 0;
  /// What one more thread does beside those that launch: it waits for all, or makes calls that the
  /// backend mps alone has.
  virtual void beside(BesideThreads) { settle(); }
  /// A copy of a CPU tensor on the device, complete when the call returns. Any thread.
  virtual at::Tensor upload(const at::Tensor& tensor) = 0;
  /// Which path calls of this ATen name took: "graph", "nograph", "blit", "none" or kNotObserved.
  virtual std::string observed_path(std::string_view aten_name) = 0;
  /// Gives the device a trivial piece of work on a way of its own, see Workload::probe.
  virtual Probe probe(const std::function<void()>& /*submitted*/) { return Probe::impossible; }
  /// What the device is, for provenance: JSON object with "backend", "simulated" and "device". Does
  /// not touch the device.
  virtual nlohmann::json description() const = 0;
};

/// A backend as `describe` lists it.
struct BackendReport {
  Backend backend = Backend::cpu;
  bool available = false;
  bool simulated = false;
  std::string device;  ///< in words; empty where not available
  std::string reason;  ///< why it is not available; empty where it is
  /// The names of those that it has, where it does not run the whole table.
  std::optional<std::vector<std::string>> operations = std::nullopt;
  /// What another worker that runs its cells describes, as JSON; empty where this one runs them.
  std::string other_worker;
};

/// All backends, available or not. Touches the devices. Main thread.
std::vector<BackendReport> report_backends();

/// The device that the cell asks for; does not touch it yet. Throws UnsupportedError where this
/// worker, library or machine has no such backend or the backend not what the cell asks of it, and
/// SetupError where a part of it is missing or broken. Main thread.
std::unique_ptr<Device> open_device(const Cell& cell);

}  // namespace mpsprobe
