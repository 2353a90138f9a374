#include "reproducers/bundle/bundle_record.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

BundleRecord sample() {
  BundleRecord record;
  record.mpsprobe_version = "0.1.0";
  record.signature = "bad access in mpsprobe::sim::SharedKernel::set_pipeline_state";
  record.simulated = true;
  record.measured = "2026-01-31T12:34:56.789Z";
  record.machine = {"Debian GNU/Linux 12", "6.1", "", "x86-64"};
  record.seed = 18446744073709551615U;
  record.timeout_seconds = 60.5;
  record.environment = {"MPS_FORCE_GRAPH_PATH"};
  const BuildIdentity build{"2.15.0", "d0f2af8", "52c133b04b74"};
  record.cells.push_back({parse_cell("sim/linear/nograph/threads=3"),
                          "stock",
                          build,
                          {"simulated Metal device"},
                          9,
                          1,
                          10,
                          false});
  record.cells.push_back(
      {parse_cell("sim/linear/nograph/threads=1"), "stock", build, {}, 0, 0, 10, true});
  return record;
}

std::string complaint(const std::string& text) {
  try {
    parse_bundle_record(text, "bundle.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// The sample with one value replaced.
std::string with(const std::string& pointer, json value) {
  json object = json::parse(bundle_record_json(sample()));
  object[json::json_pointer(pointer)] = std::move(value);
  return object.dump();
}

TEST(BundleRecord, IsReadBackAsItWasWritten) {
  const BundleRecord record = sample();
  const std::string text = bundle_record_json(record);
  EXPECT_EQ(parse_bundle_record(text, "here"), record);
  EXPECT_EQ(bundle_record_json(parse_bundle_record(text, "here")), text);
}

TEST(BundleRecord, EveryKeyHasToBeThere) {
  const json whole = json::parse(bundle_record_json(sample()));
  const json sub[] = {whole, whole.at("machine"), whole.at("cells").at(0),
                      whole.at("cells").at(0).at("build")};
  const char* const places[] = {"", "/machine", "/cells/0", "/cells/0/build"};
  for (size_t i = 0; i < std::size(sub); ++i) {
    for (const auto& [key, ignored] : sub[i].items()) {
      json object = whole;
      object[json::json_pointer(places[i])].erase(key);
      EXPECT_NE(complaint(object.dump()), "accepted") << places[i] << "/" << key;
      json nulled = whole;
      nulled[json::json_pointer(std::string(places[i]) + "/" + key)] = nullptr;
      EXPECT_NE(complaint(nulled.dump()), "accepted") << places[i] << "/" << key;
    }
    json more = whole;
    more[json::json_pointer(std::string(places[i]) + "/surprise")] = 1;
    EXPECT_THAT(complaint(more.dump()), HasSubstr("/surprise: is no part")) << places[i];
  }
}

TEST(BundleRecord, WhatNoRunCanHaveIsRefusedWithItsPlace) {
  EXPECT_THAT(complaint(with("/mpsprobe_bundle", 2)), HasSubstr("is of version 2"));
  EXPECT_THAT(complaint(with("/cells/0/cell", "sim/linear/nograph/threads=99999")),
              HasSubstr("threads"));
  EXPECT_THAT(complaint(with("/cells/0/otherwise", -1)),
              HasSubstr("cells/0: has counts that cannot be"));
  EXPECT_THAT(complaint(with("/cells/0/failures", 2.5)),
              HasSubstr("2.5: is no number of this kind"));
  EXPECT_THAT(complaint(with("/cells/0/trials", 1000001)), HasSubstr("of 0 to 1000000 trials"));
  EXPECT_THAT(complaint(with("/cells/0/failures", 10)), HasSubstr("no more failures"));
  EXPECT_THAT(complaint(with("/cells/0/control", true)), HasSubstr("no cell that failed"));
  EXPECT_THAT(complaint(with("/cells", json::array())), HasSubstr("no cell that failed"));
  EXPECT_THAT(complaint(with("/signature", "")), HasSubstr("is empty"));
  EXPECT_THAT(complaint(with("/signature", std::string(5000, 'x'))), HasSubstr("over 4096 bytes"));
  EXPECT_THAT(complaint(with("/timeout_seconds", 1e12)), HasSubstr("86400"));
  EXPECT_THAT(complaint(with("/seed", -1)), HasSubstr("-1: is no number of this kind"));
  EXPECT_THAT(complaint(with("/environment", json(std::vector<std::string>(5000, "A")))),
              HasSubstr("environment: has more than 4096"));
  EXPECT_THAT(complaint("{\"mpsprobe_bundle\":1e999}"), HasSubstr("is not JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("is no record of a bundle"));
  EXPECT_THAT(complaint(""), HasSubstr("is not JSON"));
}

TEST(BundleRecord, ASimulatedCellCannotPassForARealOne) {
  EXPECT_THAT(complaint(with("/simulated", false)), HasSubstr("simulated device"));
}

TEST(BundleRecord, OneCellOfOneBuildStandsThereOnce) {
  json object = json::parse(bundle_record_json(sample()));
  object["cells"].push_back(object["cells"][0]);
  EXPECT_THAT(complaint(object.dump()), HasSubstr("twice for one build"));
}

TEST(BundleRecord, NeitherRepeatedKeysNorDepthNorSizeGetThrough) {
  std::string text = bundle_record_json(sample());
  text.insert(1, "\"simulated\": false,");
  EXPECT_THAT(complaint(text), HasSubstr("\"simulated\" twice"));
  EXPECT_THAT(complaint(std::string(100'000, '[')), HasSubstr("bundle.json"));
  EXPECT_THAT(complaint(std::string(100'000, '[') + std::string(100'000, ']')),
              HasSubstr("nested deeper"));
  EXPECT_THAT(complaint(std::string(kMostBundleBytes + 1, ' ')), HasSubstr("is over"));
}

TEST(BundleRecord, WhatNoReaderTakesIsNotWritten) {
  BundleRecord record = sample();
  record.cells.clear();
  EXPECT_THROW(bundle_record_json(record), InputError);
}

class BundleFolder : public testing::Test {
 protected:
  BundleFolder() {
    char pattern[] = "/tmp/mpsprobe-bundle-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~BundleFolder() override { fs::remove_all(folder_); }

  std::string complaint_of(const fs::path& path) const {
    try {
      read_bundle_record(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_;
};

TEST_F(BundleFolder, IsReadByItsNameOrThatOfItsRecord) {
  std::ofstream(folder_ / "bundle.json") << bundle_record_json(sample());
  EXPECT_EQ(read_bundle_record(folder_), sample());
  EXPECT_EQ(read_bundle_record(folder_ / "bundle.json"), sample());
}

TEST_F(BundleFolder, WhatIsNoBundleIsNamed) {
  EXPECT_THAT(complaint_of(folder_), HasSubstr("bundle.json: is no file"));
  EXPECT_THAT(complaint_of(folder_ / "none"), HasSubstr("is no file"));
  std::ofstream(folder_ / "bundle.tar.gz") << "archive";
  EXPECT_THAT(complaint_of(folder_ / "bundle.tar.gz"), HasSubstr("Unpack the archive"));
  std::ofstream(folder_ / "bundle.json") << std::string(kMostBundleBytes + 10, ' ');
  EXPECT_THAT(complaint_of(folder_), HasSubstr("is over"));
}

TEST_F(BundleFolder, APipeDoesNotHoldItsReader) {
  ASSERT_EQ(mkfifo((folder_ / "bundle.json").c_str(), 0600), 0);
  EXPECT_THAT(complaint_of(folder_), HasSubstr("is no file that can be read"));
}

}  // namespace
}  // namespace mpsprobe
