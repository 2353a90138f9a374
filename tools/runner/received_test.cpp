// What was received is data: forty ways to make a bundle, a journal, a matrix or known failures of
// somebody else run something. Whatever would run leaves a file behind.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/journal/journal_line.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/bundle.h"
#include "reproducers/bundle/bundle_record.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AnyOf;
using testing::HasSubstr;

constexpr const char* kFailing = "cpu/selftest.null_dereference/default/threads=2";

class Received : public ProgramTest {
 protected:
  struct Way {
    std::string name;
    std::string says;  ///< why it is refused
    std::function<Run()> act;
  };

  Received() {
    evil_ = write("evil", "#!/bin/sh\ntouch '" + path("ran") + "'\nexec '" +
                              selftest_.substr(selftest_.find('=') + 1) + "' \"$@\"\n");
    fs::permissions(evil_, fs::perms::owner_all);
  }

  std::string evil_;  ///< a worker that leaves the file `ran`, as nothing received may

  // ---- runs of somebody else ------------------------------------------------------------------

  /// A run by the evil worker, moved to where it was not made.
  std::string foreign(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"run",      "--cell",         kFailing, "--trials",       "2",
                                   "--worker", "stock=" + evil_, "--out",  path("elsewhere")};
    words.insert(words.end(), more.begin(), more.end());
    mpsprobe(words);
    return moved("elsewhere");
  }
  std::string moved(const std::string& name) {
    fs::remove_all(path("got"));
    fs::rename(path(name), path("got"));
    fs::remove(path("ran"));
    return path("got");
  }
  /// Its first record, which says what the run is, changed and sealed anew.
  void change_header(const std::string& folder, const std::function<void(json&)>& change) const {
    const fs::path file = fs::path(folder) / "journal.ndjson";
    std::ifstream stream(file);
    std::string first;
    std::getline(stream, first);
    std::ostringstream rest;
    rest << stream.rdbuf();
    json record = json::parse(first);
    record.erase("sum");
    change(record.at("campaign"));
    const std::string run = record.at("run");
    std::ofstream(file) << sealed_line(record, 0, run) << rest.str();
  }
  Run failed(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"run", "--failed", path("got"), "--out", path("again")};
    words.insert(words.end(), more.begin(), more.end());
    return mpsprobe(words);
  }

  // ---- bundles --------------------------------------------------------------------------------

  std::string bundle(const std::string& cell = kFailing) {
    fs::remove_all(path("bundle"));
    fs::create_directories(path("bundle/programs"));
    BundleRecord record;
    record.mpsprobe_version = "0.1.0";
    record.signature = "bad access in selftest";
    record.measured = "2026-01-31T12:00:00.000Z";
    record.cells = {{parse_cell(kFailing), "stock", {}, {}, 3, 0, 3, false}};
    std::string text = bundle_record_json(record);
    text.replace(text.find(kFailing), std::string(kFailing).size(), cell);
    seal({{"bundle.json", text}, {"programs/run.sh", "touch '" + path("ran") + "'\n"}});
    return path("bundle");
  }
  void seal(const std::vector<BundleFile>& files) const {
    for (const BundleFile& file : files) write("bundle/" + file.path, file.bytes);
    write("bundle/MANIFEST.sha256", manifest_of(files, ""));
  }
  /// In every record of a journal, sealed anew.
  void replace_all(const std::string& name, const std::string& from, const std::string& to) const {
    std::istringstream lines(read(name));
    std::string text;
    uint64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      for (size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += to.size()) {
        line.replace(at, from.size(), to);
      }
      json record = json::parse(line);
      if (number == 0) run_ = record.at("run");
      record.erase("sum");
      record.erase("n");
      text += sealed_line(record, number++, run_);
    }
    write(name, text);
  }
  mutable std::string run_;
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read(name);
    text.replace(text.find(from), from.size(), to);
    write(name, text);
  }
  Run verify() const {
    fs::remove_all(path("out"));
    return mpsprobe({"verify", path("bundle"), "--worker", "stock=" + evil_, "--trials", "1",
                     "--out", path("out")});
  }
  /// A bundle that something is done to, verified.
  Way bundle_way(const std::string& name, const std::function<void()>& change) {
    return {name, printable(path("bundle")), [this, change] {
              bundle();
              change();
              return verify();
            }};
  }
  Way cell_way(const std::string& variable) {
    const std::string name = variable.substr(0, variable.find('='));
    // mpsprobe's own are no axis at all.
    const std::string says =
        name.starts_with("MPSPROBE_") ? "bundle.json: env: " + name : "env." + name + ": ";
    return {"a bundle's cell with " + variable, says, [this, variable] {
              bundle(std::string(kFailing) + "/env." + variable);
              return verify();
            }};
  }
  Way foreign_way(const std::string& name, const std::function<Run()>& act,
                  const std::string& says = "--trust-run") {
    return {name, says, [this, act] {
              foreign();
              return act();
            }};
  }

  void refused(const std::vector<Way>& ways) {
    for (const Way& way : ways) {
      fs::remove_all(path("again"));
      fs::remove(path("ran"));
      const Run run = way.act();
      EXPECT_FALSE(fs::exists(path("ran"))) << way.name << ": something ran\n" << run.err;
      EXPECT_THAT(run.exit_code, AnyOf(2, 3)) << way.name << "\n" << run.out << run.err;
      EXPECT_THAT(run.err, HasSubstr(way.says)) << way.name;
      ++tried_;
    }
  }
  int tried_ = 0;
};

