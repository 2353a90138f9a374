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
#include <set>

#include "harness/folder/folder.h"
#include "harness/input/input_file.h"
#include "harness/input/json_text.h"
#include "harness/journal/header_fields.h"
#include "harness/journal/header_json.h"
#include "harness/journal/journal_line.h"
#include "harness/journal/journal_reader.h"
#include "harness/journal/record_json.h"
#include "harness/journal/trial_json.h"
#include "harness/wire/write_all.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

std::string name_for(const std::string& text) {
  return fmt::format("{:016x}", fnv1a(text));
}

}  // namespace

bool names_backend(const WorkerInfo& worker, Backend backend) {
  const auto listed = worker.describe.find("backends");
  if (listed == worker.describe.end() || !listed->is_array() || listed->empty()) return true;
  return std::any_of(listed->begin(), listed->end(), [backend](const json& entry) {
    return entry.is_object() && entry.value("name", json()) == name_of(backend);
  });
}

bool is_being_written(const std::filesystem::path& file) {
  const Descriptor open = Folder(file.parent_path()).open(file.filename().string(), O_RDONLY);
  return open.is_open() && flock(open.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

struct JournalWriter::State {
  explicit State(std::filesystem::path journal)
      : file(std::move(journal)), name(file.filename().string()), folder(file.parent_path()) {
    if (!folder.is_open()) fail("cannot be opened");
  }

  std::filesystem::path file;
  std::string name;  // in its folder
  Folder folder;
  Journal existing;
  Descriptor open;
  bool broken = false;  // a torn record could not be taken away again
  std::mutex mutex;
  std::set<std::string> stored;  // ids of provenances and lists of images
  std::string run;               // its name; empty: an old journal, whose lines have no checksums
  uint64_t next_number = 0;

  [[noreturn]] void fail(const char* what) const {
    const bool forbidden = errno == EACCES || errno == EPERM || errno == EROFS;
    const bool no_file = errno == ELOOP || errno == ENOTDIR || errno == ENXIO;
    const std::string reason = reason_of(errno);
    std::string remedy = fmt::format(
        "Free some space or choose another folder with --out; what was finished is "
        "kept, and --resume {} goes on from there",
        file.parent_path().string());
    if (forbidden) {
      remedy =
          "Choose a folder that can be written with --out; a run that goes on goes on in a copy of "
          "its folder as well (--trust-run)";
    }
    if (no_file) remedy = "Move it away; a run's folder holds plain files";
    throw JournalError(fmt::format("{}: {}: {}. {}", file.string(), what, reason, remedy));
  }

  void lock() const {
    if (flock(open.get(), LOCK_EX | LOCK_NB) == 0) return;
    if (errno != EWOULDBLOCK) fail("cannot be locked");
    throw JournalError(file.string() +
                       ": another mpsprobe is writing this journal. Wait for it, or choose another "
                       "folder with --out");
  }

  void sync() const {
#ifdef __APPLE__
    // fsync alone leaves it in the drive's cache there; not every file system knows the stronger
    // one.
    const int synced = fcntl(open.get(), F_FULLFSYNC) == 0 ? 0 : fsync(open.get());
#else
    const int synced = fdatasync(open.get());
#endif
    if (synced != 0) fail("cannot be brought to disk");
  }

  // All of it or none of it: what a full disk cut off is taken away again.
  void write_whole(const std::string& text) {
    if (broken) fail("holds a torn record");
    const off_t before = lseek(open.get(), 0, SEEK_END);
    if (!write_all(open.get(), text)) {
      const int error = errno;
      broken = ftruncate(open.get(), before) != 0;
      errno = error;
      fail("cannot be written");
    }
    sync();
  }

  std::string line_of(const json& record) {
    if (!run.empty()) return sealed_line(record, next_number++, run);
    return json_text(record) + "\n";
  }

  /// The journal without its damaged lines takes its place; they are kept beside it.
  void leave_out(const std::vector<DamagedLine>& damaged) {
    std::ifstream whole = open_plain_file(file);
    const Descriptor aside = folder.open(name + ".damaged", O_WRONLY | O_APPEND | O_CREAT);
    if (!aside.is_open()) fail("its damaged lines cannot be kept beside it in FILE.damaged");
    NewFile fresh(folder, name);
    if (!fresh.is_open()) fail("cannot be written anew");
    // The old one stays locked until the new one has its place.
    const Descriptor old = std::exchange(open, Descriptor(dup(fresh.fd())));
    lock();
    bool good = true;
    size_t number = 0;
    for (std::string line; good && std::getline(whole, line) && !whole.eof();) {
      line += '\n';
      const auto size = static_cast<ssize_t>(line.size());
      good = std::ranges::binary_search(damaged, ++number, {}, &DamagedLine::line)
                 ? write(aside.get(), line.data(), line.size()) == size
                 : fresh.write(line);
    }
    if (!good || !fresh.sync()) fail("cannot be written anew, without its damaged lines");
    if (!fresh.replace()) fail("cannot be put in place");
  }

  // Back to the end of the last whole line.
  void cut_torn_line() {
    off_t size = lseek(open.get(), 0, SEEK_END);
    char byte = 0;
    while (size > 0 && pread(open.get(), &byte, 1, size - 1) == 1 && byte != '\n') --size;
    if (ftruncate(open.get(), size) != 0) fail("its torn last line cannot be cut off");
  }
};

JournalWriter::JournalWriter(const std::filesystem::path& file, const CampaignHeader& header)
    : state_(std::make_unique<State>(file)) {
  // Written beside its place and then put into it: a kill in between leaves no headless journal.
  NewFile fresh(state_->folder, state_->name);
  if (!fresh.is_open()) state_->fail("cannot be created");
  state_->open = Descriptor(dup(fresh.fd()));
  state_->lock();
  state_->run = new_run_name();
  state_->write_whole(state_->line_of({{"record", "campaign"},
                                       {"journal_version", kJournalVersion},
                                       {"run", state_->run},
                                       {"campaign", header_to_json(header)}}));
  if (!fresh.create()) state_->fail("cannot be created");
  state_->existing.header = header;
  state_->folder.sync();  // the name itself, too; best effort, not every file system can
}

JournalWriter::JournalWriter(const std::filesystem::path& file)
    : state_(std::make_unique<State>(file)) {
  state_->open = state_->folder.open(state_->name, O_RDWR);
  if (!state_->open.is_open()) state_->fail("cannot be opened");
  state_->lock();
  state_->existing = read_journal(file);
  for (const auto& [id, data] : state_->existing.provenances) state_->stored.insert(id);
  for (const auto& [id, images] : state_->existing.image_sets) state_->stored.insert(id);
  state_->run = state_->existing.run;
  state_->next_number = state_->existing.next_number;
  if (state_->existing.torn) state_->cut_torn_line();
  if (!state_->existing.damaged.empty()) state_->leave_out(state_->existing.damaged);
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
      text += state_->line_of({{"record", record}, {"id", id}, {record, to_json()}});
    }
    return id;
  };
  for (ProcessRecord& process : stored.processes) {
    if (!process.recorder.images.empty()) {
      json images = record_json::write<json>(process.recorder.images);
      process.image_set = store_once("images", json_text(images), [&] { return images; });
    }
    if (process.recorder.images.empty() && !state_->stored.contains(process.image_set)) {
      process.image_set.clear();  // of another journal: nothing in this one has that name
    }
    if (!process.hello.has_value()) continue;
    const std::string provenance = process.hello->provenance;
    process.hello->provenance =
        store_once("provenance", provenance, [&] { return parsed_if_json(provenance); });
  }
  text += state_->line_of({{"record", "trial"}, {"trial", trial_to_json(stored)}});
  state_->write_whole(text);
  state_->stored.merge(fresh);
}

void JournalWriter::append(uint64_t sequence, const KnownGood& known_good) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->write_whole(state_->line_of({{"record", "known_good"},
                                       {"sequence", sequence},
                                       {"known_good", record_to_json(known_good)}}));
}

void JournalWriter::append(const CampaignEnd& end) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  json record = record_to_json(end);
  record["record"] = "end";
  state_->write_whole(state_->line_of(record));
}

}  // namespace mpsprobe
