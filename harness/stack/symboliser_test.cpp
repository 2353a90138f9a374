#include "harness/stack/symboliser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "harness/stack/image_symbols.h"
#include "harness/stack/own_address_for_tests.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kTestdata = std::string(MPSPROBE_SOURCE_DIR) + "/harness/stack/testdata/";
const std::string kElf = kTestdata + "planted_elf.so";
const std::string kElfId = "3ae68c3190545fe2db2f22c50128ea1dc25e0a03";
const std::string kMacho = kTestdata + "planted_macho.dylib";
const std::string kMachoId = "48f92a0724673bc9ab75cf99c36ba93c";

volatile int sink = 0;

#define MPSPROBE_KEPT [[gnu::noinline, gnu::used]]

/// The place that this call returns to.
MPSPROBE_KEPT const void* return_address() {
  sink = sink + 1;
  return __builtin_return_address(0);
}

MPSPROBE_KEPT const void* planted_static(int) {
  const void* here = return_address();
  sink = sink + 2;
  return here;
}

[[gnu::always_inline]] inline const void* planted_inlined() {
  const void* here = return_address();
  sink = sink + 3;
  return here;
}
MPSPROBE_KEPT const void* planted_host() {
  const void* here = planted_inlined();
  sink = sink + 4;
  return here;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What the second frame of a stack comes to, where `address` is the return address.
std::vector<StackFrame> called_from(const FrameAddress& address) {
  Symboliser symboliser;
  std::vector<StackFrame> frames = symboliser.symbolise({{"", "", 0}, address});
  frames.erase(frames.begin());
  return frames;
}

/// The functions at a program counter, innermost first, joined by " < ".
std::string functions_at(const std::string& path, const std::string& id, uint64_t offset) {
  Symboliser symboliser;
  std::string text;
  for (const StackFrame& frame : symboliser.symbolise({{path, id, offset}})) {
    text += (text.empty() ? "" : " < ") + frame.function;
  }
  return text;
}

/// A file that is gone with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes) {
    path_ = (std::filesystem::temp_directory_path() / "mpsprobe-image-XXXXXX").string();
    const int fd = mkstemp(path_.data());
    if (fd >= 0) close(fd);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Symboliser, NamesAStaticFunctionOfThisProgram) {
  const FrameAddress address = own_address(planted_static(1));
  const std::vector<StackFrame> frames = called_from(address);
  ASSERT_FALSE(frames.empty());
  EXPECT_THAT(frames.back().function, HasSubstr("planted_static(int)"));
  EXPECT_EQ(frames.back().image, address.image());
  EXPECT_EQ(frames.back().image_id, address.image_id);
  EXPECT_EQ(frames.back().offset, address.offset);
  EXPECT_FALSE(frames.back().inlined);
}

TEST(Symboliser, NamesAFunctionOfTheCLibrary) {
  Symboliser symboliser;
  const std::vector<StackFrame> frames = symboliser.symbolise({own_address("qsort")});
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().function, "qsort");
}

#ifdef __linux__
TEST(Symboliser, ShowsInlinedFunctionsWithTheirLines) {
  const std::vector<StackFrame> frames = called_from(own_address(planted_host()));
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_THAT(frames[0].function, StartsWith("mpsprobe::(anonymous namespace)::planted_inlined"));
  EXPECT_THAT(frames[0].source, StartsWith("symboliser_test.cpp:"));
  EXPECT_FALSE(frames[1].inlined);
  EXPECT_THAT(frames[1].function, HasSubstr("planted_host()"));
  EXPECT_THAT(frames[1].source, StartsWith("symboliser_test.cpp:"));
  EXPECT_NE(frames[0].source, frames[1].source);
}

