#include "harness/journal/journal_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/journal/header_fields.h"
#include "harness/journal/header_json.h"
#include "harness/journal/journal_line.h"
#include "harness/journal/record_json.h"
#include "harness/journal/trial_json.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

using Take = std::function<void(TrialRecord&&)>;

/// A line that no version of ours writes.
class TooDeep {};

json parsed_shallow(const std::string& line) {
  if (nested_deeper(line, kDeepestRecord)) throw TooDeep();
  return parsed_json(line);
}

/// Calls `take`; says why what it took is no record of this version, and "" where it is one.
template <typename Function>
std::string problem_of(Function take) {
  try {
    take();
    return "";
  } catch (const json::exception& error) {
    return std::string("it is no record: ") + json_problem(error);
  } catch (const InputError& error) {
    return std::string("it is no record: ") + error.what();
  } catch (const TooDeep&) {
    return "it is nested deeper than any record";
  } catch (const std::bad_optional_access&) {
    return "it holds a word that this version does not know";
  }
}

/// A line by itself, before the lines around it are looked at.
struct Line {
  std::string text;
  uint64_t offset = 0;
  std::string why;  ///< it is damaged; "" where it is whole
  json object;      ///< without "trial", which is in `trial`
  std::optional<TrialRecord> trial;
};

void parse_line(Line& line, const std::string& run) {
  if (!run.empty()) line.why = broken_seal(line.text, run);
  if (!line.why.empty()) return;
  line.why = problem_of([&line] {
    line.object = parsed_shallow(line.text);
    if (line.object.at("record") != "trial") return;
    line.trial = trial_from_json(line.object.at("trial"));
    line.object.erase("trial");
  });
}

