// Writes the schemas of mpsprobe's files into a folder: a step of the build.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "harness/matrix/matrix.h"
#include "harness/wire/axis.h"
#include "reports/schema/schema_of.h"
#include "reports/writers/json_members.h"

namespace mpsprobe {

Schema schema_of_object(const Schema& properties, const std::vector<std::string>& required) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", required},
          {"properties", properties}};
}

Schema schema_of_file(const char* address, const char* title, const Schema& object) {
  Schema schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"$id", address},
                   {"title", title}};
  schema.update(object);
  return schema;
}

namespace {

const char* const kVariable = "env[.][A-Za-z_][A-Za-z0-9_]*";

Schema text() {
  return {{"type", "string"}, {"minLength", 1}};
}

Schema noted(Schema schema, std::string_view what) {
  schema["description"] = what;
  return schema;
}

Schema whole_number(double least, double most) {
  return {{"type", "integer"},
          {"minimum", static_cast<int64_t>(least)},
          {"maximum", static_cast<int64_t>(most)}};
}

Schema matching(const std::string& pattern) {
  return {{"type", "string"}, {"pattern", pattern}};
}

std::string one_of(std::span<const std::string_view> values) {
  std::string pattern;
  for (std::string_view value : values) {
    if (!pattern.empty()) pattern += '|';
    for (char c : value) pattern += c == '+' ? std::string("\\+") : std::string(1, c);
  }
  return "(" + pattern + ")";
}

std::string several(const std::string& value) {
  return fmt::format("^{0}(,{0})*$", value);
}

Schema not_empty(Schema items) {
  Schema list = schema_of_list(std::move(items));
  list["minItems"] = 1;
  return list;
}

Schema schema_of_values(const Axis& axis) {
  if (axis.kind == AxisKind::choice) return matching(several(one_of(axis.values)));
  if (axis.kind == AxisKind::text) return text();
  const std::string number = axis.minimum == 0 ? "(0|[1-9][0-9]*)" : "[1-9][0-9]*";
  const double least = static_cast<double>(axis.minimum);
  return {{"anyOf",
           {whole_number(least, static_cast<double>(axis.maximum)),
            matching(several(fmt::format("{0}(-{0})?", number)))}}};
}

/// Values for axes, as people write them.
Schema schema_of_axes() {
  Schema properties = Schema::object();
  for (const Axis& axis : axes()) {
    properties[std::string(axis.name)] = noted(not_empty(schema_of_values(axis)), axis.help);
  }
  Schema schema = schema_of_object(properties, {});
  schema["patternProperties"] = {
      {fmt::format("^{}$", kVariable), not_empty({{"type", {"string", "integer"}}})}};
  return schema;
}

Schema schema_of_run() {
  Schema properties = Schema::object();
  for (const RunKey& key : kRunKeys) {
    properties[std::string(key.name)] = {
        {"type", key.whole ? "integer" : "number"}, {"minimum", key.low}, {"maximum", key.high}};
  }
  return schema_of_object(properties, {});
}

Schema failing_outcomes() {
  Schema words = {"any"};
  for (size_t i = 0; i < kWordsOf<Outcome>.size(); ++i) {
    if (is_failure(static_cast<Outcome>(i))) words.push_back(kWordsOf<Outcome>[i]);
  }
  return {{"enum", std::move(words)}};
}

Schema versions(Schema properties) {
  properties["from"] = noted(text(), "the first that counts");
  properties["before"] = noted(text(), "the first that does not");
  return properties;
}

Schema schema_of_where() {
  return schema_of_object(
      {{"cells", noted(not_empty(text()), "texts of cells; * and ? stand for others")},
       {"axes", schema_of_axes()},
       {"matrix", text()},
       {"worker", noted(text(), "label of the worker's arm")},
       {"code", noted(text(), "own code: \"app.py::infer\", or the words of a command")},
       {"chip", noted(text(), "\"Apple M3*\"")},
       {"os", noted(text(), "\"macOS\"")},
       {"os_build", schema_of_object(versions({}), {})},
       {"library", schema_of_object(versions({{"name", text()}}), {"name"})},
       {"simulated", {{"type", "boolean"}}},
       {"paravirtual", {{"type", "boolean"}}}},
      {});
}

Schema schema_of_known_failure() {
  const std::string day = "\\d{4}-\\d{2}-\\d{2}";
  const Schema moment =
      matching(fmt::format("^{}(T\\d{{2}}:\\d{{2}}:\\d{{2}}(\\.\\d{{3}})?Z?)?$", day));
  Schema schema = schema_of_object(
      {{"where", schema_of_where()},
       {"signature", text()},
       {"outcome", noted(failing_outcomes(), "that no entry with a signature knows")},
       {"failures", whole_number(1, 1e9)},
       {"trials", whole_number(1, 1e9)},
       {"first_seen", moment},
       {"last_seen", moment},
       {"until", noted(moment, "runs that started up to then are counted")},
       {"issue", noted(text(), "a link")},
       {"review_by", noted(matching(fmt::format("^{}$", day)), "then it is expired")},
       {"owner", text()}},
      {"where"});
  schema["oneOf"] = {{{"required", {"signature"}}}, {{"required", {"outcome"}}}};
  schema["dependentRequired"] = {{"failures", {"trials"}}, {"trials", {"failures"}}};
  return schema;
}

}  // namespace

