#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace mpsprobe::sim::face {

using Sizes = std::vector<int64_t>;

/// Number of elements of these sizes.
int64_t elements(const Sizes& sizes);

/// One operation of a graph and the tensor that it gives. Plain data, owned by its GraphBody.
struct Node {
  enum class Kind : uint8_t { placeholder, product, transpose, addition, relu, softmax, normal };
  Kind kind = Kind::placeholder;
  std::vector<const Node*> inputs;
  Sizes sizes;
  float mean = 0;
  float deviation = 1;
  uint64_t seed = 0;
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

/// Numbers of placeholders, by node.
using Feeds = std::map<const Node*, std::span<const float>>;

/// The placeholders that `result` depends on.
std::vector<const Node*> placeholders_of(const Node& result);

/// The numbers of `result`. Every placeholder that it depends on must have its numbers in `feeds`.
std::vector<float> evaluate(const Node& result, const Feeds& feeds);

/// The entry of the simulated device's operation table (scenarios/sim/operations.h) that a graph
/// ending in `result` stands for: that of its last operation, and "linear" for a product with
/// something added. So a profile's defects concern a graph that LibTorch or a program of ours built
/// alike.
std::string_view operation_of(const Node& result);

}  // namespace mpsprobe::sim::face
