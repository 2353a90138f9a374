#include "scenarios/sim/face/graph_body.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "scenarios/sim/metal.h"
#include "scenarios/sim/operations.h"

namespace mpsprobe::sim::face {
namespace {

void require(bool holds, const char* what) {
  if (!holds) metal::fail_assertion("-[MPSGraph simulated]", 0, what);
}

// Numbers only where there are some: see Array.
Array array_of(Sizes sizes, bool known) {
  Array array{std::move(sizes), {}};
  if (known) array.numbers.resize(static_cast<size_t>(elements(array.sizes)));
  return array;
}
bool known(const Array& array) {
  return !array.numbers.empty();
}

Sizes strides_of(const Sizes& sizes) {
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) strides[i] = stride;
  return strides;
}

// The places of elements in `sizes` order, where each dimension has such a stride.
class Places {
 public:
  Places(const Sizes& sizes, Sizes strides)
      : sizes_(sizes), strides_(std::move(strides)), at_(sizes.size(), 0) {}

  size_t now() const { return static_cast<size_t>(place_); }
  void next() {
    for (size_t i = sizes_.size(); i-- > 0;) {
      place_ += strides_[i];
      if (++at_[i] < sizes_[i]) return;
      place_ -= strides_[i] * sizes_[i];
      at_[i] = 0;
    }
  }

 private:
  const Sizes& sizes_;
  Sizes strides_;
  Sizes at_;
  int64_t place_ = 0;
};

// Strides that repeat an array along the dimensions in which it has but one place.
Sizes stretched(const Array& array, const Sizes& to) {
  Sizes strides(to.size(), 0);
  const Sizes own = strides_of(array.sizes);
  const size_t lacks = to.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) {
    if (array.sizes[i] != 1) strides[lacks + i] = own[i];
  }
  return strides;
}

Sizes common_sizes(Arrays inputs) {
  Sizes sizes;
  for (const Array* each : inputs) {
    if (each->sizes.size() > sizes.size())
      sizes.insert(sizes.begin(), each->sizes.size() - sizes.size(), 1);
    const size_t lacks = sizes.size() - each->sizes.size();
    for (size_t i = 0; i < each->sizes.size(); ++i) {
      int64_t& size = sizes[lacks + i];
      require(size == each->sizes[i] || size == 1 || each->sizes[i] == 1,
              "tensors that do not fit one another");
      if (size == 1) size = each->sizes[i];
    }
  }
  return sizes;
}

constexpr uint32_t kFloat = 0x10000000;
constexpr uint32_t kSigned = 0x20000000;
constexpr uint32_t kOther = 0x80000000;

/// IEEE 754's binary16, to the nearest even: not every compiler has the type on every processor.
class Half {
 public:
  Half() = default;
  explicit Half(double number) {
    if (number == 0) {
      bits_ = std::signbit(number) ? 0x8000 : 0;
      return;
    }
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(number), &exponent);  // 0.5 to 1
    const int digits = std::min(11, exponent + 24);                    // fewer below 2^-14
    const double steps = std::nearbyint(std::ldexp(fraction, digits));
    const auto whole = static_cast<uint32_t>(std::isfinite(number) && digits >= 0 ? steps : 0);
    // 1024 is the leading digit, which a normal number does not store; a carry goes into the
    // exponent.
    uint32_t bits =
        digits == 11 ? whole - 1024 + (static_cast<uint32_t>(exponent + 14) << 10) : whole;
    if (!std::isfinite(number) || bits > kInfinity) bits = kInfinity;
    if (std::isnan(number)) bits = kInfinity | 0x200;
    bits_ = static_cast<uint16_t>(bits | (std::signbit(number) ? 0x8000 : 0));
  }
  explicit operator double() const {
    const int exponent = bits_ >> 10 & 31;
    const double digits = bits_ & 1023;
    const double sign = (bits_ & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31) return digits == 0 ? sign * INFINITY : NAN;
    return sign *
           (exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25));
  }

 private:
  static constexpr uint32_t kInfinity = 31 << 10;
  uint16_t bits_ = 0;
};

template <typename T>
T cast(double number) {
  return static_cast<T>(number);
}

