#include "tools/runner/run/line_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

class LineWriterTest : public testing::Test {
 protected:
  LineWriterTest() {
    signal(SIGPIPE, SIG_IGN);
    char pattern[] = "/tmp/mpsprobe-lines-XXXXXX";
    folder_ = mkdtemp(pattern);
    pipe_ = folder_ / "pipe";
    mkfifo(pipe_.c_str(), 0600);
  }
  ~LineWriterTest() override { std::filesystem::remove_all(folder_); }

  int reader() const { return ::open(pipe_.c_str(), O_RDONLY | O_NONBLOCK); }

  static std::string taken(int fd) {
    std::string text(size_t{1} << 22, '\0');
    size_t size = 0;
    for (ssize_t count; (count = ::read(fd, text.data() + size, text.size() - size)) > 0;) {
      size += static_cast<size_t>(count);
    }
    text.resize(size);
    return text;
  }

  std::filesystem::path folder_;
  std::filesystem::path pipe_;
};

TEST_F(LineWriterTest, KeepsWholeLinesForASlowReaderAndNoMoreThanItMay) {
  const int fd = reader();
  LineWriter writer("--events", pipe_.string());
  const std::string line = std::string(10'000, 'x') + "\n";
  size_t accepted = 0;
  while (writer.write(line)) ++accepted;
  EXPECT_GT(accepted * line.size(), LineWriter::kMostKept - line.size());
  EXPECT_LT(accepted * line.size(), 2 * LineWriter::kMostKept);
  std::string text = taken(fd);
  while (writer.finish(std::chrono::milliseconds(0)) > 0) text += taken(fd);
  text += taken(fd);
  ASSERT_EQ(text.size(), accepted * line.size());
  for (size_t at = 0; at < text.size(); at += line.size()) {
    ASSERT_EQ(text.compare(at, line.size(), line), 0);
  }
  EXPECT_TRUE(writer.write("again\n"));
  EXPECT_EQ(taken(fd), "again\n");
  ::close(fd);
}

TEST_F(LineWriterTest, KeepsEverythingForAReaderWhoComesLate) {
  LineWriter writer("--events", pipe_.string());
  EXPECT_FALSE(writer.has_reader());
  EXPECT_TRUE(writer.write("first\n"));
  EXPECT_EQ(writer.finish(std::chrono::seconds(60)), 1U) << "waits for nobody";
  const int fd = reader();
  EXPECT_TRUE(writer.write("second\n"));
  EXPECT_EQ(taken(fd), "first\nsecond\n");
  ::close(fd);
  EXPECT_FALSE(writer.write("third\n"));
  EXPECT_NE(writer.broken(), "");
}

TEST_F(LineWriterTest, AppendsToAFileAndRefusesWhatIsNone) {
  const std::string file = folder_ / "file";
  for (const char* line : {"one\n", "two\n"}) LineWriter("--events", file).write(line);
  EXPECT_EQ(std::filesystem::file_size(file), 8U);
  EXPECT_THROW(LineWriter("--events", folder_.string()), InputError);
  EXPECT_THROW(LineWriter("--events", file + "/x"), InputError);
}

}  // namespace
}  // namespace mpsprobe
