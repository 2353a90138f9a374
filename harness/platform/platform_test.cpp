// What each system tells in its own way, of macOS with facts that Macs have told elsewhere.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/platform/device_class.h"
#include "harness/platform/machine.h"
#include "harness/platform/machine_use.h"
#include "harness/platform/memory.h"
#include "harness/platform/processor_use.h"
#include "harness/test_series.h"
#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace mpsprobe {
namespace {

using Facts = std::map<std::string, std::string>;

MachineNames names_of(const Facts& facts) {
  return macos_names([&facts](const char* name) {
    const auto at = facts.find(name);
    return at == facts.end() ? "" : at->second;
  });
}

// A hosted macos-15 runner in 2026, as logs of public workflows show it: version, build and model
// from a listing of xcdevice, the processor from sysctl.
const Facts kHostedRunner{{"kern.osproductversion", "15.7.9"},
                          {"kern.osversion", "24G830"},
                          {"hw.model", "VirtualMac2,1"},
                          {"machdep.cpu.brand_string", "Apple M1 (Virtual)"}};

TEST(MachineNames, AreWhatSysctlSays) {
  const MachineNames names = names_of(kHostedRunner);
  EXPECT_EQ(names.os, "macOS 15.7.9");
  EXPECT_EQ(names.os_build, "24G830");
  EXPECT_EQ(names.model, "VirtualMac2,1");
  EXPECT_EQ(names.chip, "Apple M1 (Virtual)");
}

// What kern.osproductversion says of macOS 26 depends on the SDK that a program was linked with: 16
// in python/cpython#135675 and dotnet/runtime#116536. The build does not.
TEST(MachineNames, AreThoseOfTheSystemWhateverTheSdk) {
  const auto os = [](const std::string& version, const std::string& build) {
    return names_of({{"kern.osproductversion", version}, {"kern.osversion", build}}).os;
  };
  EXPECT_EQ(os("16.0", "25A5279m"), "macOS 26.0");
  EXPECT_EQ(os("26.1", "25B78"), "macOS 26.1");
  EXPECT_EQ(os("16", "26A1"), "macOS 27");
  EXPECT_EQ(os("15.7.9", "24G830"), "macOS 15.7.9");
  EXPECT_EQ(os("", "25A354"), "macOS");
}

TEST(MachineNames, ThatAreNotToldAreEmpty) {
  const MachineNames names = names_of({});
  EXPECT_EQ(names.os, "macOS");
  EXPECT_EQ(names.os_build + names.model + names.chip, "");
}

TEST(DeviceClass, AVirtualMacIsNoChip) {
  // The last: Parallels Desktop on an M5 Pro.
  for (const char* name : {"Apple Paravirtual device", "Apple M1 (Virtual)", "VirtualMac2,1",
                           "Apple M5 Pro (Virtual)"}) {
    EXPECT_TRUE(names_paravirtual(name)) << name;
  }
  for (const char* name : {"Apple M1", "Apple M4 Max", "Mac16,5", "MacBookPro18,3",
                           "simulated Metal device", "NVIDIA H100 80GB HBM3", ""}) {
    EXPECT_FALSE(names_paravirtual(name)) << name;
  }
}

TEST(MaxRss, IsInBytesOnMacosAndInKilobytesElsewhere) {
  // getrusage(2) of macOS: "in bytes"; of Linux: "in kilobytes".
  EXPECT_EQ(max_rss_bytes(52'428'800, System::macos), 50ULL << 20);
  EXPECT_EQ(max_rss_bytes(51'200, System::other), 50ULL << 20);
  // A process that holds more than 4 GiB.
  EXPECT_EQ(max_rss_bytes(6'442'450'944, System::macos), 6ULL << 30);
}

/// A child of this process, which writes a byte into `ready` once it is where the test wants it, or
/// ends. It is killed in the end.
class ChildThat {
 public:
  explicit ChildThat(void (*runs)(int ready)) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    pid_ = fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ == 0) {
      runs(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    close(ends[0]);
  }
  ~ChildThat() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ChildThat(const ChildThat&) = delete;
  ChildThat& operator=(const ChildThat&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(ProcessState, OneThatSleepsIsThere) {
  const ChildThat child([](int ready) {
    if (write(ready, "x", 1) == 1) pause();
  });
  EXPECT_GE(thread_count(child.pid()), 1);  // a sanitizer may have one of its own
  EXPECT_FALSE(is_exiting(child.pid()));
}

TEST(ProcessState, OneThatEndedAndWasNotWaitedForIsExiting) {
  const ChildThat child([](int) {});
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_exiting(child.pid()));
}

#ifdef __linux__
// Its main thread is a zombie then, as that of one that has ended.
TEST(ProcessState, OneWhoseMainThreadEndedAloneIsThere) {
  const ChildThat child([](int ready) {
    pthread_t other{};
    auto* const to = new int(ready);
    pthread_create(
        &other, nullptr,
        [](void* end) -> void* {
          const std::string stat = "/proc/" + std::to_string(getpid()) + "/stat";
          for (std::string text; text.find(") Z ") == std::string::npos;) {
            std::getline(std::ifstream(stat), text);
          }
          if (write(*static_cast<int*>(end), "x", 1) == 1) pause();
          return nullptr;
        },
        to);
    syscall(SYS_exit, 0);  // of this thread alone
  });
  EXPECT_FALSE(is_exiting(child.pid()));
}
#endif

TEST(ProcessState, OneThatIsGoneIsNotExiting) {
  pid_t gone = -1;
  {
    gone = ChildThat([](int) {}).pid();
  }
  EXPECT_FALSE(is_exiting(gone));
  EXPECT_EQ(thread_count(gone), 0);
}

TEST(ProcessState, ThreadsThatEndWhileTheyAreLookedAtAreNoError) {
  std::atomic<bool> done = false;
  std::thread starts([&] {
    while (!done) std::thread([] {}).join();
  });
  ProcessorUse use;
  for (int i = 0; i < series(3000, 300); ++i) {
    EXPECT_FALSE(is_exiting(getpid()));
    EXPECT_GE(use.look(getpid()), 0);
  }
  done = true;
  starts.join();
}

/// The least and the most that were seen in some looks at a child of a child that does `work`: on a
/// busy machine one look may see the start of a process, or none of its turns.
std::pair<double, double> use_of(void (*work)()) {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    if (fork() == 0) work();
    for (;;) pause();
  }
  ProcessorUse use;
  use.look(child);
  double least = 1e9, most = 0;
  for (int look = 0; look < 10; ++look) {
    usleep(100'000);
    const double seen = use.look(child);
    least = std::min(least, seen);
    most = std::max(most, seen);
  }
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return {least, most};
}

TEST(MachineUse, WhatThisProgramUsesIsNobodyElses) {
  const MachineUse use;
  const auto computed = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  for (const double begun = computed(); computed() < begun + 0.2;) {
  }
  const std::optional<double> others = use.processors_of_others();
  ASSERT_TRUE(others);
  EXPECT_GE(*others, 0);
  // The system counts whole ticks, and this program its own time.
  EXPECT_LE(*others, std::thread::hardware_concurrency() + 0.5);
}

TEST(ProcessorUse, WhatComputesIsToldFromWhatSleepsAndLooksAgain) {
  const auto computes = use_of([] {
    for (;;) getppid();
  });
  const auto looks = use_of([] {
    for (;;) usleep(5'000);
  });
  EXPECT_GT(computes.second, 0.2);
  EXPECT_LT(looks.first, 0.2);
}

}  // namespace
}  // namespace mpsprobe
