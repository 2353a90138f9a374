#include "harness/folder/folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string name = fs::temp_directory_path() / "mpsprobe-folder-XXXXXX";
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ / "in/evidence");
    write("thesis", "years of work\n");
    write("in/plain", "text");
    fs::create_symlink("../thesis", root_ / "in/link");
    fs::create_directory_symlink("..", root_ / "in/up");
    mkfifo((root_ / "in/pipe").c_str(), 0600);
  }
  ~FolderTest() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(root_ / name).rdbuf();
    return text.str();
  }
  Folder folder() const { return Folder(root_ / "in"); }

  fs::path root_;
};

TEST_F(FolderTest, OpensPlainFilesAndNothingThatLeadsOut) {
  struct Way {
    const char* relative;
    int error;
  };
  for (const Way& way : {Way{"link", ELOOP}, Way{"up/thesis", ENOTDIR}, Way{"../thesis", EXDEV},
                         Way{"/etc/passwd", EXDEV}, Way{"evidence/../plain", EXDEV},
                         Way{"a\nb", EXDEV}, Way{"pipe", ENXIO}, Way{"gone", ENOENT}}) {
    for (const int flags : {O_RDONLY, O_RDWR, O_WRONLY | O_APPEND}) {
      errno = 0;
      const Descriptor file = folder().open(way.relative, flags);
      EXPECT_FALSE(file.is_open()) << way.relative;
      EXPECT_EQ(errno, way.error) << way.relative << " with " << flags;
      EXPECT_NE(reason_of(errno), "");
    }
  }
  std::string why;
  EXPECT_EQ(folder().read("plain", 3, &why)->bytes, "tex");
  EXPECT_EQ(folder().read("plain", 3, &why)->size, 4U);
  EXPECT_FALSE(folder().read("link", 3, &why).has_value());
  EXPECT_EQ(why, "it is a link, which is not followed");
}

TEST_F(FolderTest, TheFolderItselfMayBeReachedByALinkThatAUserNamed) {
  fs::create_directory_symlink("in", root_ / "named");
  EXPECT_TRUE(Folder(root_ / "named").read("plain", 10).has_value());
  EXPECT_FALSE(Folder(root_ / "gone").is_open());
}

TEST_F(FolderTest, MakesFoldersButNotThroughALink) {
  EXPECT_TRUE(folder().make_below("a/b").is_open());
  EXPECT_TRUE(folder().make_below("evidence").is_open());
  EXPECT_THROW(folder().make_below("up/a"), fs::filesystem_error);
  EXPECT_THROW(folder().make_below("../a"), fs::filesystem_error);
  EXPECT_THROW(folder().make_below("plain"), fs::filesystem_error);
  EXPECT_FALSE(fs::exists(root_ / "a"));
  EXPECT_FALSE(folder().below("up").is_open());
}

TEST_F(FolderTest, ListsWhatIsInItWithoutLinks) {
  EXPECT_THAT(folder().files("", 10), ElementsAre("plain"));
  EXPECT_THAT(folder().folders("", 10), ElementsAre("evidence"));
  EXPECT_THAT(folder().files("up", 10), IsEmpty());
}

TEST_F(FolderTest, ANewFileReplacesALinkAndNotWhatItLeadsTo) {
  const Folder in = folder();
  {
    NewFile file(in, "link");
    ASSERT_TRUE(file.write("report"));
    EXPECT_TRUE(file.sync());
    EXPECT_TRUE(file.replace());
  }
  EXPECT_EQ(read("thesis"), "years of work\n");
  EXPECT_EQ(read("in/link"), "report");
  // Its own unfinished name may be a link as well.
  fs::create_symlink("../thesis", root_ / ("in/x.tmp." + std::to_string(getpid())));
  NewFile file(in, "x");
  ASSERT_TRUE(file.write("other"));
  EXPECT_TRUE(file.create());
  EXPECT_EQ(read("thesis"), "years of work\n");
  EXPECT_EQ(read("in/x"), "other");
}

TEST_F(FolderTest, ANewFileIsWholeOrNotThere) {
  const Folder in = folder();
  {
    NewFile file(in, "plain");
    ASSERT_TRUE(file.write("half"));
    EXPECT_EQ(read("in/plain"), "text");
    EXPECT_FALSE(file.create());
    EXPECT_EQ(errno, EEXIST);
  }
  EXPECT_THAT(in.files("", 10), ElementsAre("plain"));
  // What a writer left that was killed goes with the next one.
  write("in/plain.tmp.2147483646", "left");
  NewFile file(in, "plain");
  EXPECT_THAT(in.files("", 10), ElementsAre("plain", "plain.tmp." + std::to_string(getpid())));
}

/// The statement of a source that a place is in.
std::string statement_at(const std::string& source, size_t place) {
  const size_t begin = source.find_last_of(";{}", place) + 1;
  return source.substr(begin, source.find(';', place) - begin);
}

TEST(OneWayIn, NothingElseOpensFilesToWrite) {
  // What is no file of a folder: a device, a setting of the kernel, shared memory.
  const std::map<std::string, std::string> kElse = {
      {"harness/process/fork_server_linux.cpp", "/dev/null"},
      {"harness/platform/memory_linux.cpp", "/proc/"},
      {"harness/wire/shared_memory.cpp", "shm_open"},
      {"tools/runner/main.cpp", "/dev/null"},
      {"tools/runner/debug/debug_command.cpp", "gate"},  // a pipe
      {"reports/schema/write_schemas.cpp", "ofstream"},  // a step of the build
  };
  const std::vector<std::string> props = {"_test.",      "_bench.", "_fuzz.",  "fixture",
                                          "misbehaving", "planted", "sample_", "harness/folder/"};
  const std::vector<std::string> words = {"ofstream", "std::fstream", "fopen(",  "mkstemp",
                                          "O_WRONLY", "O_RDWR",       "O_CREAT", "shm_open("};
  const auto contains = [](const std::string& text) {
    return [&text](const std::string& word) { return text.find(word) != std::string::npos; };
  };
  int seen = 0;
  for (const char* room : {"harness", "reports", "reproducers", "tools/runner"}) {
    const fs::path source = MPSPROBE_SOURCE_DIR;
    for (const auto& entry : fs::recursive_directory_iterator(source / room)) {
      const std::string name = fs::relative(entry.path(), source);
      if (entry.path().extension() != ".cpp" ||
          std::any_of(props.begin(), props.end(), contains(name))) {
        continue;
      }
      ++seen;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::string all = text.str();
      const auto known = kElse.find(name);
      for (const std::string& word : words) {
        for (size_t at = 0; (at = all.find(word, at)) != std::string::npos; ++at) {
          const std::string statement = statement_at(all, at);
          const bool by_folder = contains(statement)(".open(");
          const bool is_known = known != kElse.end() && contains(statement)(known->second);
          EXPECT_TRUE(by_folder || is_known) << name << " opens without Folder: " << statement;
        }
      }
    }
  }
  EXPECT_GT(seen, 200);
}

}  // namespace
}  // namespace mpsprobe
