#include "harness/journal/record_json.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/journal/trial_json.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

/// Gives every field of a record a value that is not its default and that no other field has.
class Filler {
 public:
  template <Described Record>
  void fill(Record& record) {
    for_each_field<Record>([this, &record]<typename Field>(const Field& field) {
      if constexpr (Field::presence != Presence::apart) this->value(record.*field.member);
    });
    if constexpr (std::is_same_v<Record, Capture>) record.bytes += 1'000'000;
  }

 private:
  template <typename Value>
  void value(Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      value = !value;
    } else if constexpr (std::is_arithmetic_v<Value>) {
      value = static_cast<Value>(next_++);
    } else if constexpr (std::is_enum_v<Value>) {
      value = static_cast<Value>(value == Value{1} ? 2 : 1);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value = "text " + std::to_string(next_++);
    } else if constexpr (std::is_same_v<Value, Cell>) {
      value = parse_cell("sim/linear/graph/threads=3");
    } else if constexpr (std::is_same_v<Value, Termination>) {
      fill(value.template emplace<NotSpawned>());
    } else if constexpr (kIsOptional<Value>) {
      this->value(value.emplace());
    } else if constexpr (kIsList<Value>) {
      value.resize(2);
      for (auto& entry : value) this->value(entry);
    } else {
      fill(value);
    }
  }

  int next_ = 1;
};

TrialRecord filled_trial() {
  TrialRecord trial;
  Filler().fill(trial);
  trial.judged_process = 1;
  return trial;
}

/// Which fields of two records differ, by key.
class Difference {
 public:
  template <Described Record>
  void of(const Record& a, const Record& b, const std::string& place) {
    for_each_field<Record>([&, this]<typename Field>(const Field& field) {
      if constexpr (Field::presence != Presence::apart) {
        this->value(a.*field.member, b.*field.member, place + "/" + field.key);
      }
    });
  }
  std::set<std::string> places;

 private:
  template <typename Value>
  void value(const Value& a, const Value& b, const std::string& place) {
    if constexpr (Described<Value>) {
      of(a, b, place);
    } else if constexpr (kIsOptional<Value>) {
      if (a && b) return value(*a, *b, place);
      if (a.has_value() != b.has_value()) places.insert(place);
    } else if constexpr (kIsList<Value>) {
      if (a.size() != b.size()) places.insert(place);
      for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) value(a[i], b[i], place);
    } else {
      if (!(a == b)) places.insert(place);
    }
  }
};

TEST(RecordJson, EveryFieldOfATrialComesBack) {
  const TrialRecord trial = filled_trial();
  const TrialRecord again = trial_from_json(json::parse(trial_to_json(trial).dump()));
  Difference difference;
  difference.of(trial, again, "");
  EXPECT_EQ(difference.places, std::set<std::string>{});
  Difference from_nothing;
  from_nothing.of(TrialRecord{}, trial, "");
  EXPECT_TRUE(from_nothing.places.contains("/processes")) << "the fields were not filled";
}

/// Where a change at one place of a trial's JSON is not noticed: each key once, without indices.
template <typename Change>
std::set<std::string> unnoticed(Change change) {
  const json whole = trial_to_json(filled_trial());
  const json flat = whole.flatten();
  std::set<std::string> tried;
  std::set<std::string> places;
  for (const auto& [path, leaf] : flat.items()) {
    if (path.find("/1") != std::string::npos) continue;  // as the first of its list
    for (json::json_pointer at(path); !at.empty(); at.pop_back()) {
      if (!tried.insert(at.to_string()).second) break;  // and so all above it
      json changed = whole;
      change(changed, at);
      try {
        trial_from_json(changed);
        places.insert(at.back());
      } catch (const json::exception&) {  // noticed
      } catch (const InputError&) {       // noticed
      }
    }
  }
  return places;
}

TEST(RecordJson, AWrongTypeAnywhereIsAnError) {
  const std::set<std::string> derived{"name"};  // of a signal; that of a thread is read
  EXPECT_EQ(unnoticed([](json& trial, const json::json_pointer& at) {
              trial[at] = trial[at].is_object() ? json(7) : json{{"surprise", 7}};
            }),
            derived);
}

TEST(RecordJson, OnlyWhatEarlierReleasesDidNotHaveMayBeMissing) {
  const std::set<std::string> may_be_missing{
      "child_signal",   "children", "cpu_seconds", "failed_at",    "inside_cpu_seconds",
      "inside_seconds", "name",     "observation", "own_command",  "path_probe",
      "ready_seconds",  "seed",     "start",       "start_remark", "why"};
  EXPECT_EQ(unnoticed([](json& trial, json::json_pointer at) {
              const std::string key = at.back();
              at.pop_back();
              // Without an entry a list is only shorter.
              if (trial[at].is_array()) {
                trial = nullptr;
              } else {
                trial[at].erase(key);
              }
            }),
            may_be_missing);
}

TEST(RecordJson, AnUnknownWordIsAnError) {
  for (const char* place :
       {"/judgement/outcome", "/judgement/basis", "/judgement/phase", "/processes/0/start",
        "/processes/0/ended_by", "/processes/0/recorder/probe", "/processes/0/recorder/inquest",
        "/processes/0/recorder/threads/0/step", "/processes/0/termination/kind",
        "/processes/0/stacks/threads/0/wait/kind"}) {
    json trial = trial_to_json(filled_trial());
    ASSERT_TRUE(trial[json::json_pointer(place)].is_string()) << place;
    trial[json::json_pointer(place)] = "sunshine";
    EXPECT_THROW(trial_from_json(trial), InputError) << place;
  }
}

}  // namespace
}  // namespace mpsprobe
