#include "scenarios/sim/defects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "scenarios/sim/stream.h"

namespace mpsprobe::sim {
namespace {

Profile profile_of(const std::string& defects) {
  return parse_profile(R"({"mpsprobe_profile":1,"name":"test","defects":[)" + defects + "]}",
                       "test");
}

double never_drawn() {
  ADD_FAILURE() << "no defect of this profile has a rate";
  return 0;
}

struct Came {
  int wrong = 0;
  int exceptions = 0;
};

/// One thread for each of `ops`; they start together and encode `iterations` times each. Sums up
/// what came out.
Came encode_from(DefectEngine& engine, const std::vector<std::string>& ops, EncodePath path,
                 int iterations = 10) {
  metal::Device device;
  std::atomic<size_t> waiting = ops.size();
  std::atomic<int> wrong = 0;
  std::atomic<int> exceptions = 0;
  std::vector<std::thread> running;
  for (const std::string& op : ops) {
    running.emplace_back([&] {
      Stream stream(device);
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      for (int i = 0; i < iterations; ++i) {
        const EncodeResult result = engine.encode(*find_operation(op), path, stream);
        wrong += result.wrong_numbers;
        exceptions += result.exception != nullptr && *result.exception == "told";
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  return {wrong, exceptions};
}
Came encode_from(DefectEngine& engine, int threads, const std::string& op, EncodePath path,
                 int iterations = 10) {
  return encode_from(engine, std::vector<std::string>(static_cast<size_t>(threads), op), path,
                     iterations);
}

constexpr const char* kWrongBeyondTwo =
    R"({"ops":["linear"],"paths":["nograph"],"slots":2,"hold_us":50000,"beyond":"wrong_numbers"})";

TEST(Defects, HoldAsManyThreadsAsThereAreSlots) {
  DefectEngine engine(profile_of(kWrongBeyondTwo), never_drawn);
  EXPECT_EQ(encode_from(engine, 2, "linear", EncodePath::nograph).wrong, 0);
}

TEST(Defects, StrikeTheThreadBeyondTheSlots) {
  DefectEngine engine(profile_of(kWrongBeyondTwo), never_drawn);
  EXPECT_GT(encode_from(engine, 3, "linear", EncodePath::nograph).wrong, 0);
}

TEST(Defects, LeaveOtherOperationsAndPathsAlone) {
  DefectEngine engine(profile_of(kWrongBeyondTwo), never_drawn);
  EXPECT_EQ(encode_from(engine, 4, "linear", EncodePath::graph).wrong, 0);
  EXPECT_EQ(encode_from(engine, 4, "mm", EncodePath::nograph).wrong, 0);
}

TEST(Defects, NoSlotMeansThatEveryEncodeIsStruck) {
  DefectEngine engine(
      profile_of(R"({"ops":["*"],"slots":0,"hold_us":0,"beyond":"exception","text":"told"})"),
      never_drawn);
  EXPECT_EQ(encode_from(engine, 1, "relu", EncodePath::graph, 7).exceptions, 7);
}

TEST(Defects, OperationsOfOneKernelMeetInItsSlots) {
  const Profile profile = profile_of(
      R"({"ops":["ones","full","zeros"],"slots":1,"hold_us":50000,"beyond":"wrong_numbers"})");
  DefectEngine together(profile, never_drawn);
  EXPECT_GT(encode_from(together, {"ones", "full"}, EncodePath::graph).wrong, 0);
  DefectEngine apart(profile, never_drawn);
  EXPECT_EQ(encode_from(apart, {"ones", "zeros"}, EncodePath::graph).wrong, 0);
}

TEST(Defects, OfOneObjectIsMetByAllItsOperations) {
  const std::string rest = R"("slots":1,"hold_us":50000,"beyond":"wrong_numbers"})";
  DefectEngine one(profile_of(R"({"ops":["sin","zeros"],"one_object":true,)" + rest), never_drawn);
  EXPECT_GT(encode_from(one, {"sin", "zeros"}, EncodePath::nograph).wrong, 0);
  DefectEngine several(profile_of(R"({"ops":["sin","cos"],)" + rest), never_drawn);
  EXPECT_EQ(encode_from(several, {"sin", "cos"}, EncodePath::nograph).wrong, 0);
}

TEST(Defects, LazyInitialisationStrikesOnlyBeforeTheFirstEncode) {
  const Profile profile = profile_of(
      R"({"ops":["*"],"slots":1,"hold_us":20000,"beyond":"wrong_numbers","until_initialised":true})");
  DefectEngine cold(profile, never_drawn);
  EXPECT_GT(encode_from(cold, 4, "mm", EncodePath::graph).wrong, 0);
  DefectEngine warm(profile, never_drawn);
  encode_from(warm, 1, "mm", EncodePath::graph, 1);
  EXPECT_EQ(encode_from(warm, 4, "mm", EncodePath::graph).wrong, 0);
}

TEST(Defects, OnceWarmStrikesOnlyAfterAFirstEncodeThatWasAlone) {
  const Profile profile = profile_of(
      R"({"ops":["*"],"slots":1,"hold_us":50000,"beyond":"wrong_numbers","once_warm":true})");
  DefectEngine cold(profile, never_drawn);
  EXPECT_EQ(encode_from(cold, 4, "mm", EncodePath::graph, 3).wrong, 0);
  DefectEngine warm(profile, never_drawn);
  encode_from(warm, 1, "mm", EncodePath::graph, 1);
  EXPECT_GT(encode_from(warm, 4, "mm", EncodePath::graph, 3).wrong, 0);
}

TEST(Defects, AThreadsEarlierEncodesAreSafe) {
  const Profile profile =
      profile_of(R"({"ops":["*"],"slots":0,"hold_us":0,"beyond":"wrong_numbers","from_encode":3})");
  DefectEngine engine(profile, never_drawn);
  EXPECT_EQ(encode_from(engine, 2, "mm", EncodePath::graph, 2).wrong, 0);
  // Threads of their own: each begins to count anew.
  EXPECT_EQ(encode_from(engine, 2, "relu", EncodePath::graph, 5).wrong, 6);
}

TEST(Defects, ARateIsDrawnOncePerProcess) {
  const Profile profile =
      profile_of(R"({"ops":["*"],"slots":0,"hold_us":0,"beyond":"wrong_numbers","rate":0.25})");
  int draws = 0;
  DefectEngine in_force(profile, [&] { return ++draws, 0.24; });
  DefectEngine absent(profile, [&] { return ++draws, 0.25; });
  EXPECT_EQ(encode_from(in_force, 1, "mm", EncodePath::graph, 5).wrong, 5);
  EXPECT_EQ(encode_from(absent, 1, "mm", EncodePath::graph, 5).wrong, 0);
  EXPECT_TRUE(in_force.overwrites_results());
  EXPECT_FALSE(absent.overwrites_results());
  EXPECT_EQ(draws, 2);
}

TEST(Defects, AGpuErrorIsToldOnStderrAndTheProgramGoesOn) {
  DefectEngine engine(profile_of(R"({"ops":["*"],"slots":0,"hold_us":0,"beyond":"gpu_error"})"),
                      never_drawn);
  testing::internal::CaptureStderr();
  encode_from(engine, 1, "mm", EncodePath::graph, 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("command buffer exited with error status"));
}

void encode_beyond(const std::string& beyond) {
  DefectEngine engine(profile_of(R"({"ops":["mm"],"slots":0,"hold_us":0,)" + beyond + "}"),
                      never_drawn);
  encode_from(engine, 1, "mm", EncodePath::graph, 1);
}

// A sanitiser catches the signal, tells about it and exits with a code of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitised = true;
#else
constexpr bool kSanitised = false;
#endif

TEST(DefectsDeathTest, ANullDereferenceIsARealOne) {
  const auto died = [](int status) {
    return kSanitised ? !WIFEXITED(status) || WEXITSTATUS(status) != 0
                      : WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
  };
  EXPECT_EXIT(encode_beyond(R"("beyond":"null_dereference")"), died, kSanitised ? "SEGV" : "");
}

TEST(DefectsDeathTest, AnUnknownAssertionIsPrintedAtItsPlace) {
  EXPECT_EXIT(encode_beyond(R"("beyond":"assertion","text":"nobody knows","place":"-[X y]")"),
              testing::KilledBySignal(SIGABRT), "^-\\[X y\\]: failed assertion `nobody knows'");
}

TEST(DefectsDeathTest, AKnownAssertionIsMetalsOwnAnswer) {
  const std::pair<const char*, const char*> kCases[] = {
      {"Scheduled handler provided after commit call", "addScheduledHandler:\\]:806"},
      {"Completed handler provided after commit call", "addCompletedHandler:\\]:867"},
      {"commit command buffer with uncommitted encoder", "validate\\]:214"},
      {"commit an already committed command buffer", "validate\\]:209"},
      {"A command encoder is already encoding to this command buffer", "nextEncoderClass:\\]:1091"},
  };
  for (const auto& [text, place] : kCases) {
    EXPECT_EXIT(encode_beyond(R"("beyond":"assertion","text":")" + std::string(text) + "\""),
                testing::KilledBySignal(SIGABRT),
                std::string(place) + ": failed assertion `" + text);
  }
  EXPECT_EXIT(
      encode_beyond(R"("beyond":"assertion","text":"_status < MTLCommandBufferStatusCommitted")"),
      testing::KilledBySignal(SIGABRT),
      "^failed assertion _status < MTLCommandBufferStatusCommitted at line .* "
      "setCurrentCommandEncoder:\\]\n$");
}

TEST(DefectsDeathTest, AHangNeverComesBack) {
  const auto hang_for_a_while = [] {
    std::thread([] {
      encode_beyond(R"("beyond":"hang")");
      std::_Exit(1);
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::_Exit(42);
  };
  EXPECT_EXIT(hang_for_a_while(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace mpsprobe::sim
