#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/wire/cell.h"

// The fields of the records of a run, each described once: its key in JSON, its member and its
// kind. What goes through all fields of a record reads these descriptions: JSON both ways
// (harness/journal/record_json.h), redaction for a bundle, the tests that put hostile text
// everywhere, and the published schemas. A member that is not described does not compile.

namespace mpsprobe {

/// What a field may tell of a person or a machine: decides what a bundle does with it.
enum class FieldKind : uint8_t {
  safe,           ///< a number, a truth value, a word of ours or a cell: names nobody
  name,           ///< a short text that others chose: of a thread, a device, a time
  symbol,         ///< of a function or a type
  build_id,       ///< of an image: hexadecimal digits
  cell_name,      ///< a cell, as text
  title,          ///< of a failure: made of what a process said, or of functions
  text,           ///< free text, in words of ours or of a system's
  message,        ///< what a process said of a failure
  output,         ///< what a process printed
  path,           ///< of a file or a folder
  identity,       ///< names one machine, person or incident: left out
  worker,         ///< the user's name of a build: the same everywhere, or replaced everywhere
  reference,      ///< names another record of the journal: as that record is named
  evidence_file,  ///< a place in the run's folder: a bundle names its files itself
  arguments,      ///< a command line
  variables,      ///< of the environment, as K=V
  structure,      ///< JSON that others made: what a list of wanted keys names, nothing else
  record,         ///< has fields of its own, or holds such records
};

/// When a field is in the JSON of its record.
enum class Presence : uint8_t {
  always,
  later,    ///< always, but for records of earlier releases: those have its default
  if_any,   ///< only where it is not empty or 0; missing, it is
  or_null,  ///< null where it is empty
  apart,    ///< never: it is stored in another way, or not at all
};

/// How a value is written.
enum class Notation : uint8_t {
  plain,
  hex,  ///< a number as text, "0x1f": it does not fit the numbers of every reader of JSON
};

template <FieldKind Kind, typename Record, typename Member, Presence When = Presence::always,
          Notation As = Notation::plain>
struct Field {
  static constexpr FieldKind kind = Kind;
  static constexpr Presence presence = When;
  static constexpr Notation notation = As;
  using Value = Member;

  const char* key;
  Member Record::*member;

  template <Presence Other>
  using At = Field<Kind, Record, Member, Other, As>;
  constexpr At<Presence::later> later() const { return {key, member}; }
  constexpr At<Presence::if_any> if_any() const { return {key, member}; }
  constexpr At<Presence::or_null> or_null() const { return {key, member}; }
  constexpr At<Presence::apart> apart() const { return {key, member}; }
};

/// A key that is written for readers and follows from the record: by a function of it, or a member.
template <typename Record, typename Of, Presence When = Presence::always>
struct Derived {
  static constexpr Presence presence = When;
  using Value = std::remove_cvref_t<std::invoke_result_t<Of, const Record&>>;

  const char* key;
  Of of;

