#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "harness/journal/header_fields.h"
#include "harness/record/trial_fields.h"
#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {

/// What a dying or malicious worker may print; put into every text that comes from one.
inline std::vector<std::string> hostile_texts() {
  return {
      "<script>alert(1)</script><img src=x onerror=alert(2)>",
      "</details></summary><h1>pwned</h1>",
      "```\n# heading\n````\n| a | b |\n",
      "a | b | c `d` ``e`` *f* _g_ [h](javascript:x) ![i](j) \\",
      "@everyone #1 https://example.invalid",
      "\x1b[2J\x1b]0;title\x07\x9b"
      "31m\r\b\x7f",
      "\xc2\x9b"
      "31m \xc2\x85 \xe2\x80\xa8",
      "\xe2\x80\xae"
      "evil \xe2\x81\xa6 \xe2\x80\x8f",
      "\xff\xfe\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80",
      std::string("nul\0nul", 7),
      std::string(20000, 'A'),
      std::string(5000, '`'),
  };
}

/// Puts a text into every field of a record that can hold one, and of the records that it consists
/// of: what may be there is there, and no list of texts or of such records is empty.
class PutEverywhere {
 public:
  explicit PutEverywhere(std::string text) : text_(std::move(text)) {}

  template <Described Record>
  void in(Record& record) const {
    for_each_field<Record>([this, &record]<typename Field>(const Field& field) {
      if constexpr (Field::kind != FieldKind::safe && Field::kind != FieldKind::structure) {
        this->put(record.*field.member);
      }
    });
    if constexpr (std::is_same_v<Record, Capture>) {
      record.bytes = record.head.size() + record.tail.size();
    }
  }

 private:
  template <typename Value>
  static constexpr bool holds_text() {
    if constexpr (std::is_same_v<Value, std::string>) {
      return true;
    } else if constexpr (!Described<Value>) {
      return false;
    } else {
      bool holds = false;
      for_each_field<Value>([&holds](const auto& field) {
        holds = holds || std::remove_cvref_t<decltype(field)>::kind != FieldKind::safe;
      });
      return holds;
    }
  }

  template <typename Value>
  void put(Value& value) const {
    if constexpr (std::is_same_v<Value, std::string>) {
      value = text_;
    } else if constexpr (kIsList<Value>) {
      if (value.empty() && holds_text<typename Value::value_type>()) value.emplace_back();
      for (auto& entry : value) put(entry);
    } else if constexpr (kIsOptional<Value>) {
      if (!value.has_value() && holds_text<typename Value::value_type>()) value.emplace();
      if (value.has_value()) put(*value);
    } else if constexpr (std::is_same_v<Value, Termination>) {
      std::visit([this](auto& each) { this->in(each); }, value);
    } else {
      in(value);
    }
  }

  std::string text_;
};

/// Stacks with `text` in every name, of two threads that wait for one another.
inline StackEvidence hostile_stacks(const std::string& text) {
  StackEvidence stacks;
  for (uint64_t id : {1, 2}) {
    ThreadStack stack;
    stack.thread_id = id;
    stack.faulting = id == 1;
    stack.wait = {Wait::Kind::lock, id, 3 - id, false};
    stack.frames.resize(2);
    stacks.threads.push_back(stack);
  }
  stacks.lock_cycle = {1, 2};
  PutEverywhere(text).in(stacks);
  for (ThreadStack& stack : stacks.threads) stack.frames[1].function.clear();
  return stacks;
}

/// A journal that carries `text` wherever a worker or a file could have put it.
inline Journal journal_with(const std::string& text) {
  SampleJournal sample;
  sample.block(text).plan("sim/linear/nograph/threads=3").ran(2, 1);
  Journal& journal = sample.journal;
  const PutEverywhere everywhere(text);
  everywhere.in(journal.header);
  journal.header.environment = {"A=" + text};
  journal.header.machine[text] = text;
  nlohmann::json build = journal.provenances.at("build-a");
  for (const char* key : {"version", "git_hash", "path"}) build["torch"][key] = text;
  build["device"] = text;
  journal.provenances = {{text, build}};
  journal.image_sets[text] = {{text, text}};
  everywhere.in(journal.ends.emplace_back());
  for (TrialRecord& trial : journal.trials) {
    const Judgement judgement = trial.judgement;
    trial.processes[0].stacks = hostile_stacks(text);
    everywhere.in(trial);
    // What passed has no signature.
    if (!is_failure(judgement.outcome)) trial.judgement = judgement;
  }
  return journal;
}

/// True where `text` is valid UTF-8 and holds nothing that acts on a terminal or hides text, line
/// ends apart.
inline bool is_harmless(std::string_view text) {
  for (std::string_view unseen : {"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f", "\xe2\x80\xa8"}) {
    if (text.find(unseen) != std::string_view::npos) return false;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f || byte == 0xff || byte == 0xfe) return false;
    // C1 controls are C2 80 to C2 9F.
    const bool more = i + 1 < text.size();
    if (byte == 0xC2 && more && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
  }
  return true;
}

}  // namespace mpsprobe
