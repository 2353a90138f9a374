#include "reproducers/bundle/planted_run_for_tests.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "reports/sample_journal_for_tests.h"
#include "reproducers/minimise/slug.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string in_utf16(const std::string& text) {
  std::string wide;
  for (char c : text) wide += std::string(1, c) + '\0';
  return wide;
}

json provenance_of(const std::string& backend, const std::string& library) {
  return {{"torch",
           {{"version", "2.15.0"},
            {"git_hash", "0a1b2c3d4e5f"},
            {"path", library},
            {"build_id", "A1B2C3D4-0000-3000-8000-000000000011"},
            {"has_mps_stream_pool", true}}},
          {"device",
           {{"backend", backend},
            {"device", backend == "sim" ? "simulated Metal device" : "Apple M4 Max"},
            {"simulated", backend == "sim"}}},
          {"environment", {{"PYTORCH_MPS_PREFER_METAL", "1"}}},
          {"symbols", json::object()}};
}

}  // namespace

PlantedRun::PlantedRun(const std::string& backend) {
  // In memory where there is such a folder: a journal waits for the disk after each trial.
  const fs::path memory = "/dev/shm";
  const fs::path parent = access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
  std::string place = (parent / "mpsprobe-bundle-XXXXXX").string();
  folder_ = ::mkdtemp(place.data());
  fs::create_directories(run());
  title_ = "bad access in Sample::encode(\"" + plant("/Users/planteduser54/a.metal") + "\")";
  write_journal(backend);
  write_reproduction(backend);
}

PlantedRun::~PlantedRun() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

/// Of a path the name in it is what must not be found.
std::string PlantedRun::plant(const std::string& text) {
  for (const char* root : {"/Users/", "/home/", "/Volumes/", "/private/var/folders/pl/"}) {
    if (!text.starts_with(root)) continue;
    const std::string rest = text.substr(std::string(root).size());
    planted_.push_back(rest.substr(0, rest.find('/')));
    return text;
  }
  planted_.push_back(text);
  return text;
}

void PlantedRun::write(const std::string& relative, const std::string& text) const {
  fs::create_directories((folder_ / relative).parent_path());
  std::ofstream(folder_ / relative, std::ios::binary) << text;
}

fs::path PlantedRun::reproduction() const {
  return run() / ("repro-" + slug(title_));
}

BundleOptions PlantedRun::options() const {
  BundleOptions options;
  options.out = out();
  options.redact_strings = {"planted-project-09", "Planted Product 10"};
  const fs::path source = MPSPROBE_SOURCE_DIR;
  for (const auto& file : fs::directory_iterator(source / "scenarios/matrices")) {
    options.own.push_back(file.path());
  }
  options.programs = source / "reproducers/programs";
  return options;
}

