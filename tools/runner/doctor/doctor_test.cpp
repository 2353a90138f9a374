// What doctor finds, with workers that need no LibTorch: the self-test worker, and scripts that say
// of themselves what the test wants to see.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/provenance/installed_torch.h"
#include "harness/wire/event.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

#ifdef __APPLE__
constexpr const char* kLibraryPath = "DYLD_LIBRARY_PATH";
const std::string kTorchLibrary = "libtorch_cpu.dylib";
#else
constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";
const std::string kTorchLibrary = "libtorch_cpu.so";
#endif

class Doctor : public ProgramTest {
 protected:
  /// A folder with a library of the right name and a version.py, as a wheel has it. Returns the
  /// library's path.
  std::string make_torch(const std::string& name, const std::string& version) const {
    fs::create_directories(folder_ / name / "lib");
    write(name + "/version.py",
          "__version__ = '" + version + "'\ngit_version = '" + std::string(40, 'a') + "'\n");
    return fs::canonical(write(name + "/lib/" + kTorchLibrary, "library of " + version)).string();
  }

  /// A worker that answers `describe` with this provenance. In it, LOADED is the folder that the
  /// loader would find first.
  std::string make_worker(const std::string& provenance) const {
    const std::string answer =
        R"({"mpsprobe_worker":)" + std::to_string(kProtocolVersion) +
        R"(,"version":")" MPSPROBE_VERSION R"(","operations":[],"backends":[{"name":"cpu",)"
        R"("available":true,"reason":"","device":"\u001b[31mred"}],"provenance":)" +
        provenance + "}";
    const std::string file =
        write("worker", "#!/bin/sh\ncat <<END | sed \"s#LOADED#${" + std::string(kLibraryPath) +
                            "%%:*}#\"\n" + answer + "\nEND\n");
    fs::permissions(file, fs::perms::owner_all);
    return "stock=" + file;
  }

  Run doctor(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "doctor");
    return mpsprobe(arguments);
  }

  /// The check of that id out of `doctor --json`.
  static json check(const Run& run, const std::string& id) {
    const json answer = json::parse(run.out, nullptr, false);
    if (!answer.is_object()) return json(run.out + run.err);
    for (const json& each : answer.at("checks")) {
      if (each.at("id") == id) return each;
    }
    return {{"status", "there is no check " + id}, {"value", ""}, {"remedy", ""}};
  }
};

TEST_F(Doctor, RunsTheSelfTestsAndFindsThemTold) {
  const Run run = doctor({"--worker", selftest_, "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(check(run, "worker.stock.answers")["status"], "ok");
  EXPECT_EQ(check(run, "worker.stock.library")["status"], "n/a");
  EXPECT_THAT(check(run, "run.stock.crash")["value"], HasSubstr("signal SIGSEGV"));
  for (const char* planted : {"crash", "hang", "wrong_number"}) {
    EXPECT_EQ(check(run, std::string("run.stock.") + planted)["status"], "ok") << planted;
  }
  EXPECT_THAT(check(run, "limit.shared_memory")["status"], "ok");
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer.at("mpsprobe_doctor"), 1);
  EXPECT_EQ(answer.at("workers").at(0).at("name"), "stock");
  for (const json& each : answer.at("checks")) {
    const bool red = each.at("status") == "warn" || each.at("status") == "fail";
    EXPECT_TRUE(!red || each.at("remedy").is_string()) << each.dump();
  }
}

TEST_F(Doctor, AWorkerThatIsMissingIsRedAndTheRestIsStillShown) {
  const Run run = doctor({"--worker", "stock=/nonexistent/worker", "--worker",
                          "other" + selftest_.substr(selftest_.find('='))});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, HasSubstr("FAIL  stock: answers"));
  EXPECT_THAT(run.out, HasSubstr("ok    other: answers"));
  EXPECT_THAT(run.out, HasSubstr("other: a planted hang is seen"));
}

TEST_F(Doctor, WrongUsageEndsWithTwoAndNamesTheOption) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"--backend", "gpu"}, {"--worker", "nonsense"},
      {"--env", "NOVALUE"}, {"--probe", "at::mps::getStreamFromPool()"},
      {"--nosuch", "x"},
  };
  for (const auto& [option, value] : wrong) {
    const Run run = doctor({option, value});
    EXPECT_EQ(run.exit_code, 2) << option;
    EXPECT_THAT(run.err, HasSubstr(option));
  }
}