TEST(ElfSymbols, NameFunctionsFromTheFirstByteToTheLast) {
  EXPECT_EQ(functions_at(kElf, kElfId, 0x317), "");
  EXPECT_EQ(functions_at(kElf, kElfId, 0x318), "planted::hidden(int)");
  EXPECT_EQ(functions_at(kElf, kElfId, 0x325), "planted::exported(int)");
  EXPECT_EQ(functions_at(kElf, kElfId, 0x32a), "planted::Device::submit(int)");
  EXPECT_EQ(functions_at(kElf, kElfId, 0x347), "planted::Device::submit(int)");
  EXPECT_EQ(functions_at(kElf, kElfId, 0x348), "planted_c_function");
  EXPECT_EQ(functions_at(kElf, kElfId, 0x34c), "");
  EXPECT_EQ(functions_at(kElf, kElfId, UINT64_MAX), "");
}

TEST(ElfSymbols, ShowWhatWasInlinedAndWhere) {
  Symboliser symboliser;
  const std::vector<StackFrame> frames = symboliser.symbolise({{kElf, kElfId, 0x33d}});
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0], (StackFrame{"planted_elf.so", kElfId, 0x33d, "planted::encode(int)",
                                   "planted_functions.cpp:19", true}));
  EXPECT_EQ(frames[1], (StackFrame{"planted_elf.so", kElfId, 0x33d, "planted::Device::submit(int)",
                                   "planted_functions.cpp:28", false}));
}

TEST(ElfSymbols, LookUpAReturnAddressInsideTheCall) {
  // 0x348 is where planted_c_function begins; a call that returns there was in the one before.
  const std::vector<StackFrame> frames = called_from({kElf, kElfId, 0x348});
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].function, "planted::Device::submit(int)");
  EXPECT_EQ(frames[0].offset, 0x348U);
}

TEST(ElfSymbols, SurviveAFileThatEndsAnywhere) {
  const std::string whole = contents(kElf);
  ASSERT_GT(whole.size(), 4096U);
  const TemporaryFile file(whole);
  for (size_t length = whole.size(); length-- > 0;) {
    std::filesystem::resize_file(file.path(), length);
    const auto symbols = open_image_symbols(file.path(), kElfId);
    if (symbols != nullptr) {
      for (const uint64_t offset : {0x318, 0x33d, 0x348}) symbols->frames_at(offset);
    }
  }
}

TEST(ElfSymbols, SurviveDamagedBytes) {
  const std::string whole = contents(kElf);
  const TemporaryFile file(whole);
  std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](size_t at, char byte) {
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte);
    stream.flush();
  };
  for (size_t at = 4; at < whole.size(); at += 3) {
    put(at, static_cast<char>(whole[at] ^ 0xff));
    const auto symbols = open_image_symbols(file.path(), kElfId);
    if (symbols != nullptr) symbols->frames_at(0x33d);
    put(at, whole[at]);
  }
  EXPECT_EQ(functions_at(file.path(), kElfId, 0x348), "planted_c_function");
}
#endif

TEST(Symboliser, DoesNotUseAFileWithAnotherId) {
  EXPECT_EQ(functions_at(kElf, "3ae68c31", 0x318), "");
  EXPECT_EQ(functions_at(kElf, "", 0x318), "");
  EXPECT_EQ(functions_at(kMacho, kElfId, 0x14b8), "");
  Symboliser symboliser;
  const FrameAddress address{kMacho, "00", 0x14b8};
  EXPECT_EQ(symboliser.symbolise({address}),
            (std::vector{StackFrame{"planted_macho.dylib", "00", 0x14b8, "", "", false}}));
}

TEST(Symboliser, KeepsWhatIsKnownOfImagesThatAreNoFiles) {
  Symboliser symboliser;
  const std::vector<FrameAddress> addresses{{"/gone/a.out (deleted)", "12", 0x10},
                                            {"linux-vdso.so.1", "34", 0x20},
                                            {"", "", 0xdead0000},
                                            {"/dev/zero", "", 0x30},
                                            {kTestdata, "", 0x40}};
  const std::vector<StackFrame> frames = symboliser.symbolise(addresses);
  ASSERT_EQ(frames.size(), addresses.size());
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i], (StackFrame{addresses[i].image(), addresses[i].image_id,
                                     addresses[i].offset, "", "", false}));
  }
}

