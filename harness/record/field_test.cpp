#include "harness/record/field.h"

#include <gtest/gtest.h>

#include "harness/record/trial_fields.h"

namespace mpsprobe {
namespace {

struct Seen {
  int number = 0;
  std::string title;
  std::vector<std::string> lines;
};

// What is described does not compile unless it is the whole struct (`described`).
static_assert(HasMembers<Seen, int, std::string, std::vector<std::string>>);
static_assert(!HasMembers<Seen, int, std::string>, "a field was added and not described");
static_assert(!HasMembers<Seen, int, std::string, std::vector<std::string>, int>);
static_assert(!HasMembers<Seen, std::string, int, std::vector<std::string>>);

template <typename Member>
concept CanBeSafe = requires(Member member) {
  field::safe("x", member);
};
template <typename Member>
concept CanBeText = requires(Member member) {
  field::text("x", member);
};

// A text has a kind, and is never called safe by mistake.
static_assert(CanBeSafe<int Seen::*> && !CanBeText<int Seen::*>);
static_assert(!CanBeSafe<std::string Seen::*> && CanBeText<std::string Seen::*>);
static_assert(!CanBeSafe<std::vector<std::string> Seen::*>);
static_assert(!CanBeSafe<std::optional<std::string> Seen::*>);
static_assert(!CanBeSafe<Capture ProcessRecord::*>, "a record is a part, with fields of its own");
static_assert(!CanBeText<Capture ProcessRecord::*>);

TEST(Fields, NoTwoHaveOneKeyOrOneMember) {
  constexpr auto kNumber = field::safe("number", &Seen::number);
  constexpr auto kTitle = field::text("title", &Seen::title);
  EXPECT_TRUE(field_checks::all_differ(kNumber, kTitle));
  EXPECT_FALSE(field_checks::all_differ(kNumber, field::name("number", &Seen::title)));
  EXPECT_FALSE(field_checks::all_differ(kTitle, field::text("other", &Seen::title)));
}

TEST(Fields, AreVisitedInTheOrderOfTheStruct) {
  std::string keys;
  for_each_field<Usage>([&keys](const auto& each) { keys += std::string(each.key) + " "; });
  EXPECT_EQ(keys, "user_seconds system_seconds max_rss_bytes ");
}

}  // namespace
}  // namespace mpsprobe