TEST_F(Received, ChoosesCellsAndNothingElse) {
  const auto header = [this](const std::function<void(json&)>& change) {
    return [this, change] {
      change_header(path("got"), change);
      return failed();
    };
  };
  const auto with_cell = [](const std::string& variable) {
    return [variable](json& campaign) {
      campaign.at("cells").at(0).at("cell") = std::string(kFailing) + "/env." + variable;
    };
  };
  refused({
      // Variables of loaders, interpreters, shells and allocators, in a cell's text.
      cell_way("LD_PRELOAD=evil.so"),
      cell_way("LD_LIBRARY_PATH=."),
      cell_way("LD_AUDIT=evil.so"),
      cell_way("DYLD_INSERT_LIBRARIES=evil.dylib"),
      cell_way("GLIBC_TUNABLES=glibc.rtld.nns"),
      cell_way("GCONV_PATH=."),
      cell_way("PATH=."),
      cell_way("BASH_ENV=evil.sh"),
      cell_way("PYTHONPATH=."),
      cell_way("NODE_OPTIONS=x"),
      cell_way("MALLOC_CONF=x"),
      cell_way("OPENSSL_CONF=evil"),
      cell_way("OMP_TOOL_LIBRARIES=evil"),
      cell_way("MLX_METAL_PATH=evil"),
      cell_way("CUDA_INJECTION64_PATH=evil"),
      cell_way("TORCHINDUCTOR_CACHE_DIR=evil"),
      cell_way("MPSPROBE_PROFILES=evil"),
      cell_way("MPSPROBE_PYTHON_CODE=evil.py::f"),
      cell_way("MPSPROBE_PYTEST=evil.py"),
      cell_way("MPSPROBE_WORKER_LIBRARY=evil.so"),
      cell_way("A=evil.so"),
      // The same from the other files that have cells.
      foreign_way("a journal's cell for --failed", header(with_cell("LD_PRELOAD=evil.so")),
                  "LD_PRELOAD"),
      {"a matrix's cell", "env.LD_PRELOAD: ",
       [this] {
         const std::string file = write("m.json",
                                        R"({"mpsprobe_matrix": 1, "name": "m", "description": "d",
                       "include": ["cpu/selftest.pass/default/env.LD_PRELOAD=e.so"]})");
         return mpsprobe({"run", "--matrix", file, "--worker", "stock=" + evil_, "--force-env"});
       }},
      {"a matrix's axis", "env.LD_LIBRARY_PATH: ",
       [this] {
         const std::string file = write("m.json",
                                        R"({"mpsprobe_matrix": 1, "name": "m", "description": "d",
                       "axes": {"backend": ["cpu"], "op": ["selftest.pass"], "threads": [1],
                                "env.LD_LIBRARY_PATH": ["."]}})");
         return mpsprobe({"run", "--matrix", file, "--worker", "stock=" + evil_, "--force-env"});
       }},
      {"a cell that somebody wrote down", "env.PYTEST_ADDOPTS: ",
       [this] {
         return mpsprobe({"run", "--cell", std::string(kFailing) + "/env.PYTEST_ADDOPTS=-cevil.ini",
                          "--worker", "stock=" + evil_});
       }},
      {"a cell to reduce", "env.PYTEST_ADDOPTS: ",
       [this] {
         return mpsprobe({"repro", std::string(kFailing) + "/env.PYTEST_ADDOPTS=-cevil.ini",
                          "--worker", "stock=" + evil_});
       }},
      {"a cell to bisect", "env.PYTEST_ADDOPTS: ",
       [this] {
         return mpsprobe({"bisect", std::string(kFailing) + "/env.PYTEST_ADDOPTS=-cevil.ini",
                          "--builds", "a=" + evil_ + ",b=" + evil_, "--out", path("again")});
       }},
      foreign_way(
          "a run to reduce, with one's own worker",
          [this] {
            // Its trials stay: of the cell that they failed in.
            const std::string plain = std::string(kFailing) + "\"";
            replace_all("got/journal.ndjson", plain,
                        std::string(kFailing) + "/env.PYTEST_ADDOPTS=-cevil.ini\"");
            return mpsprobe({"repro", path("got"), "--worker", "stock=" + evil_});
          },
          "env.PYTEST_ADDOPTS: "),
      // Bundles that are not what was packed, or lead out of their folder.
      bundle_way("a record that the manifest contradicts",
                 [this] { replace("bundle/bundle.json", "threads=2", "threads=3"); }),
      bundle_way("a program that the manifest contradicts",
                 [this] { write("bundle/programs/run.sh", "exec evil\n"); }),
      bundle_way("no manifest", [this] { fs::remove(path("bundle/MANIFEST.sha256")); }),
      bundle_way("a manifest without the record",
                 [this] { write("bundle/MANIFEST.sha256", manifest_of({}, "")); }),
      bundle_way("a manifest of garbage", [this] { write("bundle/MANIFEST.sha256", "evil\n"); }),
      bundle_way("a manifest that leads out",
                 [this] { replace("bundle/MANIFEST.sha256", "programs/run.sh", "../evil"); }),
      bundle_way("a manifest with a whole path",
                 [this] { replace("bundle/MANIFEST.sha256", "programs/run.sh", evil_); }),
      bundle_way("a manifest of a file that is missing",
                 [this] { fs::remove(path("bundle/programs/run.sh")); }),
      bundle_way("a record that is a link",
                 [this] {
                   fs::rename(path("bundle/bundle.json"), path("outside.json"));
                   fs::create_symlink(path("outside.json"), path("bundle/bundle.json"));
                 }),
      bundle_way("a folder that is a link",
                 [this] { fs::create_directory_symlink("/tmp", path("bundle/verified")); }),
      bundle_way("a number that is a link",
                 [this] { fs::create_symlink(path("ran"), path("bundle/filing.txt")); }),
      bundle_way("a pipe", [this] { ASSERT_EQ(mkfifo(path("bundle/p").c_str(), 0600), 0); }),
      // Runs of others: their workers, makers and variables.
      foreign_way("--failed", [this] { return failed(); }),
      foreign_way(
          "--failed of its report",
          [this] {
            return mpsprobe({"run", "--failed", path("got/report.json"), "--out", path("again")});
          }),
      foreign_way("--resume",
                  [this] {
                    return mpsprobe({"run", "--resume", path("got")});
                  }),
      foreign_way("repro",
                  [this] {
                    return mpsprobe({"repro", path("got")});
                  }),
      foreign_way("repro of its report",
                  [this] {
                    return mpsprobe({"repro", path("got/report.json")});
                  }),
      foreign_way("a journal of an old version",
                  header([](json& campaign) { campaign.erase("origin"); })),
      foreign_way("a journal with an origin that was made up",
                  header([](json& campaign) { campaign["origin"] = std::string(64, 'a'); })),
      foreign_way("a worker with the name of an option", header([this](json& campaign) {
                    campaign.at("workers").at(0)["name"] = "stock=" + evil_;
                  })),
      {"a run of somebody's own Python code", "with MPSPROBE_PYTHON_CODE=/tmp/evil.py::f",
       [this] {
         foreign({"--env", "MPSPROBE_PYTHON_CODE=/tmp/evil.py::f"});
         return failed();
       }},
      foreign_way("what was merged of it",
                  [this] {
                    mpsprobe({"merge", path("got"), "--out", path("merged")});
                    moved("merged");
                    return failed();
                  }),
      {"a reduction that goes on", "--trust-run",
       [this] {
         fs::remove_all(path("less"));
         mpsprobe({"repro", kFailing, "--worker", "stock=" + evil_, "--budget", "0.01",
                   "--no-programs", "--out", path("less")});
         return mpsprobe({"repro", "--resume", moved("less")});
       }},
      {"a bisection that goes on", "--trust-run",
       [this] {
         fs::remove_all(path("cut"));
         mpsprobe({"bisect", kFailing, "--builds", "a,b", "--make",
                   "echo '" + evil_ + "' {} | cut -d' ' -f1", "--budget", "0.01", "--out",
                   path("cut")});
         return mpsprobe({"bisect", "--resume", moved("cut")});
       }},
      {"a verification that goes on", "--trust-run",
       [this] {
         bundle();
         verify();
         moved("out");
         return mpsprobe({"verify", path("bundle"), "--resume", path("got")});
       }},
  });
  EXPECT_GE(tried_, 40);
}