TEST(Symboliser, DoesNotWaitForAPipe) {
  TemporaryFile file("");
  std::filesystem::remove(file.path());
  ASSERT_EQ(mkfifo(file.path().c_str(), 0600), 0);
  EXPECT_EQ(functions_at(file.path(), "", 0x10), "");
}

TEST(Symboliser, AnswersSeveralThreads) {
  Symboliser symboliser;
  std::vector<std::string> names(4);
  std::vector<std::thread> threads;
  for (std::string& name : names) {
    threads.emplace_back([&symboliser, &name] {
      for (uint64_t offset = 0x14b0; offset < 0x1510; ++offset) {
        name += symboliser.symbolise({{kMacho, kMachoId, offset}}).front().function;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(names[0], HasSubstr("planted::Device::submit(int)"));
  for (const std::string& name : names) EXPECT_EQ(name, names[0]);
}

TEST(MachoSymbols, NameFunctionsFromTheFirstByteToTheLast) {
  EXPECT_EQ(functions_at(kMacho, kMachoId, 0x14b7), "");
  EXPECT_EQ(functions_at(kMacho, kMachoId, 0x14b8), "planted::exported(int)");
  EXPECT_EQ(functions_at(kMacho, kMachoId, 0x14c4), "planted::Device::submit(int)");
  EXPECT_EQ(functions_at(kMacho, kMachoId, 0x14fb), "planted::Device::submit(int)");
  EXPECT_EQ(functions_at(kMacho, kMachoId, 0x14fc), "planted::hidden(int)");
  EXPECT_EQ(functions_at(kMacho, kMachoId, 0x150c), "planted_c_function");
  EXPECT_EQ(functions_at(kMacho, kMachoId, 0x8000), "");  // data
  EXPECT_EQ(functions_at(kMacho, kMachoId, UINT64_MAX), "");
}

std::string function_at(const std::string& image, const std::string& id, uint64_t offset) {
  const auto symbols = open_macho_symbols(ImageFile(image), id);
  if (symbols == nullptr) return "no image";
  const std::vector<StackFrame> frames = symbols->frames_at(offset);
  return frames.empty() ? "" : frames.front().function;
}

TEST(MachoSymbols, DoNotGiveAStrippedFunctionTheNameBeforeIt) {
  std::string image = contents(kMacho);
  // The command with the function starts: they begin at 0x14b8, 0x14c4 and, nameless, 0x14d0.
  const size_t command = image.find(std::string("\x26\0\0\0\x10\0\0\0", 8));
  ASSERT_NE(command, std::string::npos);
  const auto put = [&](size_t at, uint32_t value) {
    for (int i = 0; i < 4; ++i) image[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(command + 8, static_cast<uint32_t>(image.size()));
  put(command + 12, 6);
  image += std::string("\xb8\x29\x0c\x0c\0\0", 6);
  EXPECT_EQ(function_at(image, kMachoId, 0x14cf), "_ZN7planted6Device6submitEi");
  EXPECT_EQ(function_at(image, kMachoId, 0x14d0), "");
}

TEST(MachoSymbols, PickTheSliceOfAUniversalFileByItsId) {
  const std::string image = contents(kMacho);
  std::string other = image;
  const size_t uuid = other.find("\x48\xf9\x2a\x07");
  ASSERT_NE(uuid, std::string::npos);
  other[uuid] = 0;
  const auto big = [](uint32_t value) {
    return std::string{static_cast<char>(value >> 24), static_cast<char>(value >> 16),
                       static_cast<char>(value >> 8), static_cast<char>(value)};
  };
  const auto size = static_cast<uint32_t>(image.size());
  std::string head = big(0xcafebabe) + big(2) + big(0x01000007) + big(3) + big(0x100) + big(size) +
                     big(0) + big(0x0100000c) + big(0) + big(0x100 + size) + big(size) + big(0);
  head.resize(0x100, '\0');
  const std::string universal = head + other + image;
  EXPECT_EQ(function_at(universal, kMachoId, 0x150c), "planted_c_function");
  EXPECT_EQ(function_at(universal, "00" + kMachoId.substr(2), 0x150c), "planted_c_function");
  EXPECT_EQ(function_at(universal, "", 0x150c), "no image");
}

#ifdef __linux__
TEST(ImageLiterals, AreOfTheImageWithThisIdAlone) {
  const FrameAddress here = own_address(planted_static(1));
  const std::string literals = image_literals(here.path, here.image_id);
  EXPECT_THAT(literals, HasSubstr(std::string("a text that no other library has") + '\0'));
  EXPECT_EQ(image_literals(here.path, std::nullopt), literals);
  EXPECT_EQ(image_literals(here.path, "abcd"), "");
  EXPECT_EQ(image_literals(here.path, ""), "");
  EXPECT_EQ(image_literals(kTestdata + "planted_functions.cpp", std::nullopt), "");
}
#endif

/// A Mach-O image with one section of literals, "planted".
std::string image_with_literals() {
  const auto little = [](uint64_t value, size_t bytes) {
    std::string text;
    for (size_t i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
    return text;
  };
  const auto name = [](std::string text) {
    text.resize(16, '\0');
    return text;
  };
  constexpr size_t kCommands = 72 + 80 + 24;
  std::string file = little(0xfeedfacf, 4) + little(0, 12) + little(2, 4) + little(kCommands, 4);
  file += little(0, 8);
  file += little(0x19, 4) + little(72 + 80, 4) + name("__TEXT") + little(0, 32) + little(0, 8);
  file += little(1, 4) + little(0, 4);
  file += name("__cstring") + name("__TEXT") + little(0, 8) + little(8, 8);
  file += little(32 + kCommands, 4) + little(0, 12) + little(2, 4) + little(0, 12);
  file += little(0x1b, 4) + little(24, 4) + std::string(16, '\x11');
  return file + std::string("planted\0", 8) + "behind it";
}

TEST(ImageLiterals, OfMachOAreItsSectionsOfLiterals) {
  const std::string bytes = image_with_literals();
  const std::string id(32, '1');
  EXPECT_THAT(macho_literals(ImageFile(bytes), id), StartsWith(std::string("planted\0", 8)));
  EXPECT_THAT(macho_literals(ImageFile(bytes), id), testing::Not(HasSubstr("behind")));
  EXPECT_EQ(macho_literals(ImageFile(bytes), "22"), "");
  for (size_t end = 0; end < bytes.size(); ++end) {
    macho_literals(ImageFile(std::string_view(bytes).substr(0, end)), std::nullopt);
  }
}

TEST(MachoSymbols, SurviveAFileThatEndsAnywhere) {
  const std::string whole = contents(kMacho);
  ASSERT_GT(whole.size(), 40'000U);
  for (size_t length = 0; length < whole.size(); ++length) {
    // A copy of that length, so that a sanitizer sees every byte that is read behind it.
    const std::string cut = whole.substr(0, length);
    const auto symbols = open_macho_symbols(ImageFile(cut), kMachoId);
    if (symbols != nullptr) symbols->frames_at(0x150c);
  }
}

TEST(MachoSymbols, SurviveDamagedCommands) {
  std::string image = contents(kMacho);
  for (size_t at = 0; at < 2048; ++at) {
    const char byte = image[at];
    for (const int flip : {0xff, 0x80, 0x01}) {
      image[at] = static_cast<char>(byte ^ flip);
      const auto symbols = open_macho_symbols(ImageFile(image), kMachoId);
      if (symbols != nullptr) symbols->frames_at(0x150c);
    }
    image[at] = byte;
  }
  EXPECT_EQ(function_at(image, kMachoId, 0x150c), "planted_c_function");
}

}  // namespace
}  // namespace mpsprobe
