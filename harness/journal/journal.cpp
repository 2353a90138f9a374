#include "harness/journal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>

#include "harness/journal/header_json.h"
#include "harness/journal/trial_json.h"
#include "harness/wire/input_error.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

constexpr int kJournalVersion = 2;

std::string dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// FNV-1a, 64 bits: names equal texts equally; nothing here has to withstand an attacker.
std::string name_for(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

json images_to_json(const std::vector<ImageSeen>& images) {
  json list = json::array();
  for (const ImageSeen& image : images) {
    list.push_back({{"path", valid_utf8(image.path)}, {"id", valid_utf8(image.id)}});
  }
  return list;
}

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
      take(line);
    }
    if (!has_header_) fail("it has no campaign record");
    return std::move(journal_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw JournalError(
        fmt::format("{}:{}: {}. A journal is written by `mpsprobe run` and not meant "
                    "to be edited; use an older copy, or run again",
                    file_.string(), number_, problem));
  }

  void take(const std::string& line) {
    try {
      const auto shallow = [](int depth, json::parse_event_t, const json&) { return depth <= 32; };
      const json object = json::parse(line, shallow);
      const std::string record = object.at("record");
      if (record == "campaign") {
        if (object.at("journal_version") != kJournalVersion) {
          fail("it was written by another version of mpsprobe");
        }
        journal_.header = header_from_json(object.at("campaign"));
        has_header_ = true;
      } else if (record == "provenance") {
        journal_.provenances[object.at("id").get<std::string>()] = object.at("provenance");
      } else if (record == "images") {
        std::vector<ImageSeen>& images = journal_.image_sets[object.at("id").get<std::string>()];
        images.clear();
        for (const json& image : object.at("images")) {
          images.push_back({image.at("path"), image.at("id")});
        }
      } else if (record == "trial") {
        journal_.trials.push_back(trial_from_json(object.at("trial")));
      } else if (record == "known_good") {
        const uint64_t sequence = object.at("sequence");
        const auto trial = std::find_if(
            journal_.trials.rbegin(), journal_.trials.rend(),
            [sequence](const TrialRecord& candidate) { return candidate.sequence == sequence; });
        if (trial == journal_.trials.rend()) fail("it follows no trial");
        trial->known_good = known_good_from_json(object.at("known_good"));
      } else if (record == "end") {
        journal_.ends.push_back({object.at("reason"), object.at("ended"), object.at("note")});
      } else {
        fail("unknown record");
      }
    } catch (const json::exception& error) {
      fail(std::string("this is no record: ") + error.what());
    } catch (const InputError& error) {
      fail(std::string("this is no record: ") + error.what());
    } catch (const std::bad_optional_access&) {
      fail("it holds a word that this version does not know");
    }
  }

  std::filesystem::path file_;
  size_t number_ = 0;
  bool has_header_ = false;
  Journal journal_;
};

}  // namespace

Journal read_journal(const std::filesystem::path& file) {
  return Reader(file).read();
}

struct JournalWriter::State {
  std::filesystem::path file;
  Journal existing;
  int fd = -1;
  bool broken = false;  // a torn record could not be taken away again
  std::mutex mutex;
  std::set<std::string> stored;  // ids of provenances and lists of images

  ~State() {
    if (fd >= 0) close(fd);
  }

  [[noreturn]] void fail(const char* what) const {
    const bool forbidden = errno == EACCES || errno == EPERM || errno == EROFS;
    throw JournalError(fmt::format(
        "{}: {}: {}. {}", file.string(), what, std::strerror(errno),
        forbidden ? std::string("Choose a folder that can be written with --out")
                  : fmt::format("Free some space or choose another folder with --out; what was "
                                "finished is kept, `mpsprobe run --resume {}` goes on from there",
                                file.parent_path().string())));
  }