TEST_F(Received, ARunOfSomebodyElseRunsOnOnesOwnWorkerWithoutItsVariables) {
  foreign({"--env", "PLANTED=1", "--env", "LD_DEBUG_OUTPUT=/tmp/evil"});
  const Run asked = failed();
  EXPECT_THAT(asked.err, HasSubstr("worker stock: " + evil_));
  EXPECT_THAT(asked.err, HasSubstr("with LD_DEBUG_OUTPUT=/tmp/evil"));
  EXPECT_THAT(asked.err, HasSubstr("--trust-run"));
  const Run own = failed({"--worker", selftest_});
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_THAT(own.err, HasSubstr("left out: PLANTED=1, LD_DEBUG_OUTPUT=/tmp/evil"));
  EXPECT_FALSE(fs::exists(path("ran")));
  EXPECT_THAT(read("again/journal.ndjson"), HasSubstr("\"environment\":[]"));
  fs::remove_all(path("again"));
  const Run trusted = failed({"--trust-run"});
  EXPECT_EQ(trusted.exit_code, 0) << trusted.err;
  EXPECT_TRUE(fs::exists(path("ran")));
  EXPECT_THAT(read("again/journal.ndjson"), HasSubstr("PLANTED=1"));
}

TEST_F(Received, OwnCodeThatARunNamesIsNotGivenToOnesOwnWorker) {
  foreign({"--env", "MPSPROBE_PYTHON_CODE=/tmp/evil.py::f"});
  const std::string asked =
      write("asked", "#!/bin/sh\nenv > '" + path("environment") + "'\nexec '" +
                         selftest_.substr(selftest_.find('=') + 1) + "' \"$@\"\n");
  fs::permissions(asked, fs::perms::owner_all);
  const Run own = failed({"--worker", "stock=" + asked});
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_THAT(own.err, HasSubstr("left out: MPSPROBE_PYTHON_CODE=/tmp/evil.py::f"));
  EXPECT_THAT(read("environment"), testing::Not(HasSubstr("MPSPROBE_PYTHON_CODE")));
}

