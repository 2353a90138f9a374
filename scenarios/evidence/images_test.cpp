#include "scenarios/evidence/images.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace mpsprobe {
namespace {

class Images : public testing::Test {
 protected:
  Images() { FlightRecorder::initialise(block_.get()); }

  std::optional<ImageSeen> seen(const std::string& name) const {
    const std::vector<ImageSeen> images = read_recorder(*block_).images;
    const auto at = std::find_if(images.begin(), images.end(), [&name](const ImageSeen& image) {
      return image.path.find(name) != std::string::npos;
    });
    return at == images.end() ? std::nullopt : std::optional(*at);
  }

  std::unique_ptr<recorder_layout::Block> block_ = std::make_unique<recorder_layout::Block>();
  FlightRecorder recorder_{block_.get()};
};

TEST_F(Images, ALibraryThatWasLoadedLaterIsFoundByAnAddressInIt) {
  note_images(recorder_);
  ASSERT_EQ(seen("late_library"), std::nullopt);
  void* const library = dlopen(MPSPROBE_LATE_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto address = reinterpret_cast<uint64_t>(dlsym(library, "late_function"));
#ifdef __APPLE__
  static_cast<void>(address);  // the loader tells of it by itself
#else
  const std::vector<uint64_t> addresses{address, address};
  note_images_of(*block_, addresses);
#endif
  const std::optional<ImageSeen> late = seen("late_library");
  ASSERT_TRUE(late.has_value());
  EXPECT_FALSE(late->id.empty());
  // By the loader's list it is the same image, and it is noted once.
  const uint32_t count = block_->image_count.load();
  note_images(recorder_);
  EXPECT_EQ(block_->image_count.load(), count);
}

// Where a process that a command started begins to note its crash.
TEST_F(Images, InARecorderThatIsNewThoseOfACrashAreNotedByItsAddresses) {
  remember_images();
  const std::vector<uint64_t> addresses{reinterpret_cast<uint64_t>(&read_recorder)};
  note_images_of(*block_, addresses);
  const std::optional<ImageSeen> program = seen("worker_test");
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(block_->image_count.load(), 1U);
}

TEST_F(Images, AnAddressInNoImageChangesNothing) {
  note_images(recorder_);
  const uint32_t count = block_->image_count.load();
  const std::vector<uint64_t> addresses{0, 0x18, 0xdeadbeef000, ~uint64_t{0}};
  note_images_of(*block_, addresses);
  EXPECT_EQ(block_->image_count.load(), count);
}

}  // namespace
}  // namespace mpsprobe