void PlantedRun::write_journal(const std::string& backend) {
  SampleJournal sample;
  Journal& journal = sample.journal;
  CampaignHeader& header = journal.header;
  header.machine = {{"os", "macOS 15.3"}, {"os_build", "24D60"},
                    {"model", "Mac16,5"}, {"chip", "Apple M4 Max"},
                    {"cores", 16},        {"hostname", plant("plantedhost51")}};
  header.command_line = {"mpsprobe", "run", "--out=" + plant("/Users/planteduser19/out")};
  header.environment = {"PLANTED_TOKEN=" + plant("plantedsecret18"),
                        "PYTORCH_CACHE=" + plant("/home/planteduser17/cache")};
  header.crash_reports = {plant("/Users/planteduser22/Library/Logs/DiagnosticReports")};
  header.matrix_description = "for " + plant("planted-project-09");
  const std::string worker = plant("planteduser11") + "-fork";
  header.workers[0] = {worker,
                       "/Users/planteduser11/mpsprobe/mpsprobe-worker",
                       {{"mpsprobe_worker", 2}, {"owner", plant("planted52owner")}}};
  Judgement crash = SampleJournal::segfault();
  crash.signature = title_;
  crash.also = {{"a note of " + plant("/Users/planteduser53/notes"), false}};
  sample.block("threads of " + plant("plantedlogin01"));
  for (int threads : {1, 2, 3, 4}) {
    sample.plan(backend + "/linear/nograph/threads=" + std::to_string(threads))
        .ran(10, threads > 2 ? 10 : 0, crash, worker);
  }
  sample.plan(backend + "/linear/nograph/threads=3/validation=api").ran(10, 4, crash, worker);
  sample.plan(backend + "/linear/nograph/threads=1/validation=api").ran(10, 0, crash, worker);
  sample.plan(backend + "/linear/nograph/threads=3/observe=rules").ran(10, 4, crash, worker);
  const std::string provenance =
      provenance_of(backend, plant("/home/planteduser12/torch/libtorch_cpu.dylib")).dump();
  for (TrialRecord& trial : journal.trials) {
    for (ProcessRecord& process : trial.processes) {
      process.hello = HelloEvent{kProtocolVersion, provenance};
      process.api_validation_seen = trial.cell.validation == Validation::api;
      if (trial.cell.observe != Observe::none) process.observation = {40, {}};
      process.recorder.images = {{plant("/Users/planteduser15/lib/libextra.dylib"), "c0ffee15"}};
      for (FrameAddress& frame : process.recorder.crash.frames) {
        frame.path = plant("/Users/planteduser16/lib/libframe.dylib");
      }
    }
  }
  TrialRecord& trial =
      *std::find_if(journal.trials.begin(), journal.trials.end(),
                    [](const TrialRecord& each) { return is_failure(each.judgement.outcome); });
  ProcessRecord& process = trial.processes[0];
  const std::vector<std::string> said{
      "a user: " + plant("plantedlogin01"),
      "a host: " + plant("Plantedhost03s-MacBook-Pro") + ".local",
      "a volume: " + plant("/Volumes/Planted Volume13/models") + "/x.pt cannot be read",
      "a project: Planted%20Product%2010 and " + plant("Planted Product 10"),
      R"({"path":"\/Users\/)" + plant("planteduser48") + R"(\/x"})",
      "wide: " + in_utf16(plant("/Users/planteduser47/x")),
      "env: HOME=/x USER=" + plant("planteduser50") + " LANG=C",
      "at " + plant("plantedhost06") + ".example.invalid"};
  for (const std::string& line : said) process.err.head += line + "\n";
  planted_.push_back("Planted%20Product%2010");
  process.err.bytes = process.err.head.size();
  process.err.noticed = {"CrashReporter Key:   " + plant("0a0b0c0d49")};
  process.out.head = "on Plantedhost03's MacBook Pro\n";
  process.out.bytes = process.out.head.size();
  planted_.push_back("Plantedhost03");
  process.failures = {FailureEvent{"exception",
                                   "raised by " + plant("Planted Fullname02") + " in " +
                                       plant("/private/var/folders/pl/planted14tmp/T/x.py"),
                                   "run", 0, 0, "linear"}};
  process.setup_problem = "see " + plant("/Users/planteduser20/log");
  ThreadStack stack;
  stack.faulting = true;
  stack.thread = 2;
  stack.name = "queue of " + plant("fullname02");
  stack.frames = {{"libmlx.dylib", "a1b2c3d4000030008000000000000011", 0xea47, "Sample::encode()",
                   plant("/Users/planteduser21/src/sample.cpp") + ":73", false}};
  process.stacks.threads = {stack};
  CrashReport report;
  report.file = "evidence/1-0.ips";
  report.incident = "0A0B0C0D-1111-4000-8000-000000000025";
  report.model = "Mac16,5";
  report.os_version = "macOS 15.3 (24D60)";
  process.crash_report = report;
  process.gpu_events = {{"evidence/gpuEvent-1.ips", "0A0B0C0D-6666-4000-8000-000000000039",
                         "mpsprobe-worker", 1, "restart"}};
  JournalWriter writer(run() / "journal.ndjson", header);
  for (const TrialRecord& each : journal.trials) writer.append(each);
  writer.append(CampaignEnd{"complete", "2026-01-31T12:05:00.000Z",
                            "stopped in " + plant("/Users/planteduser55/runs")});
}

void PlantedRun::write_reproduction(const std::string& backend) {
  Minimum minimum;
  minimum.state = MinimumState::complete;
  minimum.note = "in " + plant("/Users/planteduser41/x");
  minimum.start = parse_cell(backend + "/linear/nograph/threads=4");
  minimum.cell = parse_cell(backend + "/linear/nograph/threads=3");
  minimum.signature = title_;
  minimum.simulated = backend == "sim";
  minimum.worker = "planteduser11-fork";
  minimum.worker_path = plant("/Users/planteduser40/bin/mpsprobe-worker");
  minimum.build = {"2.15.0", "0a1b2c3d4e5f", "A1B2C3D4-0000-3000-8000-000000000011"};
  minimum.mpsprobe_version = "0.1.0";
  minimum.started = "2026-01-31T13:00:00.000Z";
  minimum.environment = {"PLANTED42=" + plant("plantedvalue42")};
  minimum.baseline = {10, 10, 0, 0};
  minimum.reliability = {19, 20, 0, 0};
  minimum.trials.baseline = 10;
  fs::create_directories(reproduction() / "programs" / "metal");
  write_minimum(reproduction() / "minimum.json", minimum);
  const std::string below = "run/" + reproduction().filename().string();
  write(below + "/programs/metal/" + plant("planteduser43") + ".mm",
        "// made in /Users/planteduser43/x\nint main() {}\n");
  for (const Emission& emission :
       emit({.cell = minimum.cell, .signature = title_, .programs = options().programs})) {
    for (const EmittedFile& file : emission.files) {
      write(below + "/programs/" + std::string(name_of(emission.kind)) + "/" + file.name,
            file.text);
    }
  }
  Proof proof;
  proof.kind = Kind::metal;
  proof.arm = ProofArm::failing;
  proof.what = "built in " + plant("/Users/planteduser45/b");
  proof.k = proof.n = 1;
  proof.held = true;
  std::vector<Proof> proofs{proof};
  // As `repro` leaves them: each program was found to need the attempts that it makes.
  for (const Kind kind : {Kind::metal, Kind::libtorch, Kind::python}) {
    proofs.push_back({.kind = kind,
                      .arm = ProofArm::rate,
                      .k = 8,
                      .n = 8,
                      .held = true,
                      .program = ProgramForm{}});
  }
  write(below + "/proofs.json", to_json(proofs).dump());
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

std::vector<BundleFile> files_below(const fs::path& folder) {
  std::vector<BundleFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    files.push_back(
        {entry.path().lexically_relative(folder).generic_string(), bytes_of(entry.path())});
  }
  std::sort(files.begin(), files.end(),
            [](const BundleFile& a, const BundleFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace mpsprobe