TEST_F(Received, OnesOwnRunsGoOnAsTheyAre) {
  mpsprobe(
      {"run", "--cell", kFailing, "--trials", "2", "--worker", selftest_, "--out", path("own")});
  EXPECT_EQ(mpsprobe({"run", "--resume", path("own")}).exit_code, 0);
  EXPECT_EQ(shell("cd own && \"$mpsprobe\" run --resume . && cd .. && \"$mpsprobe\" run --failed "
                  "own/../own/report.json --out again")
                .exit_code,
            0);
  mpsprobe({"merge", path("own"), path("again"), "--out", path("merged")});
  // Nobody can read a machine, an account or a folder in what the journal says of its origin.
  const json first =
      json::parse(read("own/journal.ndjson").substr(0, read("own/journal.ndjson").find('\n')));
  EXPECT_THAT(first.at("campaign").at("origin").get<std::string>(),
              testing::MatchesRegex("[0-9a-f]{64}"));
}

TEST_F(Received, ABundleWithoutABuildIsNotCalledOneOfAnother) {
  bundle();
  const Run run = mpsprobe(
      {"verify", path("bundle"), "--worker", selftest_, "--trials", "1", "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the bundle does not say of which build it is"));
  EXPECT_THAT(run.out, HasSubstr(", new arm (stock) "));
}

