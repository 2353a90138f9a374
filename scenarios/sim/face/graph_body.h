#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe::sim::face {

using Sizes = std::vector<int64_t>;

/// Number of elements of these sizes.
int64_t elements(const Sizes& sizes);

/// What a tensor of a graph holds, the last dimension moving fastest. While a graph is built only
/// sizes are known, and `numbers` is empty; so are those of a tensor without elements.
struct Array {
  Sizes sizes;
  std::vector<double> numbers;
};

using Arrays = std::span<const Array* const>;

/// One operation of a graph and the tensor that it gives. Owned by its GraphBody.
struct Node {
  std::string operation;  ///< as MPSGraph's method begins; "placeholder" for those
  std::vector<const Node*> inputs;
  uint32_t type = 0;           ///< an MPSDataType
  std::optional<Sizes> sizes;  ///< none where a placeholder's are not known before it is fed
  /// What it gives of its inputs; of arrays without numbers one without numbers, and the sizes.
  std::function<Array(Arrays)> compute;
};

/// The operations of an MPSGraph, in the order in which they were added. Built by one thread;
/// afterwards any number may evaluate it.
class GraphBody {
 public:
  /// Adds an operation. Asserts, as MPSGraph does, where the sizes of its inputs do not fit one
  /// another.
  const Node& add(Node node);

 private:
  std::vector<std::unique_ptr<const Node>> nodes_;
};

/// What was fed, by placeholder.
using Feeds = std::map<const Node*, Array>;

/// The placeholders that `result` depends on.
std::vector<const Node*> placeholders_of(const Node& result);

/// What `result` is. Every placeholder that it depends on must be among `feeds`.
Array evaluate(const Node& result, const Feeds& feeds);

/// The entry of the simulated device's operation table (scenarios/sim/operations.h) that a graph
/// ending in `result` stands for: that of its last operation, and "linear" for a product with
/// something added. So a profile's defects concern a graph that LibTorch or a program of ours built
/// alike.
std::string_view operation_of(const Node& result);

/// An operation on each element of inputs that are stretched to one another.
struct Elementwise {
  const char* selector;  ///< MPSGraph's method: each colon but the last is an input
  double (*of)(const double* inputs);
  bool is_truth = false;  ///< it gives MPSDataTypeBool
};
std::span<const Elementwise> elementwise();
Array each_element(Arrays inputs, double (*of)(const double* inputs));

/// An operation that leaves one number of all those along some axes, which keep the size 1.
struct Reduction {
  const char* name;  ///< as MPSGraph's two methods begin
  double (*of)(std::span<const double> numbers);
};
std::span<const Reduction> reductions();
Array reduce(const Array& array, const Sizes& axes, double (*of)(std::span<const double> numbers));

Array multiply(const Array& a, const Array& b);
/// The dimensions in this order.
Array permute(const Array& array, const Sizes& order);
/// Of the sizes one may be -1.
Array reshape(const Array& array, Sizes sizes);
/// Places along one axis.
Array coordinates(const Sizes& sizes, int64_t axis);

/// An axis that may be counted from the end. Asserts where there is none.
size_t axis_of(int64_t axis, size_t dimensions);

/// Numbers in memory, of an MPSDataType. Asserts where the simulated device has no such type.
size_t bytes_of(uint32_t type);
double load(const char* from, uint32_t type);
void store(char* to, uint32_t type, double number);

}  // namespace mpsprobe::sim::face
