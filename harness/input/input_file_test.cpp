#include "harness/input/input_file.h"

#include <gmock/gmock.h>

#include <sstream>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

std::string complaint(const std::string& file) {
  try {
    read_input_file(file, 1000, "Name another");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(InputFile, WhatIsNoneIsNamedWithTheRemedyInBoundedTime) {
  EXPECT_EQ(complaint("/tmp"), "/tmp: is a folder and no file. Name another");
  EXPECT_EQ(complaint("/dev/zero"), "/dev/zero: is over 1000 bytes. Name another");
  EXPECT_EQ(complaint("/none"), "/none: cannot be read: No such file or directory. Name another");
  EXPECT_THAT(complaint("/" + std::string(5000, 'x')), testing::HasSubstr("name too long"));
  EXPECT_EQ(complaint("/dev/null"), "");
}

TEST(InputFile, LinesAreReadAsTheyAreAndOfOneWithoutAnEndNoMoreThanAsked) {
  const std::string pieces(65535, 'x');
  std::istringstream stream("\na\n" + pieces + "\n" + pieces + "y\nlast");
  std::vector<std::string> lines;
  for (std::string line; read_line(stream, line, 1 << 20);) lines.push_back(line);
  EXPECT_THAT(lines, testing::ElementsAre("", "a", pieces, pieces + "y", "last"));
  EXPECT_TRUE(stream.eof());
  std::ifstream endless("/dev/zero");
  std::string line;
  EXPECT_TRUE(read_line(endless, line, 1000));
  EXPECT_GT(line.size(), 1000U);
  EXPECT_LT(line.size(), 100000U);
}

TEST(InputFile, OnlyAPlainFileIsOpened) {
  EXPECT_FALSE(open_plain_file("/dev/null").is_open());
  EXPECT_FALSE(open_plain_file("/tmp").is_open());
  EXPECT_FALSE(open_plain_file("/none").is_open());
  EXPECT_TRUE(open_plain_file("/proc/self/status").is_open() ||
              open_plain_file("/etc/hosts").is_open());
}

}  // namespace
}  // namespace mpsprobe