TEST_F(Received, APipeInTheFolderOfARunIsNotWaitedFor) {
  foreign();
  for (const char* file : {"journal.ndjson", "report.json", "request.json"}) {
    fs::create_directory(path("pipes"));
    fs::remove(path("pipes/" + std::string(file)));
    ASSERT_EQ(mkfifo(path("pipes/" + std::string(file)).c_str(), 0600), 0);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"report", path("pipes")},
                                               {"show", path("pipes")},
                                               {"diff", path("pipes"), path("got")},
                                               {"feedback", path("pipes")},
                                               {"repro", path("pipes")},
                                               {"repro", "--resume", path("pipes")},
                                               {"bisect", "--resume", path("pipes")},
                                               {"run", "--resume", path("pipes")},
                                               {"run", "--failed", path("pipes")},
                                               {"merge", path("pipes"), "--out", path("one")}}) {
      const Run run = mpsprobe(words, 60);
      EXPECT_THAT(run.exit_code, AnyOf(2, 3, 4)) << file << ": " << words[0] << ": " << run.err;
    }
  }
}

TEST_F(Received, ARequestThatIsNoneIsRefusedByName) {
  mpsprobe(
      {"run", "--cell", kFailing, "--trials", "1", "--worker", selftest_, "--out", path("own")});
  const std::string other = R"({"mpsprobe_repro": 2, "mpsprobe_bisect_request": 2})";
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"{", "damaged"},
           {"{}", "damaged"},
           {other, "another version"},
           {std::string(size_t{2} << 20, ' '), "is over"}}) {
    write("own/request.json", text);
    for (const std::string command : {"repro", "bisect"}) {
      const Run run = mpsprobe({command, "--resume", path("own")});
      EXPECT_EQ(run.exit_code, 2) << command << ": " << run.err;
      EXPECT_THAT(run.err, HasSubstr(said)) << command;
    }
  }
}

TEST_F(Received, NothingActsOnTheTerminal) {
  const std::string hostile = "2026\x1b]0;title\x07\x1b[2J";
  foreign();
  change_header(path("got"), [&hostile](json& campaign) { campaign["started"] = hostile; });
  bundle();
  BundleRecord record = parse_bundle_record(read("bundle/bundle.json"), "");
  record.measured = hostile;
  seal({{"bundle.json", bundle_record_json(record)}});
  const std::string worker = write("w", "#!/bin/sh\necho '" +
                                            json{{"mpsprobe_worker", 2},
                                                 {"operations",
                                                  {{{"name", "a"},
                                                    {"summary", hostile},
                                                    {"source", hostile},
                                                    {"paths", {"default"}},
                                                    {"backends", {hostile}}}}},
                                                 {"backends", json::array()}}
                                                .dump() +
                                            "'\n");
  fs::permissions(worker, fs::perms::owner_all);
  const std::string history = path("h.ndjson");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"verify", path("bundle"), "--worker", selftest_, "--trials", "1", "--out", path("v")},
           {"show", path("got")},
           {"history", "add", path("got"), "--db", history},
           {"history", "trend", "--db", history},
           {"list", "operations", "--worker", "w=" + worker}}) {
    const Run run = mpsprobe(words);
    for (const std::string& text : {run.out, run.err}) {
      EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos) << words[0] << ": " << text;
    }
  }
}