  constexpr Derived<Record, Of, Presence::if_any> if_any() const { return {key, of}; }
};

template <typename Record, typename Of>
constexpr Derived<Record, Of> derived(const char* key, Of of) {
  return {key, of};
}
template <typename Record, typename Member>
constexpr Derived<Record, Member Record::*> derived(const char* key, Member Record::*of) {
  return {key, of};
}

struct NotDescribed {};

/// The description of a record: a std::tuple of Field, made by `described`. Specialise it beside
/// the others (evidence_fields.h, trial_fields.h, header_fields.h).
template <typename Record>
inline constexpr NotDescribed fields{};
/// Its derived keys, a std::tuple of Derived. What is only written may have these and no fields.
template <typename Record>
inline constexpr std::tuple<> derived_keys{};

template <typename Record>
concept Described = !std::is_same_v<std::remove_cv_t<decltype(fields<Record>)>, NotDescribed>;

/// Has keys in JSON.
template <typename Record>
concept Keyed =
    Described<Record> || std::tuple_size_v<std::remove_cv_t<decltype(derived_keys<Record>)>>
!= 0;

template <typename Value>
struct Inner {
  using Type = Value;
};
template <typename Entry>
struct Inner<std::vector<Entry>> : Inner<Entry> {};
template <typename Some>
struct Inner<std::optional<Some>> : Inner<Some> {};

template <typename Value>
constexpr bool kIsList = false;
template <typename Entry>
constexpr bool kIsList<std::vector<Entry>> = true;
template <typename Value>
constexpr bool kIsOptional = false;
template <typename Some>
constexpr bool kIsOptional<std::optional<Some>> = true;
template <typename Value>
constexpr bool kIsMap = false;
template <typename Entry>
constexpr bool kIsMap<std::map<std::string, Entry>> = true;

/// Of a type that cannot hold a text of others.
template <typename Value>
concept HoldsNoText = std::is_arithmetic_v<typename Inner<Value>::Type> ||
    std::is_enum_v<typename Inner<Value>::Type> ||
    std::is_same_v<typename Inner<Value>::Type, Cell>;

/// A text, or a list of texts.
template <typename Value>
concept HoldsTexts = std::is_same_v<typename Inner<Value>::Type, std::string>;

/// Descriptions of one field each. There is one for each kind, and none without a kind.
namespace field {

template <typename Record, HoldsNoText Value>
constexpr Field<FieldKind::safe, Record, Value> safe(const char* key, Value Record::*member) {
  return {key, member};
}
template <typename Record>
constexpr Field<FieldKind::safe, Record, uint64_t, Presence::always, Notation::hex> hex(
    const char* key, uint64_t Record::*member) {
  return {key, member};
}

#define MPSPROBE_FIELD(KIND)                                                                     \
  template <typename Record, HoldsTexts Value>                                                   \
  constexpr Field<FieldKind::KIND, Record, Value> KIND(const char* key, Value Record::*member) { \
    return {key, member};                                                                        \
  }
MPSPROBE_FIELD(name)
MPSPROBE_FIELD(symbol)
MPSPROBE_FIELD(build_id)
MPSPROBE_FIELD(cell_name)
MPSPROBE_FIELD(title)
MPSPROBE_FIELD(text)
MPSPROBE_FIELD(message)
MPSPROBE_FIELD(output)
MPSPROBE_FIELD(path)
MPSPROBE_FIELD(identity)
MPSPROBE_FIELD(worker)
MPSPROBE_FIELD(reference)
MPSPROBE_FIELD(evidence_file)
MPSPROBE_FIELD(arguments)
MPSPROBE_FIELD(variables)
#undef MPSPROBE_FIELD

/// Any type: its JSON is made by hand, and a bundle keeps what it names as wanted.
template <typename Record, typename Value>
constexpr Field<FieldKind::structure, Record, Value> structure(const char* key,
                                                               Value Record::*member) {
  return {key, member};
}
/// A record, an optional one, a list or a variant of them.
template <typename Record, typename Value>
constexpr Field<FieldKind::record, Record, Value> part(const char* key, Value Record::*member) {
  return {key, member};
}

}  // namespace field

namespace field_checks {

template <typename A, typename B>
constexpr bool same_member(const A& a, const B& b) {
  if constexpr (std::is_same_v<decltype(a.member), decltype(b.member)>) {
    return a.member == b.member;
  } else {
    return false;
  }
}

template <typename... Fields>
constexpr bool all_differ(const Fields&... each) {
  [[maybe_unused]] const auto times = [&each...](const auto& one) {
    return (size_t{same_member(one, each) || std::string_view(one.key) == each.key} + ... + 0);
  };
  return ((times(each) == 1) && ...);
}

}  // namespace field_checks

/// Whether `Record` has members of these types, in this order, and no other.
template <typename Record, typename... Members>
concept HasMembers = requires {
  Record{std::declval<Members>()...};
}
&&!requires {
  Record{std::declval<Members>()..., {}};
};

/// The description of a whole record: each member of the struct once, in the struct's order.
template <typename Record, typename... Fields>
consteval std::tuple<Fields...> described(Fields... each) {
  static_assert(HasMembers<Record, typename Fields::Value...>,
                "a member of the record is not described, or not in its place");
  // Not constant where two fields are alike: no such call compiles.
  if (!field_checks::all_differ(each...)) throw "two fields have one key or one member";
  return {each...};
}

/// The same of a record with a base that is described itself.
template <typename Record, Described Base, typename... Fields>
consteval auto described_on(Fields... each) {
  static_assert(HasMembers<Record, Base, typename Fields::Value...>,
                "a member of the record is not described, or not in its place");
  if (!field_checks::all_differ(each...)) throw "two fields have one key or one member";
  return std::tuple_cat(fields<Base>, std::tuple<Fields...>{each...});
}

/// Calls `visit` with each field of the record in turn.
template <Described Record, typename Visit>
constexpr void for_each_field(Visit visit) {
  std::apply([&visit](const auto&... each) { (visit(each), ...); }, fields<Record>);
}

/// The same with each derived key.
template <typename Record, typename Visit>
constexpr void for_each_derived_key(Visit visit) {
  std::apply([&visit](const auto&... each) { (visit(each), ...); }, derived_keys<Record>);
}

}  // namespace mpsprobe
