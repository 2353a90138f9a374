#include "scenarios/metal/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "scenarios/comparison/values.h"

namespace mpsprobe::metal {
namespace {

using Wide = std::vector<double>;

Wide widened(std::span<const float> numbers) {
  return {numbers.begin(), numbers.end()};
}

std::seed_seq sequence(uint64_t seed, uint64_t stream) {
  return {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
          static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
}

/// In [0, 1).
float uniform(std::mt19937_64& generator) {
  return static_cast<float>(generator() >> 40U) * 0x1p-24F;
}

// b's element (k, column) lies at b[k * b_row + column * b_column].
Wide product(const Wide& a, const Wide& b, size_t rows, size_t inner, size_t columns, size_t b_row,
             size_t b_column) {
  Wide result(rows * columns);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (size_t k = 0; k < inner; ++k) {
        sum += a[row * inner + k] * b[k * b_row + column * b_column];
      }
      result[row * columns + column] = sum;
    }
  }
  return result;
}

Wide softmax(const Wide& a, size_t length) {
  Wide result(a.size());
  for (size_t first = 0; first < a.size(); first += length) {
    const double highest = *std::max_element(&a[first], &a[first] + length);
    double sum = 0;
    for (size_t i = first; i < first + length; ++i) {
      result[i] = std::exp(a[i] - highest);
      sum += result[i];
    }
    for (size_t i = first; i < first + length; ++i) result[i] /= sum;
  }
  return result;
}

Wide expected(const Recipe& recipe, const Step& step, const Sizes& sizes,
              const std::vector<Wide>& values) {
  const auto source = [&](size_t i) -> const Wide& { return values[step.sources[i]]; };
  const auto size = [&](size_t i, size_t dimension) {
    return static_cast<size_t>(recipe.values[step.sources[i]][dimension]);
  };
  switch (step.kind) {
    case StepKind::zeros:
    case StepKind::normal:
      break;
    case StepKind::product:
      return product(source(0), source(1), size(0, 0), size(0, 1), size(1, 1), size(1, 1), 1);
    case StepKind::linear: {
      const size_t out = size(1, 0);
      Wide result = product(source(0), source(1), size(0, 0), size(0, 1), out, 1, size(1, 1));
      for (size_t i = 0; i < result.size(); ++i) result[i] += source(2)[i];
      return result;
    }
    case StepKind::addition: {
      Wide result = source(0);
      for (size_t i = 0; i < result.size(); ++i) result[i] += source(1)[i];
      return result;
    }
    case StepKind::relu: {
      Wide result = source(0);
      for (double& each : result) each = std::max(each, 0.0);
      return result;
    }
    case StepKind::axpy: {
      Wide result = source(1);
      for (size_t i = 0; i < result.size(); ++i) result[i] += kAxpyFactor * source(0)[i];
      return result;
    }
    case StepKind::sine: {
      Wide result = source(0);
      for (double& each : result) each = std::sin(each);
      return result;
    }
    case StepKind::strided_copy: {
      Wide result(source(0).size() / kCopyStride);
      for (size_t i = 0; i < result.size(); ++i) result[i] = source(0)[i * kCopyStride];
      return result;
    }
    case StepKind::softmax:
      return softmax(source(0), static_cast<size_t>(sizes.back()));
  }
  return Wide(static_cast<size_t>(element_count(sizes)), 0.0);
}

// The most terms that an element of the results is a sum of. Linear's parameters shrink as theirs
// grow.
int64_t terms(const Recipe& recipe) {
  int64_t most = 1;
  for (const Step& step : recipe.steps) {
    if (step.kind == StepKind::product) most = std::max(most, recipe.values[step.sources[0]][1]);
  }
  return most;
}

}  // namespace

float normal(std::mt19937_64& generator) {
  const float distance = std::sqrt(-2 * std::log(1 - uniform(generator)));
  return distance * std::cos(2 * std::numbers::pi_v<float> * uniform(generator));
}

std::vector<Numbers> make_inputs(const Recipe& recipe, uint64_t seed, uint64_t stream) {
  std::seed_seq seeds = sequence(seed, stream);
  std::mt19937_64 generator(seeds);
  std::vector<Numbers> inputs;
  for (size_t i = 0; i < recipe.inputs; ++i) {
    Numbers& input = inputs.emplace_back(static_cast<size_t>(element_count(recipe.values[i])));
    for (float& each : input) each = normal(generator);
  }
  return inputs;
}

std::vector<Numbers> make_parameters(const Recipe& recipe, uint64_t seed, uint64_t stream) {
  std::seed_seq seeds = sequence(seed, stream);
  std::mt19937_64 generator(seeds);
  std::vector<Numbers> parameters;
  for (size_t i = 0; i < recipe.parameters; ++i) {
    const Sizes& weight = recipe.values[recipe.inputs];
    const float bound = 1 / std::sqrt(static_cast<float>(weight.back()));
    Numbers& parameter = parameters.emplace_back(
        static_cast<size_t>(element_count(recipe.values[recipe.inputs + i])));
    for (float& each : parameter) each = bound * (2 * uniform(generator) - 1);
  }
  return parameters;
}

Numbers computed(const Recipe& recipe, size_t step, std::span<const Numbers> values) {
  std::vector<Wide> wide(values.size());
  for (const size_t source : recipe.steps[step].sources) wide[source] = widened(values[source]);
  const Wide result =
      expected(recipe, recipe.steps[step], recipe.values[recipe.result_of(step)], wide);
  return {result.begin(), result.end()};
}

Reference::Reference(const Recipe& recipe, Rounding rounding, std::span<const Numbers> given)
    : recipe_(recipe), tolerance_(tolerance(rounding, kFloat32Unit, terms(recipe))) {
  for (const Numbers& each : given) values_.push_back(widened(each));
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    const Step& step = recipe.steps[i];
    const bool follows_from_samples =
        step.kind == StepKind::normal ||
        std::any_of(step.sources.begin(), step.sources.end(),
                    [this](size_t source) { return values_[source].empty(); });
    values_.push_back(follows_from_samples
                          ? Wide()
                          : expected(recipe, step, recipe.values[recipe.result_of(i)], values_));
  }
}

std::string Reference::difference_in(std::span<const std::span<const float>> results) const {
  std::vector<Wide> drawn;  // values_ with what follows from this launch's samples
  for (size_t i = 0; i < recipe_.steps.size(); ++i) {
    const Step& step = recipe_.steps[i];
    const size_t value = recipe_.result_of(i);
    const Sizes& sizes = recipe_.values[value];
    const Wide got = widened(results[i]);
    std::string found;
    if (!values_[value].empty()) {
      found = difference_of_values(got, values_[value], sizes, tolerance_);
    } else {
      if (drawn.empty()) drawn = values_;
      const bool samples = step.kind == StepKind::normal;
      drawn[value] = samples ? got : expected(recipe_, step, sizes, drawn);
      found = samples ? difference_from_normal(got, sizes)
                      : difference_of_values(got, drawn[value], sizes, tolerance_);
    }
    if (!found.empty()) {
      return recipe_.steps.size() == 1 ? found : fmt::format("result {}: {}", i + 1, found);
    }
  }
  return {};
}

}  // namespace mpsprobe::metal