TEST_F(Received, NoVariableOfACellIsTakenUnseen) {
  // Each chooses code, files, hosts or what else a process does; no list of such names has an end.
  int tried = 0;
  for (const char* name : {"LD_PRELOAD",
                           "LD_AUDIT",
                           "DYLD_INSERT_LIBRARIES",
                           "PATH",
                           "PYTHONPATH",
                           "PYTHONSTARTUP",
                           "PYTHONINSPECT",
                           "PYTHONWARNINGS",
                           "PYTHONBREAKPOINT",
                           "PYTEST_ADDOPTS",
                           "PYTEST_PLUGINS",
                           "HF_MODULES_CACHE",
                           "HF_HOME",
                           "HF_ENDPOINT",
                           "TRANSFORMERS_CACHE",
                           "DJANGO_SETTINGS_MODULE",
                           "COVERAGE_RCFILE",
                           "COVERAGE_PROCESS_START",
                           "SDL_DYNAMIC_API",
                           "NCCL_COMM_ID",
                           "NCCL_NET_PLUGIN",
                           "NCCL_TUNER_PLUGIN",
                           "MLFLOW_TRACKING_URI",
                           "CURL_CA_BUNDLE",
                           "REQUESTS_CA_BUNDLE",
                           "SSL_CERT_FILE",
                           "MLX_METAL_PATH",
                           "MLX_MPI_LIBNAME",
                           "MLX_HOSTFILE",
                           "MLX_PTX_CACHE_DIR",
                           "MLX_SAVE_CUDA_GRAPHS_DOT_FILE",
                           "TORCH_HOME",
                           "TORCH_LOGS",
                           "TORCH_TRACE",
                           "TORCH_ADDR2LINE_BINARY",
                           "TORCH_FR_DUMP_TEMP_FILE",
                           "TORCHINDUCTOR_CACHE_DIR",
                           "TRITON_CACHE_DIR",
                           "PYTORCH_KERNEL_CACHE_PATH",
                           "PYTORCH_JIT_LOG_LEVEL",
                           "MKL_VERBOSE_OUTPUT_FILE",
                           "OMP_TOOL_LIBRARIES",
                           "OMP_AFFINITY_FORMAT",
                           "GOMP_DEBUG",
                           "CUDA_INJECTION64_PATH",
                           "CUDA_MODULE_LOADING",
                           "CUDNN_LOGDEST_DBG",
                           "METAL_LOAD_INTERPOSER",
                           "MTL_CAPTURE_ENABLED",
                           "MTL_HUD_LOG_PATH",
                           "NUMBA_CACHE_DIR",
                           "MPLCONFIGDIR",
                           "MPLBACKEND",
                           "JUPYTER_PATH",
                           "IPYTHONDIR",
                           "WANDB_BASE_URL",
                           "AWS_ENDPOINT_URL",
                           "GIT_SSH_COMMAND",
                           "LESSOPEN",
                           "OPENCV_OPENCL_DEVICE",
                           "QT_PLUGIN_PATH",
                           "GST_PLUGIN_PATH",
                           "A"}) {
    fs::remove(path("ran"));
    const std::string cell = std::string(kFailing) + "/env." + name + "=x";
    const Run run = mpsprobe({"run", "--cell", cell, "--worker", "stock=" + evil_, "--force-env",
                              "--out", path("again")});
    EXPECT_EQ(run.exit_code, 2) << name << run.err;
    EXPECT_THAT(run.err, HasSubstr(std::string(name) + "=x")) << "shown by name and value";
    EXPECT_FALSE(fs::exists(path("ran"))) << name;
    ++tried;
  }
  EXPECT_GE(tried, 60);
  const std::vector<std::string> trusted{
      "run",      "--cell",     std::string(kFailing) + "/env.A=x",
      "--worker", selftest_,    "--force-env",
      "--trials", "1",          "--out",
      path("t"),  "--trust-run"};
  const Run taken = mpsprobe(trusted);
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.err, HasSubstr("trusted, though no documented switch: A=x"));
  const Run own =
      mpsprobe({"run", "--op", "selftest.pass", "--backend", "cpu", "--env.A", "x", "--worker",
                selftest_, "--force-env", "--trials", "1", "--out", path("o")});
  EXPECT_EQ(own.exit_code, 0) << own.err;
  // What such a run did is one's own afterwards.
  EXPECT_EQ(mpsprobe({"repro", path("t"), "--budget", "0.01", "--no-programs"}).err.find("env.A: "),
            std::string::npos);
}