// A call of what is written for each type: `with(T())`.
template <typename With>
auto by_type(uint32_t type, const With& with) {
  // NOLINTBEGIN(bugprone-branch-clone): each calls it with another type
  switch (type) {
    case kFloat | 32:
      return with(float());
    case kFloat | 16:
      return with(Half());
    case kSigned | 64:
      return with(int64_t());
    case kSigned | 32:
      return with(int32_t());
    case kSigned | 16:
      return with(int16_t());
    case kSigned | 8:
      return with(int8_t());
    case 64:
      return with(uint64_t());
    case 32:
      return with(uint32_t());
    case 8:
      return with(uint8_t());
    case kOther | 8:
      return with(bool());
    default:
      metal::fail_assertion("-[MPSGraph simulated]", 0,
                            "the simulated device lacks this type of numbers");
  }
  // NOLINTEND(bugprone-branch-clone)
}

double truth(bool holds) {
  return holds ? 1 : 0;
}

constexpr Elementwise kElementwise[] = {
    {"identityWithTensor:name:", [](const double* x) { return x[0]; }},
    {"negativeWithTensor:name:", [](const double* x) { return -x[0]; }},
    {"absoluteWithTensor:name:", [](const double* x) { return std::fabs(x[0]); }},
    {"exponentWithTensor:name:", [](const double* x) { return std::exp(x[0]); }},
    {"exponentBase2WithTensor:name:", [](const double* x) { return std::exp2(x[0]); }},
    {"logarithmWithTensor:name:", [](const double* x) { return std::log(x[0]); }},
    {"logarithmBase2WithTensor:name:", [](const double* x) { return std::log2(x[0]); }},
    {"logarithmBase10WithTensor:name:", [](const double* x) { return std::log10(x[0]); }},
    {"squareWithTensor:name:", [](const double* x) { return x[0] * x[0]; }},
    {"squareRootWithTensor:name:", [](const double* x) { return std::sqrt(x[0]); }},
    {"reverseSquareRootWithTensor:name:", [](const double* x) { return 1 / std::sqrt(x[0]); }},
    {"reciprocalSquareRootWithTensor:name:", [](const double* x) { return 1 / std::sqrt(x[0]); }},
    {"reciprocalWithTensor:name:", [](const double* x) { return 1 / x[0]; }},
    {"sinWithTensor:name:", [](const double* x) { return std::sin(x[0]); }},
    {"cosWithTensor:name:", [](const double* x) { return std::cos(x[0]); }},
    {"tanWithTensor:name:", [](const double* x) { return std::tan(x[0]); }},
    {"asinWithTensor:name:", [](const double* x) { return std::asin(x[0]); }},
    {"acosWithTensor:name:", [](const double* x) { return std::acos(x[0]); }},
    {"atanWithTensor:name:", [](const double* x) { return std::atan(x[0]); }},
    {"tanhWithTensor:name:", [](const double* x) { return std::tanh(x[0]); }},
    {"erfWithTensor:name:", [](const double* x) { return std::erf(x[0]); }},
    {"sigmoidWithTensor:name:", [](const double* x) { return 1 / (1 + std::exp(-x[0])); }},
    {"reLUWithTensor:name:", [](const double* x) { return std::max(x[0], 0.0); }},
    {"floorWithTensor:name:", [](const double* x) { return std::floor(x[0]); }},
    {"ceilWithTensor:name:", [](const double* x) { return std::ceil(x[0]); }},
    {"rintWithTensor:name:", [](const double* x) { return std::rint(x[0]); }},
    {"signWithTensor:name:", [](const double* x) { return truth(x[0] > 0) - truth(x[0] < 0); }},
    {"isNaNWithTensor:name:", [](const double* x) { return truth(std::isnan(x[0])); }, true},
    {"notWithTensor:name:", [](const double* x) { return truth(x[0] == 0); }, true},
    {"additionWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return x[0] + x[1]; }},
    {"subtractionWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return x[0] - x[1]; }},
    {"multiplicationWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return x[0] * x[1]; }},
    {"divisionWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return x[0] / x[1]; }},
    {"maximumWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return std::max(x[0], x[1]); }},
    {"minimumWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return std::min(x[0], x[1]); }},
    {"powerWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return std::pow(x[0], x[1]); }},
    {"equalWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return truth(x[0] == x[1]); }, true},
    {"notEqualWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return truth(x[0] != x[1]); }, true},
    {"lessThanWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return truth(x[0] < x[1]); }, true},
    {"greaterThanWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return truth(x[0] > x[1]); }, true},
    {"logicalANDWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return truth(x[0] != 0 && x[1] != 0); }, true},
    {"logicalORWithPrimaryTensor:secondaryTensor:name:",
     [](const double* x) { return truth(x[0] != 0 || x[1] != 0); }, true},
    {"clampWithTensor:minValueTensor:maxValueTensor:name:",
     [](const double* x) { return std::min(std::max(x[0], x[1]), x[2]); }},
    {"selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:",
     [](const double* x) { return x[0] != 0 ? x[1] : x[2]; }},
};

double sum(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}
double mean(std::span<const double> numbers) {
  return sum(numbers) / static_cast<double>(numbers.size());
}

constexpr Reduction kReductions[] = {
    {"reductionSumWithTensor", sum},
    {"reductionMaximumWithTensor",
     [](std::span<const double> x) { return *std::max_element(x.begin(), x.end()); }},
    {"reductionMinimumWithTensor",
     [](std::span<const double> x) { return *std::min_element(x.begin(), x.end()); }},
    {"reductionProductWithTensor",
     [](std::span<const double> x) {
       return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>());
     }},
    {"meanOfTensor", mean},
    {"varianceOfTensor",
     [](std::span<const double> x) {
       const double middle = mean(x);
       return std::accumulate(x.begin(), x.end(), 0.0,
                              [middle](double all, double each) {
                                return all + (each - middle) * (each - middle);
                              }) /
              static_cast<double>(x.size());
     }},
};

class Evaluation {
 public:
  explicit Evaluation(const Feeds& feeds) : feeds_(feeds) {}

  const Array& of(const Node& node) {
    if (const auto fed = feeds_.find(&node); fed != feeds_.end()) return fed->second;
    const auto done = done_.find(&node);
    return done != done_.end() ? done->second : done_.emplace(&node, compute(node)).first->second;
  }

 private:
  Array compute(const Node& node) {
    std::vector<const Array*> inputs;
    for (const Node* input : node.inputs) inputs.push_back(&of(*input));
    Array result = node.compute(inputs);
    // As the device would keep it between two operations.
    by_type(node.type, [&](auto type) {
      for (double& each : result.numbers) each = static_cast<double>(cast<decltype(type)>(each));
    });
    return result;
  }

  const Feeds& feeds_;
  std::map<const Node*, Array> done_;
};

bool contains(const Node& node, std::string_view operation) {
  return node.operation == operation ||
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](const Node* each) { return contains(*each, operation); });
}

}  // namespace

int64_t elements(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

const Node& GraphBody::add(Node node) {
  if (node.operation != "placeholder" &&
      std::all_of(node.inputs.begin(), node.inputs.end(),
                  [](const Node* each) { return each->sizes.has_value(); })) {
    std::vector<Array> sized;
    std::vector<const Array*> inputs;
    for (const Node* each : node.inputs) sized.push_back({*each->sizes, {}});
    for (const Array& each : sized) inputs.push_back(&each);
    node.sizes = node.compute(inputs).sizes;
  }
  return *nodes_.emplace_back(std::make_unique<const Node>(std::move(node)));
}

std::vector<const Node*> placeholders_of(const Node& result) {
  if (result.operation == "placeholder") return {&result};
  std::vector<const Node*> all;
  for (const Node* input : result.inputs) {
    for (const Node* each : placeholders_of(*input)) all.push_back(each);
  }
  return all;
}

Array evaluate(const Node& result, const Feeds& feeds) {
  return Evaluation(feeds).of(result);
}

std::string_view operation_of(const Node& result) {
  const std::string& operation = result.operation;
  if (operation == "matrixMultiplication") return "mm";
  if (operation == "addition") return contains(result, "matrixMultiplication") ? "linear" : "add";
  if (operation == "reLU") return "relu";
  if (operation == "softMax") return "softmax";
  if (operation == "random") return "normal_";
  if (operation == "transpose" || operation == "cast" || operation == "reshape") {
    return operation_of(*result.inputs[0]);
  }
  return "copy_";
}

std::span<const Elementwise> elementwise() {
  return kElementwise;
}
std::span<const Reduction> reductions() {
  return kReductions;
}

Array each_element(Arrays inputs, double (*of)(const double* inputs)) {
  Array result = array_of(
      common_sizes(inputs),
      std::all_of(inputs.begin(), inputs.end(), [](const Array* each) { return known(*each); }));
  std::vector<Places> places;
  for (const Array* each : inputs)
    places.emplace_back(result.sizes, stretched(*each, result.sizes));
  double numbers[3];
  for (double& each : result.numbers) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      numbers[i] = inputs[i]->numbers[places[i].now()];
      places[i].next();
    }
    each = of(numbers);
  }
  return result;
}

Array reduce(const Array& array, const Sizes& axes, double (*of)(std::span<const double> numbers)) {
  Sizes sizes = array.sizes;
  Sizes order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  for (const int64_t axis : axes) sizes[axis_of(axis, sizes.size())] = -1;
  // Those that go are the fastest ones then.
  std::stable_partition(order.begin(), order.end(),
                        [&](int64_t each) { return sizes[static_cast<size_t>(each)] >= 0; });
  std::replace(sizes.begin(), sizes.end(), int64_t{-1}, int64_t{1});
  Array result = array_of(sizes, known(array));
  const Array together = permute(array, order);
  const size_t length = result.numbers.empty() ? 0 : array.numbers.size() / result.numbers.size();
  for (size_t i = 0; i < result.numbers.size(); ++i) {
    result.numbers[i] = of({together.numbers.data() + i * length, length});
  }
  return result;
}

Array multiply(const Array& a, const Array& b) {
  require(
      a.sizes.size() >= 2 && b.sizes.size() >= 2 && a.sizes.back() == b.sizes[b.sizes.size() - 2],
      "matrix multiplication of matrices that do not fit");
  const int64_t rows = a.sizes[a.sizes.size() - 2];
  const int64_t inner = a.sizes.back();
  const int64_t columns = b.sizes.back();
  const Array left{{a.sizes.begin(), a.sizes.end() - 2}, {}};
  const Array right{{b.sizes.begin(), b.sizes.end() - 2}, {}};
  const Array* const both[] = {&left, &right};
  const Sizes batch = common_sizes(both);
  Sizes sizes = batch;
  sizes.insert(sizes.end(), {rows, columns});
  Array result = array_of(sizes, known(a) && known(b));
  if (!known(result)) return result;
  Places in_left(batch, stretched(left, batch));
  Places in_right(batch, stretched(right, batch));
  for (double* out = result.numbers.data(); out < result.numbers.data() + result.numbers.size();
       out += rows * columns) {
    const double* const x = a.numbers.data() + in_left.now() * static_cast<size_t>(rows * inner);
    const double* const y =
        b.numbers.data() + in_right.now() * static_cast<size_t>(inner * columns);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < inner; ++k) {
        const double factor = x[row * inner + k];
        for (int64_t column = 0; column < columns; ++column)
          out[row * columns + column] += factor * y[k * columns + column];
      }
    }
    in_left.next();
    in_right.next();
  }
  return result;
}

Array permute(const Array& array, const Sizes& order) {
  const Sizes own = strides_of(array.sizes);
  Sizes sizes;
  Sizes strides;
  for (const int64_t each : order) {
    sizes.push_back(array.sizes[static_cast<size_t>(each)]);
    strides.push_back(own[static_cast<size_t>(each)]);
  }
  Array result = array_of(sizes, known(array));
  Places from(sizes, strides);
  for (double& each : result.numbers) {
    each = array.numbers[from.now()];
    from.next();
  }
  return result;
}

Array reshape(const Array& array, Sizes sizes) {
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end()) {
    *open = 1;
    *open = elements(array.sizes) / elements(sizes);
  }
  require(elements(array.sizes) == elements(sizes), "a shape of another number of elements");
  return {std::move(sizes), array.numbers};
}

Array coordinates(const Sizes& sizes, int64_t axis) {
  Array result = array_of(sizes, true);
  const size_t along = axis_of(axis, sizes.size());
  const int64_t stride = strides_of(sizes)[along];
  for (size_t i = 0; i < result.numbers.size(); ++i) {
    result.numbers[i] = static_cast<double>(static_cast<int64_t>(i) / stride % sizes[along]);
  }
  return result;
}

size_t axis_of(int64_t axis, size_t dimensions) {
  const int64_t from_front = axis < 0 ? axis + static_cast<int64_t>(dimensions) : axis;
  require(from_front >= 0 && from_front < static_cast<int64_t>(dimensions),
          "an axis that the tensor lacks");
  return static_cast<size_t>(from_front);
}

size_t bytes_of(uint32_t type) {
  return by_type(type, [](auto of) { return sizeof(of); });
}
double load(const char* from, uint32_t type) {
  return by_type(type, [&](auto number) {
    std::memcpy(&number, from, sizeof(number));
    return static_cast<double>(number);
  });
}
void store(char* to, uint32_t type, double number) {
  by_type(type, [&](auto of) {
    const auto stored = cast<decltype(of)>(number);
    std::memcpy(to, &stored, sizeof(stored));
  });
}

}  // namespace mpsprobe::sim::face