/// Each by itself, on as many processors as there are: that is nearly all of the time that reading
/// takes.
void parse_lines(std::vector<Line>& lines, size_t count, const std::string& run) {
  constexpr size_t kFewest = 32;  // for a thread
  const size_t most = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  const size_t share = std::max(kFewest, (count + most - 1) / most);
  const auto parse = [&lines, &run, count, share](size_t begin) {
    for (size_t i = begin; i < std::min(begin + share, count); ++i) parse_line(lines[i], run);
  };
  std::vector<std::future<void>> others;
  for (size_t begin = share; begin < count; begin += share) {
    try {
      others.push_back(std::async(std::launch::async, parse, begin));
    } catch (const std::system_error&) {  // no more threads
      parse(begin);
    }
  }
  parse(0);
  for (std::future<void>& other : others) other.get();
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file)
      : file_(file), stored_(std::make_shared<StoredTrials>()) {
    std::error_code error;
    const std::filesystem::file_status is = std::filesystem::symlink_status(file, error);
    if (exists(is) && !is_regular_file(is)) {
      fail("is no plain file", "Name the folder of a run, which holds journal.ndjson");
    }
    stream_ = open_plain_file(file);
  }

  Journal read(const Take& take) {
    if (!stream_.is_open()) {
      throw JournalError(fmt::format(
          "{}: cannot be read: {}. Name the folder of a run, which holds journal.ndjson",
          file_.string(), std::strerror(errno)));
    }
    Line first;
    if (!next(first)) {
      fail("its first record was cut off, so that nothing of the run is there",
           "Begin a new run; `mpsprobe run --out` with this folder moves what is left aside");
    }
    take_first(first.text);
    if (take == nullptr) return std::move(journal_);
    constexpr size_t kMostLines = 512;
    constexpr size_t kMostBytes = 4 << 20;
    std::vector<Line> lines(kMostLines);
    for (size_t count = 1; count > 0;) {
      count = 0;
      size_t bytes = 0;
      while (count < kMostLines && bytes < kMostBytes && next(lines[count])) {
        bytes += lines[count++].text.size();
      }
      parse_lines(lines, count, journal_.run);
      for (size_t i = 0; i < count; ++i) take_or_skip(lines[i], take);
    }
    journal_.stored = stored_;
    return std::move(journal_);
  }

 private:
  static constexpr const char* kOfDamaged =
      "Nobody knows any more what its trials are of: begin a new run in another folder (`mpsprobe "
      "run --out`), or put a copy of this file in its place";

  [[noreturn]] void fail(const std::string& problem, const char* remedy = kOfDamaged) const {
    throw JournalError(fmt::format("{}:1: {}. {}", file_.string(), problem, remedy));
  }

  /// The next whole line; false behind the last one.
  bool next(Line& line) {
    line = {.text = std::move(line.text), .offset = offset_};  // its room is used again
    if (!read_line(stream_, line.text, kMostLineBytes)) return false;
    ++lines_read_;
    if (line.text.size() > kMostLineBytes) {
      throw JournalError(
          fmt::format("{}:{}: the line is longer than any record: no end of it in {} MiB. {}",
                      file_.string(), lines_read_, kMostLineBytes >> 20, kOfDamaged));
    }
    journal_.torn = stream_.eof();  // no newline at its end: cut off by a kill
    offset_ += line.text.size() + 1;
    return !journal_.torn;
  }

  void take_first(const std::string& line) {
    const std::string problem = problem_of([&] {
      const json object = parsed_shallow(line);
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
    if (!problem.empty()) fail("the record that says what the run is, is damaged: " + problem);
  }

  void take_or_skip(Line& line, const Take& take) {
    ++number_;
    if (line.why.empty()) {
      const std::string problem = problem_of([&] { line.why = take_line(line, take); });
      if (!problem.empty()) line.why = problem;
    }
    if (!line.why.empty()) journal_.damaged.push_back({number_, line.why});
  }

  /// Why it cannot be taken; "" where it was.
  std::string take_line(Line& line, const Take& take) {
    const json& object = line.object;
    if (!journal_.run.empty()) {
      const uint64_t place = object.at("n");
      if (place < journal_.next_number) return "it stands there twice, or out of its place";
      journal_.next_number = place + 1;
    }
    const std::string record = object.at("record");
    if (record == "provenance") {
      journal_.provenances[object.at("id").get<std::string>()] = object.at("provenance");
    } else if (record == "images") {
      journal_.image_sets[object.at("id").get<std::string>()] =
          value_from_json<std::vector<ImageSeen>>(object.at("images"));
    } else if (record == "trial") {
      sequences_.push_back(line.trial->sequence);
      stored_->add(file_, line.offset);
      take(std::move(*line.trial));
    } else if (record == "known_good") {
      const uint64_t sequence = object.at("sequence");
      const auto trial = std::find(sequences_.rbegin(), sequences_.rend(), sequence);
      if (trial == sequences_.rend()) return "it belongs to a trial that is not there";
      stored_->set_known_good(static_cast<size_t>(sequences_.rend() - trial) - 1,
                              value_from_json<KnownGood>(object.at("known_good")));
    } else if (record == "end") {
      journal_.ends.push_back(value_from_json<CampaignEnd>(object));
    } else {
      return "it is no record that this version knows";
    }
    return "";
  }

  std::filesystem::path file_;
  std::ifstream stream_;
  uint64_t offset_ = 0;
  size_t number_ = 1;  // of the line, from 1
  size_t lines_read_ = 0;
  std::vector<uint64_t> sequences_;  // of the trials
  std::shared_ptr<StoredTrials> stored_;
  Journal journal_;
};

}  // namespace

Journal read_journal(const std::filesystem::path& file) {
  std::vector<TrialRecord> trials;
  Journal journal =
      Reader(file).read([&trials](TrialRecord&& trial) { trials.push_back(std::move(trial)); });
  for (const auto& [index, known_good] : journal.stored->known_goods()) {
    trials[index].known_good = known_good;
  }
  journal.stored.reset();
  journal.trials = std::move(trials);
  return journal;
}

Journal read_journal(const std::filesystem::path& file,
                     const std::function<void(const TrialRecord&)>& take) {
  return Reader(file).read(take);
}

CampaignHeader read_header(const std::filesystem::path& file) {
  return Reader(file).read(nullptr).header;
}

void for_each_trial(const Journal& journal, const std::function<void(const TrialRecord&)>& take) {
  if (journal.stored) return journal.stored->for_each(take);
  for (const TrialRecord& trial : journal.trials) take(trial);
}

TrialRecord trial_at(const Journal& journal, size_t index) {
  return journal.stored ? journal.stored->at(index) : journal.trials[index];
}

bool has_first_record(const std::filesystem::path& file) {
  std::ifstream stream = open_plain_file(file);
  std::string line;
  return stream.is_open() && read_line(stream, line, kMostLineBytes) && !stream.eof();
}

}  // namespace mpsprobe