/// What links may lead to, and what is found there afterwards.
class Linked : public Received {
 protected:
  Linked() {
    fs::create_directories(path("home/docs"));
    write("home/.bashrc", "alias ll=ls\n");
    write("home/docs/thesis", "years of work\n");
  }
  std::map<std::string, std::string> home() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path("home"))) {
      all[entry.path()] = entry.is_regular_file() ? read(fs::relative(entry.path(), folder_)) : "";
    }
    return all;
  }
  void link(const std::string& name) const {
    fs::remove_all(path(name));
    fs::create_symlink(path("home/.bashrc"), path(name));
  }
  void link_folder(const std::string& name) const {
    fs::remove_all(path(name));
    fs::create_directory_symlink(path("home/docs"), path(name));
  }
  /// A run whose journal has a line that somebody damaged, with a link wherever a file is written.
  void run_with_links() {
    foreign();
    std::ofstream(path("got/journal.ndjson"), std::ios::app) << "touch OWNED\n";
    for (const char* name : {"journal.ndjson.damaged", "journal.ndjson.new", "journal.ndjson.torn",
                             "report.md", "report.json", "details.md", "report.html", "report.svg",
                             "cells.csv", "junit.xml", "github-summary.md", "minimum.json",
                             "repro.md", "verify.json", "bisect.json", "bisect.md"}) {
      link(std::string("got/") + name);
    }
    for (const char* name : {"evidence", "repro", "programs", "proof", "builds", "confirm"}) {
      link_folder(std::string("got/") + name);
    }
  }
};

TEST_F(Linked, NoCommandWritesThroughOne) {
  const auto before = home();
  int tried = 0;
  const auto unharmed = [&](const std::string& name, const Run& run) {
    EXPECT_EQ(home(), before) << name << "\n" << run.err;
    EXPECT_GE(run.exit_code, 0) << name;
    ++tried;
  };
  const std::string own = selftest_;
  run_with_links();
  unharmed("run --resume", mpsprobe({"run", "--resume", path("got")}));
  EXPECT_THAT(read("got/journal.ndjson"), HasSubstr("touch OWNED"));  // nothing touched untrusted
  const Run trusted = mpsprobe({"run", "--resume", path("got"), "--trust-run"});
  unharmed("run --resume --trust-run", trusted);
  EXPECT_THAT(trusted.err, HasSubstr("it is a link, which is not followed"));
  unharmed("report", mpsprobe({"report", path("got"), "--format",
                               "markdown,json,html,svg,csv,junit,github"}));
  run_with_links();
  unharmed("repro",
           mpsprobe({"repro", path("got"), "--worker", own, "--budget", "0.01", "--no-programs"}));
  run_with_links();
  unharmed("feedback", mpsprobe({"feedback", path("got"), "--out", path("bundles")}));
  unharmed("read", mpsprobe({"read", path("got/journal.ndjson")}));
  unharmed("diff", mpsprobe({"diff", path("got"), path("got")}));
  // A run or a merger into a folder that has such links already.
  for (const char* name : {"journal.ndjson", "journal.ndjson.new", "journal.ndjson.torn"}) {
    fs::remove_all(path("into"));
    fs::create_directories(path("into"));
    link(std::string("into/") + name);
    unharmed("run --out", mpsprobe({"run", "--cell", "cpu/selftest.pass/default/threads=1",
                                    "--worker", own, "--trials", "1", "--out", path("into")}));
    fs::remove_all(path("into"));
    fs::create_directories(path("into"));
    link(std::string("into/") + name);
    unharmed("merge --out", mpsprobe({"merge", path("got"), "--out", path("into")}));
  }
  // A reduction that goes on, and its programs.
  fs::remove_all(path("less"));
  mpsprobe({"repro", kFailing, "--worker", own, "--budget", "0.01", "--no-programs", "--out",
            path("less")});
  std::ofstream(path("less/journal.ndjson"), std::ios::app) << "touch OWNED\n";
  for (const char* name : {"journal.ndjson.damaged", "minimum.json", "repro.md", "request.json"}) {
    if (std::string_view(name) != "request.json") link(std::string("less/") + name);
  }
  link_folder("less/programs");
  link_folder("less/proof");
  unharmed("repro --resume", mpsprobe({"repro", "--resume", path("less")}));
  // A bisection, its builds and its confirmation.
  for (const char* name : {"builds", "confirm"}) {
    fs::remove_all(path("cut"));
    mpsprobe({"bisect", kFailing, "--builds", "a=" + own.substr(6) + ",b=" + own.substr(6),
              "--budget", "0.01", "--out", path("cut")});
    link_folder(std::string("cut/") + name);
    unharmed("bisect --resume", mpsprobe({"bisect", "--resume", path("cut"), "--budget", "0.5"}));
  }
  bundle();
  link_folder("bundle/verified");
  unharmed("verify", verify());
  EXPECT_GE(tried, 15);
}

}  // namespace
}  // namespace mpsprobe