TEST_F(Doctor, AnotherLibraryThanExpectedIsToldWithBothPathsByDoctorAndByRun) {
  const std::string loaded = make_torch("front", "2.11.0");
  const std::string meant = make_torch("meant", "2.15.0");
  const std::string worker =
      make_worker(R"({"torch":{"version":"2.11.0","git_hash":"aaaaaaaa","path":"LOADED/)" +
                  kTorchLibrary + R"(","built_against":")" + meant + R"("}})");
  const std::string front =
      std::string(kLibraryPath) + "=" + fs::path(loaded).parent_path().string();
  const Run run =
      doctor({"--worker", worker, "--env", front, "--expect-torch", "2.15.0", "--json"});
  const Run refused = mpsprobe({"run", "--op", "x", "--worker", worker, "--env", front,
                                "--expect-torch", "2.15.0", "--out", path("out")});
  const Run agreed =
      doctor({"--worker", worker, "--env", front, "--expect-torch", "2.11.0", "--json"});
  const Run by_path = doctor(
      {"--worker", worker, "--env", front, "--expect-torch", "path:" + path("meant"), "--json"});
  const Run by_own_path = doctor(
      {"--worker", worker, "--env", front, "--expect-torch", "path:" + path("front"), "--json"});
  const Run mistyped = mpsprobe({"run", "--op", "x", "--worker", worker, "--env", front,
                                 "--expect-torch", "path:" + path("frnot"), "--out", path("out")});
  EXPECT_EQ(run.exit_code, 3);
  const json expected = check(run, "worker.stock.expected");
  EXPECT_EQ(expected["status"], "fail");
  EXPECT_THAT(expected["value"], HasSubstr(loaded));
  EXPECT_THAT(expected["value"], HasSubstr(meant));
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr(loaded));
  EXPECT_THAT(refused.err, HasSubstr(meant));
  EXPECT_FALSE(fs::exists(path("out")));
  EXPECT_EQ(check(agreed, "worker.stock.expected")["status"], "ok");
  const json shadowed = check(agreed, "worker.stock.shadowed");
  EXPECT_EQ(shadowed["status"], "fail");
  EXPECT_THAT(shadowed["value"], HasSubstr(loaded + " is loaded in place of " + meant));
  EXPECT_THAT(shadowed["remedy"], HasSubstr(kLibraryPath));
  EXPECT_EQ(check(by_path, "worker.stock.expected")["status"], "fail");
  EXPECT_EQ(check(by_own_path, "worker.stock.expected")["status"], "ok");
  EXPECT_EQ(mistyped.exit_code, 2);
  EXPECT_THAT(mistyped.err, HasSubstr("names a folder that does not exist"));
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(Doctor, ALinkToWhatAWorkerWasBuiltAgainstShadowsNothing) {
  const std::string meant = make_torch("meant", "2.15.0");
  fs::create_directories(folder_ / "links");
  fs::create_symlink(meant, folder_ / "links" / kTorchLibrary);
  const std::string worker =
      make_worker(R"({"torch":{"version":"2.15.0","path":")" + path("links/" + kTorchLibrary) +
                  R"(","built_against":")" + meant + R"("}})");
  EXPECT_EQ(check(doctor({"--worker", worker, "--json"}), "worker.stock.shadowed")["status"], "ok");
}

TEST_F(Doctor, AWorkerThatCannotAnswerIsToldOfTheLoadersVariables) {
  const std::string file = write("broken", "#!/bin/sh\nexit 127\n");
  fs::permissions(file, fs::perms::owner_all);
  const std::string front = std::string(kLibraryPath) + "=/somewhere/else";
  const Run run = doctor({"--worker", "stock=" + file, "--env", front, "--json"});
  EXPECT_THAT(check(run, "worker.stock.answers")["value"], HasSubstr(front));
}

TEST_F(Doctor, SymbolsAreThereNotThereOrNotTold) {
  const std::string told = make_worker(R"({"symbols":{"_Za":true,"_Zb":false}})");
  const Run run =
      doctor({"--worker", told, "--probe", "_Za", "--probe", "_Zb", "--probe", "_Zc", "--json"});
  EXPECT_EQ(check(run, "worker.stock.symbol._Za")["status"], "ok");
  EXPECT_EQ(check(run, "worker.stock.symbol._Zb")["value"], "not there");
  EXPECT_EQ(check(run, "worker.stock.symbol._Zb")["status"], "warn");
  EXPECT_EQ(check(run, "worker.stock.symbol._Zc")["value"], "not told");
}

