#include "harness/journal/journal_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "harness/journal/header_json.h"
#include "harness/journal/journal_line.h"
#include "harness/journal/trial_json.h"
#include "harness/wire/input_error.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

/// Of a line; the reader goes on behind it.
struct Damage {
  std::string why;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  Journal read() {
    std::ifstream stream(file_, std::ios::binary);
    if (!stream) {
      throw JournalError(
          fmt::format("{}: cannot be read: {}. Name the folder of a run, which "
                      "holds journal.ndjson",
                      file_.string(), std::strerror(errno)));
    }
    std::string line;
    while (std::getline(stream, line)) {
      ++number_;
      if (stream.eof()) {  // no newline at its end: cut off by a kill
        journal_.torn = true;
        break;
      }
      if (number_ == 1) {
        take_first(line);
      } else {
        take_or_skip(line);
      }
    }
    if (number_ == 0 || (number_ == 1 && journal_.torn)) {
      fail("its first record was cut off, so that nothing of the run is there");
    }
    return std::move(journal_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw JournalError(fmt::format(
        "{}:{}: {}. Begin a new run; `mpsprobe run --out` with this folder moves what is left of "
        "an unfinished first record aside",
        file_.string(), std::max<size_t>(number_, 1), problem));
  }

  static json parsed(const std::string& line) {
    const auto shallow = [](int depth, json::parse_event_t, const json&) { return depth <= 32; };
    return json::parse(line, shallow);
  }

  /// Calls `take`; what is no record of this version comes out as Damage.
  template <typename Take>
  static void guarded(Take take) {
    try {
      take();
    } catch (const json::exception& error) {
      throw Damage{std::string("it is no record: ") + error.what()};
    } catch (const InputError& error) {
      throw Damage{std::string("it is no record: ") + error.what()};
    } catch (const std::bad_optional_access&) {
      throw Damage{"it holds a word that this version does not know"};
    }
  }

  void take_first(const std::string& line) {
    try {
      guarded([&] {
        const json object = parsed(line);
        if (object.at("record") != "campaign") fail("it has no campaign record");
        const json& version = object.at("journal_version");
        if (version != kJournalVersion && version != kUnsealedVersion) {
          fail("it was written by another version of mpsprobe");
        }
        if (version == kJournalVersion) {
          journal_.run = object.at("run").get<std::string>();
          const std::string broken = broken_seal(line, journal_.run);
          if (!broken.empty()) fail("the record that says what the run is, is damaged: " + broken);
        }
        journal_.header = header_from_json(object.at("campaign"));
        journal_.next_number = 1;
      });
    } catch (const Damage& damage) {
      fail("the record that says what the run is, is damaged: " + damage.why);
    }
  }

  void take_or_skip(const std::string& line) {
    try {
      if (!journal_.run.empty()) {
        if (std::string broken = broken_seal(line, journal_.run); !broken.empty()) {
          throw Damage{std::move(broken)};
        }
      }
      guarded([&] { take(parsed(line)); });
    } catch (const Damage& damage) {
      journal_.damaged.push_back({number_, damage.why});
    }
  }

  void take(const json& object) {
    if (!journal_.run.empty()) {
      const uint64_t place = object.at("n");
      if (place < journal_.next_number) throw Damage{"it stands there twice, or out of its place"};
      journal_.next_number = place + 1;
    }
    const std::string record = object.at("record");
    if (record == "provenance") {
      journal_.provenances[object.at("id").get<std::string>()] = object.at("provenance");
    } else if (record == "images") {
      std::vector<ImageSeen> images;
      for (const json& image : object.at("images")) {
        images.push_back({image.at("path"), image.at("id")});
      }
      journal_.image_sets[object.at("id").get<std::string>()] = std::move(images);
    } else if (record == "trial") {
      TrialRecord trial = trial_from_json(object.at("trial"));
      if (!journal_.run.empty()) check_references(trial);
      journal_.trials.push_back(std::move(trial));
    } else if (record == "known_good") {
      take_known_good(object);
    } else if (record == "end") {
      journal_.ends.push_back({object.at("reason"), object.at("ended"), object.at("note")});
    } else {
      throw Damage{"it is no record that this version knows"};
    }
  }

  void take_known_good(const json& object) {
    const uint64_t sequence = object.at("sequence");
    const auto trial = std::find_if(
        journal_.trials.rbegin(), journal_.trials.rend(),
        [sequence](const TrialRecord& candidate) { return candidate.sequence == sequence; });
    if (trial == journal_.trials.rend()) throw Damage{"it belongs to a trial that is not there"};
    trial->known_good = known_good_from_json(object.at("known_good"));
  }

  /// What a trial refers to may be on a line that was skipped.
  void check_references(const TrialRecord& trial) const {
    for (const ProcessRecord& process : trial.processes) {
      const bool library =
          !process.hello.has_value() || journal_.provenances.contains(process.hello->provenance);
      const bool images =
          process.image_set.empty() || journal_.image_sets.contains(process.image_set);
      if (!library || !images) throw Damage{"it refers to a line that is damaged"};
    }
  }

  std::filesystem::path file_;
  size_t number_ = 0;
  Journal journal_;
};

}  // namespace

Journal read_journal(const std::filesystem::path& file) {
  return Reader(file).read();
}

bool has_first_record(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string line;
  return std::getline(stream, line) && !stream.eof();
}

}  // namespace mpsprobe