  void open_file(const std::filesystem::path& path, int flags) {
    fd = open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0644);
    if (fd < 0) fail("cannot be opened");
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return;
    if (errno != EWOULDBLOCK) fail("cannot be locked");
    throw JournalError(file.string() +
                       ": another mpsprobe is writing this journal. Wait for it, or choose "
                       "another folder with --out");
  }

  void sync() const {
#ifdef __APPLE__
    // fsync alone leaves it in the drive's cache there; not every file system knows the stronger
    // one.
    const int synced = fcntl(fd, F_FULLFSYNC) == 0 ? 0 : fsync(fd);
#else
    const int synced = fdatasync(fd);
#endif
    if (synced != 0) fail("cannot be brought to disk");
  }

  // All of it or none of it: what a full disk cut off is taken away again.
  void write_whole(const std::string& text) {
    if (broken) fail("holds a torn record");
    const off_t before = lseek(fd, 0, SEEK_END);
    for (size_t done = 0; done < text.size();) {
      const ssize_t written = write(fd, text.data() + done, text.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        const int error = errno;
        broken = ftruncate(fd, before) != 0;
        errno = error;
        fail("cannot be written");
      }
      done += static_cast<size_t>(written);
    }
    sync();
  }

  // Back to the end of the last whole line.
  void cut_torn_line() {
    off_t size = lseek(fd, 0, SEEK_END);
    char byte = 0;
    while (size > 0 && pread(fd, &byte, 1, size - 1) == 1 && byte != '\n') --size;
    if (ftruncate(fd, size) != 0) fail("its torn last line cannot be cut off");
  }
};

JournalWriter::JournalWriter(const std::filesystem::path& file, const CampaignHeader& header)
    : state_(std::make_unique<State>()) {
  state_->file = file;
  // Written beside its place and then linked into it: a kill in between leaves no headless journal.
  const std::filesystem::path fresh = file.string() + ".new";
  state_->open_file(fresh, O_CREAT);
  if (ftruncate(state_->fd, 0) != 0) state_->fail("cannot be emptied");
  state_->write_whole(dump({{"record", "campaign"},
                            {"journal_version", kJournalVersion},
                            {"campaign", header_to_json(header)}}));
  if (link(fresh.c_str(), file.c_str()) != 0) state_->fail("cannot be created");
  unlink(fresh.c_str());
  const int folder = open(file.parent_path().c_str(), O_RDONLY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);  // the name itself, too; best effort, not every file system can
    close(folder);
  }
}

JournalWriter::JournalWriter(const std::filesystem::path& file)
    : state_(std::make_unique<State>()) {
  state_->file = file;
  state_->open_file(file, 0);
  state_->existing = read_journal(file);
  for (const auto& [id, data] : state_->existing.provenances) state_->stored.insert(id);
  for (const auto& [id, images] : state_->existing.image_sets) state_->stored.insert(id);
  if (state_->existing.torn) state_->cut_torn_line();
}

const Journal& JournalWriter::existing() const {
  return state_->existing;
}

JournalWriter::~JournalWriter() = default;

void JournalWriter::append(const TrialRecord& trial) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::string text;
  TrialRecord stored = trial;
  std::set<std::string> fresh;
  // What thousands of processes have in common is written once, before the first that refers to it.
  const auto store_once = [&](const char* record, const std::string& content, auto to_json) {
    std::string id = name_for(record + content);
    if (!state_->stored.contains(id) && fresh.insert(id).second) {
      text += dump({{"record", record}, {"id", id}, {record, to_json()}});
    }
    return id;
  };
  for (ProcessRecord& process : stored.processes) {
    if (!process.recorder.images.empty()) {
      json images = images_to_json(process.recorder.images);
      process.image_set = store_once("images", images.dump(), [&] { return images; });
    }
    if (!process.hello.has_value()) continue;
    const std::string provenance = process.hello->provenance;
    process.hello->provenance = store_once("provenance", provenance,
                                           [&] { return json::parse(provenance, nullptr, false); });
  }
  text += dump({{"record", "trial"}, {"trial", trial_to_json(stored)}});
  state_->write_whole(text);
  state_->stored.merge(fresh);
}

void JournalWriter::append(uint64_t sequence, const KnownGood& known_good) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->write_whole(dump({{"record", "known_good"},
                            {"sequence", sequence},
                            {"known_good", known_good_to_json(known_good)}}));
}

void JournalWriter::append(const CampaignEnd& end) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->write_whole(
      dump({{"record", "end"}, {"reason", end.reason}, {"ended", end.ended}, {"note", end.note}}));
}

}  // namespace mpsprobe
