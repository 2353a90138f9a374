#include "reports/writers/json.h"

#include "harness/journal/record_json.h"
#include "harness/journal/trial_json.h"
#include "reports/writers/json_indent.h"
#include "reports/writers/json_members.h"

namespace mpsprobe {

using nlohmann::ordered_json;

ordered_json report_json(const Journal& journal, const Analysis& analysis) {
  return record_to_json<ordered_json>(Report{journal, analysis, find_groups(analysis)});
}

std::string json_text(const ordered_json& value) {
  return value.dump(1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

namespace {

/// Trials as members of a list, to the sink as they come.
class TrialList {
 public:
  explicit TrialList(const Sink& sink) : sink_(sink) {}

  void add(std::string_view compact) {
    constexpr size_t kEnough = 1 << 20;
    constexpr size_t kDepth = 2;
    text_ += any_ ? ",\n  " : "\n  ";
    any_ = true;
    append_indented(compact, kDepth, text_);
    if (text_.size() < kEnough) return;
    sink_(text_);
    text_.clear();
  }

  void end() {
    sink_(text_);
    if (any_) sink_("\n ");
  }

 private:
  const Sink& sink_;
  std::string text_;
  bool any_ = false;
};

}  // namespace

void write_report_json(const Journal& journal, const Analysis& analysis, const Sink& sink) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  const std::string whole = json_text(report_json(journal, analysis));
  constexpr std::string_view kEnd = "]\n}\n";  // of the list of trials, which is the last member
  sink(std::string_view(whole).substr(0, whole.size() - kEnd.size()));
  TrialList list(sink);
  if (journal.stored) {
    journal.stored->for_each_json([&list](std::string_view json) { list.add(json); });
  } else {
    for (const TrialRecord& trial : journal.trials) {
      list.add(trial_to_json(trial).dump(-1, ' ', false, kReplace));
    }
  }
  list.end();
  sink(kEnd);
}

}  // namespace mpsprobe
