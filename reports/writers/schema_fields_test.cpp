#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/record/trial_fields.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

const json& published_schema() {
  static const json schema = json::parse(std::ifstream(std::filesystem::path(MPSPROBE_SOURCE_DIR) /
                                                       "reports/schema/report.schema.json"));
  return schema;
}

/// The type in JSON; "" of what has a definition of its own.
template <typename Value>
std::string type_of() {
  if constexpr (std::is_same_v<Value, bool>) return "boolean";
  if constexpr (std::is_integral_v<Value>) return "integer";
  if constexpr (std::is_same_v<Value, std::string>) return "string";
  if constexpr (kIsList<Value>) return "array";
  return "";
}

/// Where the schema says what a record looks like.
template <typename Record>
constexpr const char* kPlace = "";
template <>
inline constexpr auto kPlace<TrialRecord> = "/$defs/trial";
template <>
inline constexpr auto kPlace<Judgement> = "/$defs/judgement";
template <>
inline constexpr auto kPlace<OtherFinding> = "/$defs/finding";
template <>
inline constexpr auto kPlace<KnownGood> = "/$defs/known_good";
template <>
inline constexpr auto kPlace<PathProbe> = "/$defs/path_probe";
template <>
inline constexpr auto kPlace<ProcessRecord> = "/$defs/process";
template <>
inline constexpr auto kPlace<Exited> = "/$defs/termination/oneOf/0";
template <>
inline constexpr auto kPlace<Signaled> = "/$defs/termination/oneOf/1";
template <>
inline constexpr auto kPlace<NotSpawned> = "/$defs/termination/oneOf/2";
template <>
inline constexpr auto kPlace<NotReaped> = "/$defs/termination/oneOf/3";
template <>
inline constexpr auto kPlace<Usage> = "/$defs/process/properties/usage";
template <>
inline constexpr auto kPlace<Observation> = "/$defs/process/properties/observation";
template <>
inline constexpr auto kPlace<Capture> = "/$defs/capture";
template <>
inline constexpr auto kPlace<FailureEvent> = "/$defs/failure";
template <>
inline constexpr auto kPlace<ResultEvent> = "/$defs/result";
template <>
inline constexpr auto kPlace<RecorderReading> = "/$defs/recorder";
template <>
inline constexpr auto kPlace<ThreadPlace> = "/$defs/recorder/properties/threads/items";
template <>
inline constexpr auto kPlace<CrashSeen> = "/$defs/crash";
template <>
inline constexpr auto kPlace<FrameAddress> = "/$defs/address";
template <>
inline constexpr auto kPlace<StackEvidence> = "/$defs/stacks";
template <>
inline constexpr auto kPlace<ThreadStack> = "/$defs/thread_stack";
template <>
inline constexpr auto kPlace<StackFrame> = "/$defs/frame";
template <>
inline constexpr auto kPlace<Wait> = "/$defs/wait";
template <>
inline constexpr auto kPlace<CrashReport> = "/$defs/crash_report";
template <>
inline constexpr auto kPlace<GpuEvent> = "/$defs/gpu_event";

/// Holds the schema against the fields of a record and of all records that it consists of.
class SchemaFields : public testing::Test {
 protected:
  template <typename Value>
  void check() {
    if constexpr (std::is_same_v<Value, Termination>) {
      check<Exited>();
      check<Signaled>();
      check<NotSpawned>();
      check<NotReaped>();
    } else if constexpr (!std::is_same_v<Value, HelloEvent>) {  // a text
      check_record<Value>();
    }
  }

  std::set<std::string> seen_;

 private:
  template <Described Record>
  void check_record() {
    const std::string place = kPlace<Record>;
    if (!seen_.insert(place).second) return;
    ASSERT_NE(place, "") << "the schema's place of a record is not named in this test";
    const json& described = published_schema().at(json::json_pointer(place));
    std::set<std::string> keys;
    std::set<std::string> always;
    const auto add = [&keys, &always](const char* key, bool required) {
      keys.insert(key);
      if (required) always.insert(key);
    };
    for_each_field<Record>([&]<typename Field>(const Field& field) {
      if constexpr (Field::presence != Presence::apart) {
        add(field.key, Field::presence != Presence::if_any);
        const json property = described.at("properties").value(field.key, json::object());
        const std::string type =
            Field::notation == Notation::hex ? "" : type_of<typename Field::Value>();
        if (property.contains("type") && property["type"].is_string() && !type.empty()) {
          EXPECT_EQ(property["type"], type) << place << "/properties/" << field.key;
        }
        if constexpr (Field::kind == FieldKind::record) {
          this->check<typename Inner<typename Field::Value>::Type>();
        }
      }
    });
    std::apply([&](const auto&... derived) { (add(derived.key, true), ...); },
               derived_keys<Record>);
    if (std::string_view(place).find("termination") != std::string_view::npos) add("kind", true);
    std::set<std::string> published;
    for (const auto& [key, property] : described.at("properties").items()) published.insert(key);
    EXPECT_EQ(published, keys) << place << ": properties";
    EXPECT_EQ(described.at("required").get<std::set<std::string>>(), always)
        << place << ": required";
    EXPECT_EQ(described.at("additionalProperties"), false) << place;
  }
};

TEST_F(SchemaFields, OfEachRecordAreThoseThatTheReportHas) {
  check<TrialRecord>();
  EXPECT_EQ(seen_.size(), 25U);
}

}  // namespace
}  // namespace mpsprobe
