#include "harness/wire/event.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

constexpr size_t kMostText = 64 * 1024;

std::string bounded_text(const json& object, const char* key) {
  return text_at(object, key).substr(0, kMostText);
}

template <typename T>
T number_at(const json& object, const char* key, T otherwise) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return otherwise;
  const double value = at->get<double>();
  // A cast from a double out of range is undefined; 2^53 is the largest exact count in JSON.
  if (!std::isfinite(value) || std::abs(value) > 9007199254740992.0) return otherwise;
  if constexpr (std::is_integral_v<T>) {
    if (value < static_cast<double>(std::numeric_limits<T>::min()) ||
        value > static_cast<double>(std::numeric_limits<T>::max())) {
      return otherwise;
    }
  }
  return static_cast<T>(value);
}

json to_json(const HelloEvent& hello) {
  return {{"event", "hello"},
          {"protocol", hello.protocol},
          {"provenance", parsed_if_json(hello.provenance)}};
}
json to_json(const ReadyEvent&) {
  return {{"event", "ready"}};
}
json to_json(const FailureEvent& failure) {
  return {{"event", "failure"},
          {"kind", failure.kind},
          {"text", failure.text},
          {"phase", failure.phase},
          {"thread", failure.thread},
          {"iteration", failure.iteration},
          {"operation", failure.operation}};
}
json to_json(const ResultEvent& result) {
  json object{{"event", "result"},
              {"operations", result.operations},
              {"seconds", result.seconds},
              {"checked", result.checked},
              {"unchecked", result.unchecked},
              {"observed_path", result.observed_path}};
  if (result.inside_seconds > 0) {
    object["inside_seconds"] = result.inside_seconds;
    object["inside_cpu_seconds"] = result.inside_cpu_seconds;
    object["cpu_seconds"] = result.cpu_seconds;
  }
  return object;
}
json to_json(const ObservedEvent& observed) {
  json object = {{"event", "observed"}, {"calls", observed.calls}};
  if (!observed.suspicion.empty()) object["suspicion"] = observed.suspicion;
  return object;
}

}  // namespace

bool is_own_command(const HelloEvent& hello) {
  return member(parsed_if_json(hello.provenance), "own_command") == true;
}

std::string to_line(const Event& event) {
  const json object = std::visit([](const auto& value) { return to_json(value); }, event);
  return ascii_json_text(object);
}

std::optional<Event> parse_event(std::string_view line) {
  // Writing a value out again recurses, and the line may be hostile.
  constexpr int kDeepest = 8;
  if (nested_deeper(line, kDeepest)) return std::nullopt;
  const json object = parsed_if_json(line);
  if (!object.is_object()) return std::nullopt;
  const std::string kind = bounded_text(object, "event");
  if (kind == "hello") {
    const json& provenance = member(object, "provenance");
    return HelloEvent{number_at(object, "protocol", 0),
                      provenance.is_object() ? provenance.dump() : "{}"};
  }
  if (kind == "ready") return ReadyEvent{};
  if (kind == "failure") {
    return FailureEvent{bounded_text(object, "kind"),       bounded_text(object, "text"),
                        bounded_text(object, "phase"),      number_at(object, "thread", -1),
                        number_at(object, "iteration", -1), bounded_text(object, "operation")};
  }
  if (kind == "result") {
    return ResultEvent{number_at<uint64_t>(object, "operations", 0),
                       number_at<double>(object, "seconds", 0),
                       number_at<uint64_t>(object, "checked", 0),
                       number_at<uint64_t>(object, "unchecked", 0),
                       bounded_text(object, "observed_path"),
                       number_at<double>(object, "inside_seconds", 0),
                       number_at<double>(object, "inside_cpu_seconds", 0),
                       number_at<double>(object, "cpu_seconds", 0)};
  }
  if (kind == "observed") {
    return ObservedEvent{number_at<uint64_t>(object, "calls", 0),
                         bounded_text(object, "suspicion")};
  }
  return std::nullopt;
}

}  // namespace mpsprobe
