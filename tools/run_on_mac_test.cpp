// tools/run-on-mac in a checkout of three files, with an `ssh` that runs commands in another folder
// of this machine.
#include <gmock/gmock.h>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunOnMac : public ProgramTest {
 protected:
  RunOnMac() {
    for (const char* name :
         {"bin", "checkout/tools", "checkout/build/macos/run/bin", "checkout/data", "home"}) {
      fs::create_directories(folder_ / name);
    }
    fs::copy(MPSPROBE_SOURCE_DIR "/tools/run-on-mac", folder_ / "checkout/tools");
    write("checkout/data/words", "of the checkout\n");
    write("checkout/.gitignore", "/build/\n");
    // As ssh does: options, the host, and the rest as one line for a shell in the home of the other
    // machine.
    program("bin/ssh", R"(while [ $# != 0 ]; do
  case $1 in
    -o) case $2 in ControlPersist* | ControlMaster* | ControlPath*) ;; *) exit 9 ;; esac; shift 2 ;;
    away) echo 'ssh: no route to away' >&2; exit 255 ;;
    mini) shift; break ;;
    *) exit 9 ;;
  esac
done
[ "$1" != -O ] || exit 0
cd ')" + path("home") + R"(' && HOME=$PWD exec sh -c "$*")");
    program("checkout/build/macos/run/bin/speaks",
            R"(for word in "$0" "$@"; do printf '<%s>\n' "$word"; done)");
    shell("git init -q checkout && git -C checkout add -A");
  }
  void program(const std::string& name, const std::string& commands) const {
    fs::permissions(write(name, "#!/bin/sh\n" + commands + "\n"), fs::perms::owner_all);
  }
  Run on_mac(const std::string& arguments) const {
    return shell("PATH=\"$PWD/bin:$PATH\" checkout/tools/run-on-mac " + arguments);
  }
  /// The same, of the copy that lies in `mac copy`.
  Run run(const std::string& arguments) const {
    return on_mac("--at \"$PWD/mac copy\" mini build/macos/run/bin/" + arguments);
  }
};

TEST_F(RunOnMac, GivesTheProgramItsArgumentsAndThePlacesOfTheCopy) {
  const Run spoken =
      run(R"(speaks 'two words' "it's" '$HOME' '' "--data=$PWD/checkout/data/words")");
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  const std::string at = path("mac copy");
  EXPECT_EQ(spoken.out,
            "<" + at + "/build/macos/run/bin/speaks>\n<two words>\n<it's>\n<$HOME>\n<>\n<--data=" +
                at + "/data/words>\n");
}

TEST_F(RunOnMac, CopiesWhatChangedAndBringsBackWhatWasWritten) {
  program("checkout/build/macos/run/bin/writes",
          "cat \"$1\" > copied && echo '<xml/>' > ../Testing/writes.xml; exit 7");
  const std::string call = "writes \"$PWD/checkout/data/words\"";
  EXPECT_EQ(run(call).exit_code, 7) << "the program's own";
  EXPECT_EQ(read("checkout/build/macos/run/results/copied"), "of the checkout\n");
  EXPECT_EQ(read("checkout/build/macos/run/Testing/writes.xml"), "<xml/>\n");

  write("checkout/data/words", "changed, and longer\n");
  EXPECT_EQ(run(call).exit_code, 7);
  EXPECT_EQ(read("checkout/build/macos/run/results/copied"), "changed, and longer\n");
}

TEST_F(RunOnMac, BringsBackTheCrashReportsOfItsTimeAlone) {
  const std::string reports = "home/Library/Logs/DiagnosticReports/";
  fs::create_directories(folder_ / reports);
  write(reports + "older.ips", "{}");
  shell("touch -t 202001010000 " + reports + "older.ips");
  program("checkout/build/macos/run/bin/crashes",
          "cd '" + path(reports) +
              "' && echo '{}' > 'crashes 1.ips' && touch -t 203001010000 'crashes 1.ips'; kill "
              "-SEGV $$");
  EXPECT_EQ(run("crashes").exit_code, 139);
  const std::string brought = "checkout/build/macos/run/results/crash-reports/";
  EXPECT_EQ(read(brought + "crashes 1.ips"), "{}\n");
  EXPECT_FALSE(fs::exists(folder_ / brought / "older.ips"));
}

TEST_F(RunOnMac, SaysWhatIsWrong) {
  const auto fails = [&](const std::string& arguments, int exit_code, const char* words) {
    const Run failed = on_mac(arguments);
    EXPECT_EQ(failed.exit_code, exit_code) << arguments;
    EXPECT_THAT(failed.err, HasSubstr(words)) << arguments;
  };
  fails("", 2, "which Mac? Usage: tools/run-on-mac");
  fails("--at here mini build/macos/run/bin/speaks", 2, "--at takes a whole path");
  fails("mini build/macos/run/bin/nosuch", 2, "checkout/build/macos/run/bin/nosuch is not there");
  fails("mini /bin/ls", 2, "/bin/ls is no file of ");
  fails("away build/macos/run/bin/speaks", 3, "ssh cannot reach away");
  fs::remove_all(folder_ / "checkout/build");
  fails("mini build/macos/run/bin/speaks", 3,
        "nothing is built for a Mac that runs it. tools/run-on-mac mini");
}

}  // namespace
}  // namespace mpsprobe
