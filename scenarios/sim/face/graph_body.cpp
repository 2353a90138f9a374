#include "scenarios/sim/face/graph_body.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "scenarios/sim/face/numbers.h"
#include "scenarios/sim/metal.h"

namespace mpsprobe::sim::face {
namespace {

using Kind = Node::Kind;

[[noreturn]] void refuse(const std::string& what) {
  metal::fail_assertion("-[MPSGraph simulated]", 0, what);
}

void require(bool holds, const char* what) {
  if (!holds) refuse(what);
}

// The sizes of an operation's result, from those of its inputs.
Sizes sizes_of(const Node& node) {
  const auto input = [&](size_t i) -> const Sizes& { return node.inputs[i]->sizes; };
  switch (node.kind) {
    case Kind::placeholder:
    case Kind::normal:
      return node.sizes;
    case Kind::product:
      require(input(0).size() == 2 && input(1).size() == 2 && input(0)[1] == input(1)[0],
              "matrix multiplication of matrices that do not fit");
      return {input(0)[0], input(1)[1]};
    case Kind::transpose:
      require(input(0).size() == 2, "transpose of something that is no matrix");
      return {input(0)[1], input(0)[0]};
    case Kind::addition: {
      const Sizes& a = input(0);
      const Sizes& b = input(1);
      require(b.size() <= a.size() && std::equal(b.rbegin(), b.rend(), a.rbegin()),
              "addition of tensors that do not fit");
      return a;
    }
    case Kind::relu:
    case Kind::softmax:
      return input(0);
  }
  refuse("unknown operation");
}

class Evaluation {
 public:
  explicit Evaluation(const Feeds& feeds) : feeds_(feeds) {}

  std::span<const float> of(const Node& node) {
    if (const auto fed = feeds_.find(&node); fed != feeds_.end()) return fed->second;
    const auto done = done_.find(&node);
    return done != done_.end() ? done->second : done_.emplace(&node, compute(node)).first->second;
  }

 private:
  std::vector<float> compute(const Node& node) {
    const auto input = [&](size_t i) { return of(*node.inputs[i]); };
    switch (node.kind) {
      case Kind::placeholder:
        refuse("no tensor data for a placeholder that the target depends on");
      case Kind::product: {
        const Sizes& a = node.inputs[0]->sizes;
        const Sizes& b = node.inputs[1]->sizes;
        std::vector<float> result(static_cast<size_t>(elements(node.sizes)));
        multiply({input(0).data(), a[0], a[1], a[1]}, {input(1).data(), b[0], b[1], b[1]}, {},
                 result);
        return result;
      }
      case Kind::transpose:
        return transpose(input(0), node.sizes[1], node.sizes[0]);
      case Kind::addition:
        return add(input(0), input(1));
      case Kind::relu:
        return relu(input(0));
      case Kind::softmax:
        return softmax(input(0), node.sizes.back());
      case Kind::normal:
        return normal(elements(node.sizes), node.mean, node.deviation, node.seed);
    }
    refuse("unknown operation");
  }

  const Feeds& feeds_;
  std::map<const Node*, std::vector<float>> done_;
};

bool contains(const Node& node, Kind kind) {
  return node.kind == kind || std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [&](const Node* each) { return contains(*each, kind); });
}

}  // namespace

int64_t elements(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

const Node& GraphBody::add(Node node) {
  node.sizes = sizes_of(node);
  return *nodes_.emplace_back(std::make_unique<const Node>(std::move(node)));
}

std::vector<const Node*> placeholders_of(const Node& result) {
  if (result.kind == Kind::placeholder) return {&result};
  std::vector<const Node*> all;
  for (const Node* input : result.inputs) {
    for (const Node* each : placeholders_of(*input)) all.push_back(each);
  }
  return all;
}

std::vector<float> evaluate(const Node& result, const Feeds& feeds) {
  Evaluation evaluation(feeds);
  const std::span<const float> numbers = evaluation.of(result);
  return {numbers.begin(), numbers.end()};
}

std::string_view operation_of(const Node& result) {
  switch (result.kind) {
    case Kind::placeholder:
      return "copy_";
    case Kind::product:
      return "mm";
    case Kind::transpose:
      return operation_of(*result.inputs[0]);
    case Kind::addition:
      return contains(*result.inputs[0], Kind::product) ? "linear" : "add";
    case Kind::relu:
      return "relu";
    case Kind::softmax:
      return "softmax";
    case Kind::normal:
      return "normal_";
  }
  return "copy_";
}

}  // namespace mpsprobe::sim::face