Schema schema_of_cell(bool whole) {
  return matching(fmt::format("^{}/[a-z0-9_.]+/{}(/([a-z]+|{})=[A-Za-z0-9_+.:-]+){}$",
                              one_of(axes()[0].values), one_of(axes()[2].values), kVariable,
                              whole ? "+" : "*"));
}

namespace {

/// Of the files that people write: a matrix, and known failures.
Schema matrix_schema() {
  const Schema where = {{"$ref", "#/$defs/axes"}};
  const Schema named = {{"$ref", "#/$defs/axes"}, {"minProperties", 1}};
  const Schema verdict = schema_of_object(
      {{"where", where}, {"verdict", schema_of_words<Verdict>()}}, {"where", "verdict"});
  const Schema outcome = schema_of_object(
      {{"where", where}, {"outcome", schema_of_words<Outcome>()}, {"detail", {{"type", "string"}}}},
      {"where", "outcome"});
  const Schema block = schema_of_object(
      {{"title", {{"type", "string"}}},
       {"axes", where},
       {"if_failed", noted({{"type", "boolean"}},
                           "its cells are run where others that differ from them "
                           "in threads, processes, lock and warmup alone failed")}},
      {"title", "axes"});
  Schema matrix =
      schema_of_object({{"$schema", {{"type", "string"}}},
                        {"mpsprobe_matrix", {{"const", 1}}},
                        {"name", {{"type", "string"}}},
                        {"description", {{"type", "string"}}},
                        {"run", noted(schema_of_run(), "what the command line overrides")},
                        {"axes", noted(where, "short for one block that has the matrix's name")},
                        {"blocks", schema_of_list(block)},
                        {"include", schema_of_list(schema_of_cell(false))},
                        {"exclude", schema_of_list(named)},
                        {"expect", noted(schema_of_list({{"oneOf", {verdict, outcome}}}),
                                         "the last that matches a cell counts")}},
                       {"mpsprobe_matrix", "name"});
  matrix["anyOf"] = {
      {{"required", {"axes"}}}, {{"required", {"blocks"}}}, {{"required", {"include"}}}};
  matrix["$defs"]["axes"] = schema_of_axes();
  return schema_of_file("https://mpsprobe.invalid/schema/matrix-1.json",
                        "mpsprobe matrix, version 1", matrix);
}

Schema expectations_schema() {
  const Schema entries = schema_of_list({{"$ref", "#/$defs/entry"}});
  Schema file =
      schema_of_object({{"$schema", {{"type", "string"}}},
                        {"mpsprobe_expectations", {{"const", 1}}},
                        {"known", noted(entries, "what people wrote")},
                        {"recorded", noted(entries, "what `mpsprobe expect update` writes")}},
                       {"mpsprobe_expectations"});
  file["$defs"]["entry"] = schema_of_known_failure();
  return schema_of_file("https://mpsprobe.invalid/schema/expectations-1.json",
                        "mpsprobe known failures, version 1", file);
}

Schema report_schema() {
  Schema report = schema_of<Report>();
  report["properties"]["$schema"] = {{"const", kReportSchema}};
  report["properties"]["mpsprobe_report"] = {{"const", kReportVersion}};
  return schema_of_file(kReportSchema, "mpsprobe report, version 2", report);
}

bool write(const std::filesystem::path& file, const Schema& schema) {
  std::ofstream stream(file);
  stream << schema.dump(1) << "\n";
  return static_cast<bool>(stream.flush());
}

}  // namespace
}  // namespace mpsprobe

int main(int argc, char** argv) {
  using namespace mpsprobe;
  const std::filesystem::path folder = argc == 2 ? argv[1] : ".";
  const bool written = write(folder / "report.schema.json", report_schema()) &&
                       write(folder / "matrix.schema.json", matrix_schema()) &&
                       write(folder / "expectations.schema.json", expectations_schema());
  if (!written) std::fprintf(stderr, "%s: cannot be written\n", folder.c_str());
  return written ? 0 : 1;
}
