#include "scenarios/sim/observer.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/GradMode.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/sim/defects.h"
#include "scenarios/sim/start.h"
#include "scenarios/sim/stream.h"

namespace mpsprobe::sim {
namespace {

constexpr uint8_t kNotObserved = 0xff;

/// Everything that lives as long as the process. Never destroyed: detached threads may still be
/// inside an operation while the process exits.
struct Simulation {
  Simulation(const Profile& profile, c10::DeviceType concerned, OnEncode told)
      : type(concerned),
        on_encode(told),
        streams(device, profile.streams),
        defects(profile, draw),
        observed(operations().size()) {
    for (std::atomic<uint8_t>& path : observed) path = kNotObserved;
  }

  const c10::DeviceType type;
  const OnEncode on_encode;
  metal::Device device;
  StreamPool streams;
  DefectEngine defects;
  PathSettings settings = PathSettings::from_environment();
  std::vector<std::atomic<uint8_t>> observed;
};
std::atomic<Simulation*> the_simulation = nullptr;

/// An operation of the table is running on this thread: what it calls belongs to it.
thread_local bool tl_inside = false;
/// What the running operation has to throw, where a defect says so.
thread_local const std::string* tl_exception = nullptr;

/// LibTorch swallows exceptions of observers. So the exception starts one level deeper, where the
/// operation allocates its result, and passes through LibTorch's own frames like any other.
class ThrowingAllocator final : public c10::Allocator {
 public:
  explicit ThrowingAllocator(c10::Allocator* base) : base_(base) {}

  c10::DataPtr allocate(size_t bytes) override {
    if (tl_exception != nullptr) throw std::runtime_error(*std::exchange(tl_exception, nullptr));
    return base_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return base_->raw_deleter(); }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    base_->copy_data(to, from, bytes);
  }

 private:
  c10::Allocator* base_;
};

/// The running operation, where its result is to be overwritten.
thread_local const Operation* tl_overwritten = nullptr;

struct OperationContext final : at::ObserverContext {};

template <typename Visit>
void each_tensor(c10::ArrayRef<const c10::IValue> values, const Visit& visit) {
  for (const c10::IValue& value : values) {
    if (value.isTensor() && value.toTensor().defined()) visit(value.toTensor());
  }
}

/// Whether an operation with these inputs works on tensors of `type` or makes one.
bool concerns(c10::DeviceType type, c10::ArrayRef<const c10::IValue> inputs) {
  if (type == c10::kCPU) return true;
  for (const c10::IValue& value : inputs) {
    if (value.isTensor()) {
      if (value.toTensor().defined() && value.toTensor().device().type() == type) return true;
    } else if (value.isDevice()) {
      if (value.toDevice().type() == type) return true;
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        if (tensor.defined() && tensor.device().type() == type) return true;
      }
    }
  }
  return false;
}

bool all_contiguous(c10::ArrayRef<const c10::IValue> inputs) {
  bool contiguous = true;
  each_tensor(inputs, [&](const at::Tensor& tensor) {
    // Sparse and nested tensors have no layout to ask for; the device has no kernel for them
    // either.
    contiguous &= tensor.layout() == c10::kStrided && tensor.is_contiguous();
  });
  return contiguous;
}

/// What two encodes into one place leave: the values of neither.
void overwrite(const std::vector<c10::IValue>& outputs) {
  // Not observed: LibTorch would otherwise report this write as an operation of the program.
  at::DisableRecordFunctionGuard unobserved;
  c10::AutoGradMode no_gradients(false);
  for (const c10::IValue& value : outputs) {
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    at::Tensor result = value.toTensor().detach();
    if (result.layout() == c10::kStrided && result.is_non_overlapping_and_dense()) {
      result.scalar_type() == c10::kBool ? result.logical_not_() : result.fill_(kOverwritten);
    }
  }
}

std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
  if (tl_inside) return nullptr;
  const Operation* operation = find_operation(function.name());
  if (operation == nullptr) return nullptr;
  Simulation& simulation = *the_simulation.load(std::memory_order_acquire);
  const c10::ArrayRef<const c10::IValue> inputs = function.inputs();
  if (!concerns(simulation.type, inputs)) return nullptr;

  // Contiguity is asked for only where it decides: a view's layout is not free to compute.
  const bool contiguous = operation->rule != PathRule::by_layout || all_contiguous(inputs);
  const EncodePath path = choose_path(operation->rule, simulation.settings, contiguous);
  const auto index = static_cast<size_t>(operation - operations().data());
  simulation.observed[index].store(static_cast<uint8_t>(path), std::memory_order_relaxed);

  auto context = std::make_unique<OperationContext>();
  tl_inside = true;
  if (path == EncodePath::none) return context;
  if (simulation.on_encode != nullptr) simulation.on_encode(*operation, path, inputs);
  Stream& stream = simulation.streams.current();
  const EncodeResult result = simulation.defects.encode(*operation, path, stream);
  if (result.wrong_numbers) tl_overwritten = operation;
  tl_exception = result.exception;
  stream.encode(path);
  return context;
}

void end(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr) return;
  if (tl_overwritten != nullptr) overwrite(function.outputs());
  tl_overwritten = nullptr;
  tl_exception = nullptr;
  tl_inside = false;
}

}  // namespace

void observe(const Profile& profile, c10::DeviceType type, OnEncode on_encode) {
  auto simulation = std::make_unique<Simulation>(profile, type, on_encode);
  const bool overwrites = simulation->defects.overwrites_results();
  if (simulation->defects.throws()) {
    static ThrowingAllocator allocator(c10::GetAllocator(type));
    c10::SetAllocator(type, &allocator);
  }
  the_simulation.store(simulation.release(), std::memory_order_release);
  at::addGlobalCallback(at::RecordFunctionCallback(start, end)
                            .needsInputs(true)
                            .needsOutputs(overwrites)
                            .scopes({at::RecordScope::FUNCTION}));
}

bool is_overwritten(std::string_view aten_name) {
  return tl_overwritten != nullptr && tl_overwritten->name == aten_name;
}

void use_pool_stream() {
  the_simulation.load()->streams.use_pool_stream();
}
void synchronise() {
  the_simulation.load()->streams.current().synchronise();
}
void synchronise_all() {
  the_simulation.load()->streams.synchronise_all();
}

metal::Device& simulated_device() {
  return the_simulation.load()->device;
}
StreamPool& simulated_streams() {
  return the_simulation.load()->streams;
}

bool probe() {
  const std::unique_ptr<metal::CommandQueue> queue =
      the_simulation.load()->device.new_command_queue();
  const std::shared_ptr<metal::CommandBuffer> buffer = queue->command_buffer();
  buffer->commit();
  return buffer->status() == metal::CommandBufferStatus::completed;
}

const char* observed_path(std::string_view aten_name) {
  const Simulation* simulation = the_simulation.load(std::memory_order_acquire);
  const Operation* asked = find_operation(aten_name);
  if (simulation == nullptr || asked == nullptr) return "not observed";
  const auto path_of = [&](const Operation& operation) {
    return simulation->observed[static_cast<size_t>(&operation - operations().data())].load(
        std::memory_order_relaxed);
  };
  uint8_t path = path_of(*asked);
  // Asked for softmax, which ran as _softmax: the same kernel.
  for (const Operation& operation : operations()) {
    if (path != kNotObserved) break;
    if (operation.kernel == asked->kernel) path = path_of(operation);
  }
  return path == kNotObserved ? "not observed" : name_of(static_cast<EncodePath>(path)).data();
}

}  // namespace mpsprobe::sim