TEST_F(Doctor, WhatAWorkerSaysCannotActOnTheTerminal) {
  const Run run = doctor({"--worker", make_worker(R"({"torch":{"version":"\u001b]0;x\u0007"}})")});
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(run.out, HasSubstr("[31mred"));
}

TEST_F(Doctor, CrashReportsThatCannotBeReadAreRed) {
  fs::create_directory(path("reports"));
  write("reports/a.ips", "{}");
  write("reports/b.ips", "{}");
  write("reports/notes.txt", "");
  const Run readable =
      doctor({"--worker", selftest_, "--crash-reports", path("reports"), "--json"});
  EXPECT_EQ(check(readable, "crash_reports.folder.0")["status"], "ok");
  EXPECT_THAT(check(readable, "crash_reports.folder.0")["value"], HasSubstr("holds 2"));
  const Run missing = doctor({"--worker", selftest_, "--crash-reports", path("none"), "--json"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(check(missing, "crash_reports.folder.0")["status"], "fail");
}

TEST_F(Doctor, VariablesThatChangeResultsAreNamedWithTheirValues) {
  const Run run = shell(
      "PYTORCH_MPS_PREFER_METAL=1 MTL_DEBUG_LAYER=1 \"$mpsprobe\" doctor --worker \"$worker\" "
      "--json");
  const json inherited = check(run, "environment.PYTORCH_MPS_PREFER_METAL");
  EXPECT_EQ(inherited["status"], "warn");
  EXPECT_EQ(inherited["value"], "1");
  EXPECT_THAT(check(run, "environment.MTL_DEBUG_LAYER")["value"], HasSubstr("taken away"));
}

/// A worker with a device, whose cells come out as the test says.
class DoctorOfADevice : public Doctor {
 protected:
  /// `mm` and `add` are the shell commands that run a cell of that operation, after the gate.
  std::string make_gpu_worker(const std::string& backends, const std::string& mm,
                              const std::string& add) const {
    const std::string operation =
        R"(,"summary":"","source":"","paths":["default"],"has_parameters":false,"dtypes":[],)"
        R"("shape":"1","dimensions":""})";
    const std::string file =
        write("worker", R"(#!/bin/sh
say() { printf '{"event":%s}\n' "$1" >&4; }
# result COMPARED
result() { say '"result","operations":1,"seconds":0.1,"checked":'"$1"; }
failure() { say '"failure","kind":"'"$1"'","text":"'"$2"'"'; }
if [ "$1" = describe ]; then
  cat <<'END'
{"mpsprobe_worker":)" + std::to_string(kProtocolVersion) +
                            R"(,"version":")" MPSPROBE_VERSION R"(","operations":[{"name":"mm")" +
                            operation + R"(,{"name":"add")" + operation + R"(],"backends":[)" +
                            backends + R"(]}
END
  exit
fi
say '"hello","protocol":)" + std::to_string(kProtocolVersion) +
                            R"('
say '"ready"'
head -c 1 <&5 > /dev/null
case "$3" in
  */mm/*) )" + mm + R"( ;;
  */add/*) )" + add + R"( ;;
esac
)");
    fs::permissions(file, fs::perms::owner_all);
    return "stock=" + file;
  }

  static std::string available(const std::string& backend, const std::string& device) {
    return R"({"name":")" + backend + R"(","available":true,"reason":"","device":")" + device +
           R"("})";
  }
  static std::string absent(const std::string& backend, const std::string& reason) {
    return R"({"name":")" + backend + R"(","available":false,"reason":")" + reason + R"("})";
  }

  /// The check of the numbers of mps on a chip, or on the device given.
  json numbers(const std::string& mm, const std::string& add,
               const std::string& device = "Apple M4 Max") const {
    const std::string worker = make_gpu_worker(available("mps", device), mm, add);
    return check(doctor({"--worker", worker, "--json"}), "run.stock.computes.mps");
  }
};

TEST_F(DoctorOfADevice, ThatItIsThereAndThatItComputesAreTwoLines) {
  const std::string worker =
      make_gpu_worker(available("mps", "Apple M4 Max") + "," + absent("metal", "none here"),
                      "result 64", "result 10000");
  const Run run = doctor({"--worker", worker, "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_EQ(check(run, "worker.stock.backend.mps")["status"], "ok");
  EXPECT_EQ(check(run, "worker.stock.backend.mps")["value"], "Apple M4 Max");
  EXPECT_EQ(check(run, "run.stock.computes.mps")["status"], "ok");
  EXPECT_EQ(check(run, "run.stock.computes.mps")["value"], "yes: mm and add as on the CPU");
  EXPECT_EQ(check(run, "worker.stock.backend.metal")["value"], "none here");
  EXPECT_EQ(check(run, "run.stock.computes.metal")["status"], "n/a");
  EXPECT_THAT(check(run, "run.stock.computes.metal")["value"], HasSubstr("none here"));
}

TEST_F(DoctorOfADevice, WrongNumbersAreRedAndSaySo) {
  const std::string wrong = "failure wrong_result 'element 0 is 0, expected 1.5'; result 1";
  const json product = numbers(wrong, "result 1");
  EXPECT_EQ(product["status"], "fail");
  EXPECT_THAT(product["value"], HasSubstr("mm: wrong_result"));
  EXPECT_THAT(product["value"], HasSubstr("element 0 is 0, expected 1.5"));
  EXPECT_THAT(product["remedy"], HasSubstr("computes wrong"));
  // Products right and sums wrong, as a virtual machine's device has been seen to do.
  const json sum = numbers("result 1", wrong, "Apple Paravirtual device");
  EXPECT_EQ(sum["status"], "fail");
  EXPECT_THAT(sum["value"], HasSubstr("add: wrong_result"));
  EXPECT_THAT(sum["remedy"], HasSubstr("virtual machine"));
}

TEST_F(DoctorOfADevice, OtherFailuresHaveRemediesOfTheirOwn) {
  const json crash = numbers("kill -SEGV $$", "result 1");
  EXPECT_EQ(crash["status"], "fail");
  EXPECT_THAT(crash["value"], HasSubstr("SIGSEGV"));
  EXPECT_THAT(crash["remedy"], HasSubstr("mpsprobe run --cell mps/mm/default/threads=1"));
  const json memory = numbers("failure out_of_memory 'Tried to allocate 256 bytes'", "result 1");
  EXPECT_EQ(memory["status"], "fail");
  EXPECT_THAT(memory["value"], HasSubstr("256 bytes"));
  const json unsupported = numbers("failure unsupported 'no kernel'", "result 1");
  EXPECT_EQ(unsupported["status"], "warn");
  EXPECT_THAT(unsupported["remedy"], HasSubstr("not known"));
  const json unchecked = numbers("result 0", "result 0");
  EXPECT_EQ(unchecked["status"], "warn");
  EXPECT_THAT(unchecked["remedy"], HasSubstr("no number was compared"));
}

TEST_F(DoctorOfADevice, AParavirtualDeviceIsNoChipHoweverWellItComputes) {
  const std::string worker =
      make_gpu_worker(available("metal", "Apple Paravirtual device"), "result 1", "result 1");
  const Run run = doctor({"--worker", worker, "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  const json device = check(run, "worker.stock.backend.metal");
  EXPECT_EQ(device["status"], "warn");
  EXPECT_THAT(device["value"], HasSubstr("PARAVIRTUAL"));
  EXPECT_THAT(device["remedy"], HasSubstr("never quote its results for a chip"));
  EXPECT_EQ(check(run, "run.stock.computes.metal")["status"], "ok");
  const std::string mlx =
      make_gpu_worker(available("mlx", "Apple Paravirtual device (Metal)"), "result 1", "result 1");
  EXPECT_EQ(check(doctor({"--worker", mlx, "--json"}), "worker.stock.backend.mlx")["status"],
            "warn");
}

TEST_F(DoctorOfADevice, ABackendThatIsNamedLeavesTheOthersAlone) {
  const std::string worker =
      make_gpu_worker(available("mps", "Apple M4 Max") + "," + available("metal", "Apple M4 Max"),
                      "result 1", "result 1");
  const Run run = doctor({"--worker", worker, "--backend", "metal", "--json"});
  EXPECT_EQ(check(run, "run.stock.computes.mps")["value"], "not asked: --backend metal");
  EXPECT_EQ(check(run, "run.stock.computes.metal")["status"], "ok");
}

}  // namespace
}  // namespace mpsprobe
