#include "harness/provenance/macho_header.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

namespace mpsprobe {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

/// An arm64 library as a linker for macOS wrote it. Its commands lie in memory as in the file.
std::string real_image() {
  std::ifstream file(MPSPROBE_SOURCE_DIR "/harness/stack/testdata/planted_macho.dylib",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Both as otool -l prints them.
TEST(MachoHeader, TellsUuidAndSizeOfText) {
  const std::string image = real_image();
  ASSERT_FALSE(image.empty());
  const MachoHeader header = read_macho_header(image.data());
  EXPECT_TRUE(header.valid);
  const unsigned char uuid[] = {0x48, 0xf9, 0x2a, 0x07, 0x24, 0x67, 0x3b, 0xc9,
                                0xab, 0x75, 0xcf, 0x99, 0xc3, 0x6b, 0xa9, 0x3c};
  EXPECT_THAT(header.uuid, ElementsAreArray(uuid));
  EXPECT_EQ(header.text_bytes, 0x15b0U);
}

TEST(MachoHeader, OfAnImageWithoutUuidIsStillRead) {
  std::string image = real_image();
  const size_t uuid = image.find(std::string("\x1b\0\0\0\x18\0\0\0\x48\xf9", 10));
  ASSERT_NE(uuid, std::string::npos);
  image[uuid] = '\x7f';  // a command that no one knows
  const MachoHeader header = read_macho_header(image.data());
  EXPECT_THAT(header.uuid, IsEmpty());
  EXPECT_EQ(header.text_bytes, 0x15b0U);
}

TEST(MachoHeader, AnotherFormatIsRefused) {
  const std::string elf(
      "\x7f"
      "ELF" +
      std::string(60, '\0'));
  EXPECT_FALSE(read_macho_header(elf.data()).valid);
}

}  // namespace
}  // namespace mpsprobe
