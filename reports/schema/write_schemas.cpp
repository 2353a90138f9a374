// Writes the schemas of mpsprobe's files into a folder: a step of the build.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "reports/schema/input_schemas.h"
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
