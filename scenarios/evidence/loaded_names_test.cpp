#include "scenarios/evidence/loaded_names.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsprobe {
namespace {

// Put together at run time: else this program would have them, which does not count, and the test
// could not tell.
std::string name_of_late(const std::string& end) {
  return "MPSPROBE_LATE_" + end;
}

TEST(LoadedNames, ANameIsFoundInTheLibraryThatHasItWhole) {
  void* const library = dlopen(MPSPROBE_LATE_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_THAT(library_with_name(name_of_late("VARIABLE")), testing::HasSubstr("late_library"));
  EXPECT_EQ(library_with_name(name_of_late("VARIAB")), "");
  EXPECT_EQ(library_with_name("LATE_" + std::string("VARIABLE")), "");
  EXPECT_EQ(library_with_name(name_of_late("NOTHING")), "");
}

TEST(LoadedNames, TheProgramItselfDoesNotCount) {
  static const char* volatile const own = "MPSPROBE_NAMED_BY_THE_PROGRAM_ALONE";
  EXPECT_EQ(library_with_name(own), "");
}

}  // namespace
}  // namespace mpsprobe
