#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/journal/header_fields.h"
#include "harness/record/trial_fields.h"
#include "reports/analysis/analysis.h"
#include "reports/claims/comparisons.h"
#include "reports/groups/failure_groups.h"
#include "reports/groups/group_words.h"
#include "reports/writers/markdown_sections.h"

// The keys of report.json, each described once (harness/record/field.h): what writes the report and
// what makes its schema read these descriptions.

namespace mpsprobe {

constexpr int kReportVersion = 2;
constexpr const char* kReportSchema = "https://mpsprobe.invalid/schema/report-2.json";

/// A report without its trials' list, which is written as it is read.
struct Report {
  const Journal& journal;
  const Analysis& analysis;
  FailureGroups found;
};

/// A part of a report, with the report that its indices point into.
template <typename Part>
struct In {
  const Report& report;
  const Part& part;

  const Analysis& analysis() const { return report.analysis; }
};

/// A member of the part.
template <typename Part, typename Member>
struct PartMember {
  Member member;
  const auto& operator()(const In<Part>& in) const { return in.part.*member; }
};
template <typename Part, typename Member>
constexpr auto part(const char* key, Member Part::*member) {
  return derived<In<Part>>(key, PartMember<Part, Member Part::*>{member});
}

template <typename Part>
std::vector<In<Part>> each_in(const Report& report, const std::vector<Part>& parts) {
  std::vector<In<Part>> list;
  for (const Part& part : parts) list.push_back({report, part});
  return list;
}

/// The label of the arm that a part is of.
template <typename Part>
constexpr auto arm_of_part() {
  return derived<In<Part>>("arm", [](auto& in) { return in.analysis().arms[in.part.arm].label; });
}

inline std::vector<std::string> titles(const Report& report, const std::vector<size_t>& indices) {
  std::vector<std::string> list;
  for (size_t index : indices) list.push_back(report.analysis.signatures[index].title);
  return list;
}

/// What a child or a foreign journal said, where it is an object.
inline nlohmann::json object_or_null(const nlohmann::json& value) {
  return value.is_object() ? value : nlohmann::json();
}

template <>
inline constexpr std::tuple derived_keys<Interval>{
    derived("low", &Interval::low), derived("high", &Interval::high),
    derived<Interval>("confidence", [](const Interval&) { return 0.95; })};

template <>
inline constexpr std::tuple derived_keys<Arm>{derived("label", &Arm::label),
                                              derived("worker", &Arm::worker),
                                              derived("worker_path", &Arm::worker_path),
                                              derived("proved", &Arm::proved),
                                              derived("version", &Arm::version),
                                              derived("git_hash", &Arm::git_hash),
                                              derived("library_name", &Arm::name),
                                              derived("library", &Arm::path),
                                              derived("build_id", &Arm::build_id),
                                              derived("stream_pool", &Arm::stream_pool),
                                              derived("devices", &Arm::devices),
                                              derived("interpreter", &Arm::interpreter).if_any(),
                                              derived("packages", &Arm::packages).if_any()};

template <>
inline constexpr std::tuple derived_keys<In<WorkerInfo>>{
    part("name", &WorkerInfo::name), part("path", &WorkerInfo::path),
    derived<In<WorkerInfo>>("describe", [](auto& in) { return object_or_null(in.part.describe); })};

using Context = In<CampaignHeader>;
template <auto Member>
constexpr auto of_header(const char* key) {
  return derived<Context>(key, [](auto& in) { return in.part.*Member; });
}
template <>
inline constexpr std::tuple derived_keys<Context>{
    of_header<&CampaignHeader::mpsprobe_version>("mpsprobe_version"),
    of_header<&CampaignHeader::mpsprobe_build>("mpsprobe_build"),
    of_header<&CampaignHeader::command_line>("command_line"),
    of_header<&CampaignHeader::environment>("environment"),
    derived<Context>("seed", [](auto& in) { return std::to_string(in.part.seed); }),
    of_header<&CampaignHeader::started>("started"),
    derived<Context>("ends", [](auto& in) { return in.report.journal.ends; }),
    of_header<&CampaignHeader::trials>("trials"),
    of_header<&CampaignHeader::timeout_seconds>("timeout_seconds"),
    of_header<&CampaignHeader::stall_seconds>("stall_seconds"),
    of_header<&CampaignHeader::budget_seconds>("budget_seconds"),
    of_header<&CampaignHeader::memory_limit_bytes>("memory_limit_bytes"),
    of_header<&CampaignHeader::jobs>("jobs"),
    derived<Context>("start_process", [](auto& in) { return name_of(in.part.start_process); }),
    derived<Context>("processes_started",
                     [](auto& in) {
                       std::map<std::string, uint64_t> started;
                       for (size_t i = 0; i < in.analysis().starts.size(); ++i) {
                         const auto way = static_cast<StartProcess>(i);
                         started[std::string(name_of(way))] = in.analysis().starts[i];
                       }
                       return started;
                     }),
    of_header<&CampaignHeader::max_failures>("max_failures"),
    derived<Context>("machine", [](auto& in) { return object_or_null(in.part.machine); }),
    derived<Context>("arms", [](auto& in) { return in.analysis().arms; }),
    derived<Context>("workers", [](auto& in) { return each_in(in.report, in.part.workers); })};

/// The matrix that a run was planned by.
struct PlannedMatrix {
  const CampaignHeader& header;
};
template <>
inline constexpr std::tuple derived_keys<PlannedMatrix>{
    derived<PlannedMatrix>("name", [](auto& of) { return of.header.matrix_name; }),
    derived<PlannedMatrix>("description", [](auto& of) { return of.header.matrix_description; })};

template <>
inline constexpr std::tuple derived_keys<OutcomeCount>{derived("outcome", &OutcomeCount::outcome),
                                                       derived("detail", &OutcomeCount::detail),
                                                       derived("trials", &OutcomeCount::trials)};

template <>
inline constexpr std::tuple derived_keys<Spread>{
    derived("median", &Spread::median), derived("low", &Spread::low),
    derived("high", &Spread::high), derived("trials", &Spread::samples)};

/// How far a cell's threads met.
struct Meeting {
  const CellSummary& cell;
};
/// Of workers with an interpreter.
template <double InsideShare::*Seconds>
constexpr auto seconds_of_meeting(const char* key) {
  return derived<Meeting>(key,
                          [](auto& of) {
                            return of.cell.inside.known() ? std::optional(of.cell.inside.*Seconds)
                                                          : std::nullopt;
                          })
      .if_any();
}
template <>
inline constexpr std::tuple derived_keys<Meeting>{
    derived<Meeting>("state", [](auto& of) { return of.cell.overlap; }),
    derived<Meeting>("most_inside", [](auto& of) { return of.cell.most_inside; }),
    derived<Meeting>("launches", [](auto& of) { return of.cell.launches; }),
    derived<Meeting>("overlapped", [](auto& of) { return of.cell.overlapped; }),
    seconds_of_meeting<&InsideShare::inside_seconds>("inside_seconds"),
    seconds_of_meeting<&InsideShare::inside_cpu_seconds>("inside_cpu_seconds"),
    seconds_of_meeting<&InsideShare::run_seconds>("run_seconds"),
    seconds_of_meeting<&InsideShare::cpu_seconds>("cpu_seconds")};

using CellIn = In<CellSummary>;
template <>
inline constexpr std::tuple derived_keys<CellIn>{
    arm_of_part<CellSummary>(),
    part("cell", &CellSummary::cell),
    part("block", &CellSummary::block),
    part("simulated", &CellSummary::simulated),
    part("planned", &CellSummary::planned),
    part("missing", &CellSummary::missing),
    part("counted", &CellSummary::counted),
    part("failures", &CellSummary::failures),
    part("refused", &CellSummary::refused),
    part("seconds", &CellSummary::seconds),
    part("verdict", &CellSummary::verdict),
    derived<CellIn>("failure_rate",
                    [](auto& in) -> std::optional<double> {
                      if (!in.part.has_rate()) return std::nullopt;
                      return static_cast<double>(in.part.failures) / in.part.counted;
                    }),
    derived<CellIn>(
        "interval",
        [](auto& in) { return in.part.has_rate() ? std::optional(in.part.rate) : std::nullopt; }),
    part("outcomes", &CellSummary::outcomes),
    derived<CellIn>("expectation",
                    [](auto& in) {
                      const std::optional<Expectation>& expected = in.part.expectation;
                      return expected ? std::optional(expected->text()) : std::nullopt;
                    }),
    part("expected", &CellSummary::expected),
    derived<CellIn>("overlap", [](auto& in) { return Meeting{in.part}; }),
    part("operations_per_second", &CellSummary::throughput),
    part("observed_paths", &CellSummary::observed_paths),
    part("checked", &CellSummary::checked),
    part("unchecked", &CellSummary::unchecked),
    part("also_in", &CellSummary::also_in).if_any()};

template <>
inline constexpr std::tuple derived_keys<BoundaryPoint>{
    derived("count", &BoundaryPoint::count),
    derived("counted", &BoundaryPoint::trials),
    derived("failures", &BoundaryPoint::failures),
    derived("interval", &BoundaryPoint::rate),
    derived("without_overlap", &BoundaryPoint::without_overlap),
    derived("most_inside", &BoundaryPoint::most_inside)};

template <>
inline constexpr std::tuple derived_keys<SettledPlace>{
    derived("rate", &SettledPlace::rate), derived("is_settled", &SettledPlace::settled),
    derived("from", &SettledPlace::from),
    derived("chance_of_a_wrong_answer", &SettledPlace::wrong)};

template <>
inline constexpr std::tuple derived_keys<Boundary>{
    derived("arm", &Boundary::worker),
    derived("axis", &Boundary::axis),
    derived("group", &Boundary::group),
    derived("most_passing", &Boundary::most_passing),
    derived("fewest_failing", &Boundary::fewest_failing),
    derived<Boundary>("monotone", [](auto& boundary) { return boundary.monotone(); }),
    derived("passing_above", &Boundary::passing_above),
    derived("settled", &Boundary::settled),
    derived("refused", &Boundary::refused),
    derived("untested", &Boundary::untested),
    derived("points", &Boundary::points)};

template <>
inline constexpr std::tuple derived_keys<AnswerTable::Row>{
    derived("cells", &AnswerTable::Row::cells), derived("by", &AnswerTable::Row::axis),
    derived("builds", &AnswerTable::Row::fields)};

template <>
inline constexpr std::tuple derived_keys<Answer>{
    derived("code", &Answer::code),
    derived("text", &Answer::text),
    derived("sentences", &Answer::sentences),
    derived("next", &Answer::next),
    derived<Answer>("builds", [](auto& answer) { return answer.table.builds; }),
    derived<Answer>("rows", [](auto& answer) { return answer.table.rows; })};

template <>
inline constexpr std::tuple derived_keys<Warning>{derived("code", &Warning::code),
                                                  derived("text", &Warning::text)};

template <>
inline constexpr std::tuple derived_keys<LeftOutGroup>{derived("reason", &LeftOutGroup::reason),
                                                       derived("cells", &LeftOutGroup::cells),
                                                       derived("others", &LeftOutGroup::others)};

using OpenIn = In<SettledQuestions::Open>;
inline const CellSummary& cell_of(const OpenIn& in) {
  return in.analysis().cells[in.part.summary];
}
template <>
inline constexpr std::tuple derived_keys<OpenIn>{
    derived<OpenIn>("arm", [](auto& in) { return in.analysis().arms[cell_of(in).arm].label; }),
    derived<OpenIn>("cell", [](auto& in) { return cell_of(in).cell; }),
    part("axis", &SettledQuestions::Open::axis),
    part("further_trials", &SettledQuestions::Open::further)};

using SettlingIn = In<SettledQuestions>;
template <>
inline constexpr std::tuple derived_keys<SettlingIn>{
    part("rate", &SettledQuestions::rate),
    part("chance_of_a_wrong_answer", &SettledQuestions::wrong),
    part("settled", &SettledQuestions::settled), part("given_up", &SettledQuestions::given_up),
    derived<SettlingIn>("open", [](auto& in) { return each_in(in.report, in.part.open); })};

using ExampleIn = In<FailureExample>;
template <>
inline constexpr std::tuple derived_keys<ExampleIn>{
    arm_of_part<FailureExample>(),
    part("cell", &FailureExample::cell),
    part("trial", &FailureExample::trial),
    derived<ExampleIn>("seed", [](auto& in) { return std::to_string(in.part.seed); }),
    part("judgement", &FailureExample::judgement),
    part("process", &FailureExample::process),
    part("ended_by", &FailureExample::ended_by),
    part("recorder", &FailureExample::recorder),
    part("stacks", &FailureExample::stacks),
    part("python_stack", &FailureExample::python_stack),
    part("crash_report", &FailureExample::crash_report),
    part("gpu_events", &FailureExample::gpu_events),
    part("event", &FailureExample::event),
    part("excerpt", &FailureExample::excerpt),
    derived<ExampleIn>("rerun", [](auto& in) {
      return rerun_command(in.analysis(), in.part.arm, to_string(in.part.cell));
    })};

using WhereIn = In<SignatureGroup::Where>;
template <>
inline constexpr std::tuple derived_keys<WhereIn>{
    arm_of_part<SignatureGroup::Where>(), part("cell", &SignatureGroup::Where::cell),
    part("failures", &SignatureGroup::Where::failures),
    part("counted", &SignatureGroup::Where::counted)};

using CellBefore = std::pair<std::string, int>;
template <>
inline constexpr std::tuple derived_keys<CellBefore>{derived("cell", &CellBefore::first),
                                                     derived("trials", &CellBefore::second)};

template <>
inline constexpr std::tuple derived_keys<SignatureGroup::Beside>{
    derived<SignatureGroup::Beside>("title", [](auto& also) { return also.finding.title; }),
    derived<SignatureGroup::Beside>("known", [](auto& also) { return also.finding.known; }),
    derived("trials", &SignatureGroup::Beside::trials)};

using SignatureIn = In<SignatureGroup>;
template <>
inline constexpr std::tuple derived_keys<SignatureIn>{
    part("title", &SignatureGroup::title),
    part("known", &SignatureGroup::known),
    part("basis", &SignatureGroup::basis),
    part("failures", &SignatureGroup::failures),
    part("phases", &SignatureGroup::phases),
    derived<SignatureIn>("cells", [](auto& in) { return each_in(in.report, in.part.cells); }),
    part("before", &SignatureGroup::before),
    part("also", &SignatureGroup::also),
    part("also_left_out", &SignatureGroup::also_left_out),
    derived<SignatureIn>("related", [](auto& in) { return titles(in.report, in.part.related); }),
    part("related_left_out", &SignatureGroup::related_left_out),
    derived<SignatureIn>("first", [](auto& in) {
      return ExampleIn{in.report, in.part.first};
    })};

/// What one cell came to, as a side of a comparison.
struct Side {
  const Analysis& analysis;
  size_t index;

  const CellSummary& cell() const { return analysis.cells[index]; }
};
template <>
inline constexpr std::tuple derived_keys<Side>{
    derived<Side>("arm", [](auto& side) { return side.analysis.arms[side.cell().arm].label; }),
    derived<Side>("cell", [](auto& side) { return side.cell().cell; }),
    derived<Side>("failures", [](auto& side) { return side.cell().failures; }),
    derived<Side>("counted", [](auto& side) { return side.cell().counted; })};

struct ComparedCells {
  Side with;
  Side without;
};
template <>
inline constexpr std::tuple derived_keys<ComparedCells>{
    derived("with", &ComparedCells::with), derived("without", &ComparedCells::without)};

template <>
inline constexpr std::tuple derived_keys<Price>{
    derived("threads", &Price::threads), derived("ratio", &Price::ratio),
    derived("interval", &Price::within), derived("pairs", &Price::pairs)};

using ClaimIn = In<RateClaim>;
template <>
inline constexpr std::tuple derived_keys<ClaimIn>{
    part("about", &RateClaim::about),
    part("with", &RateClaim::with),
    part("without", &RateClaim::without),
    part("label", &RateClaim::label),
    derived<ClaimIn>("cells",
                     [](auto& in) {
                       std::vector<ComparedCells> cells;
                       for (size_t i = 0; i < in.part.cells_with.size(); ++i) {
                         cells.push_back({{in.analysis(), in.part.cells_with[i]},
                                          {in.analysis(), in.part.cells_without[i]}});
                       }
                       return cells;
                     }),
    part("p", &RateClaim::p),
    part("corrected_p", &RateClaim::corrected_p),
    part("of", &RateClaim::of),
    part("says", &RateClaim::effect),
    part("price", &RateClaim::price),
    derived<ClaimIn>("words",
                     [](auto& in) { return std::string(effect_in_words(in.part.effect)); })};

using ComparisonIn = In<Comparison>;
template <>
inline constexpr std::tuple derived_keys<ComparisonIn>{
    derived<ComparisonIn>("kind", [](auto& in) { return in.part.layers ? "layers" : "builds"; }),
    derived<ComparisonIn>("first",
                          [](auto& in) {
                            return Side{in.analysis(), in.part.first};
                          }),
    derived<ComparisonIn>("second",
                          [](auto& in) {
                            return Side{in.analysis(), in.part.second};
                          }),
    part("p", &Comparison::p),
    part("corrected_p", &Comparison::corrected_p),
    part("conclusion", &Comparison::conclusion),
    derived<ComparisonIn>("same_signature",
                          [](auto& in) -> std::optional<bool> {
                            const std::vector<CellSummary>& cells = in.analysis().cells;
                            const bool both_failed = cells[in.part.first].failures > 0 &&
                                                     cells[in.part.second].failures > 0;
                            if (!both_failed) return std::nullopt;
                            return in.part.same_signature;
                          }),
    part("trials_needed", &Comparison::trials_needed),
    part("simulated", &Comparison::simulated),
    derived<ComparisonIn>("words",
                          [](auto& in) { return conclusion_in_words(in.analysis(), in.part); })};

template <>
inline constexpr std::tuple derived_keys<Proportion>{derived("failures", &Proportion::failures),
                                                     derived("counted", &Proportion::trials)};

using ConditionIn = In<ConditionSeen>;
template <>
inline constexpr std::tuple derived_keys<ConditionIn>{
    part("condition", &ConditionSeen::words),
    part("says", &ConditionSeen::need),
    part("without", &ConditionSeen::without),
    part("p", &ConditionSeen::p),
    part("corrected_p", &ConditionSeen::corrected_p),
    derived<ConditionIn>("of", [](auto& in) { return in.report.found.tests; })};

using OperationIn = In<FailingOperation>;
template <>
inline constexpr std::tuple derived_keys<OperationIn>{
    arm_of_part<FailingOperation>(),
    part("operation", &FailingOperation::label),
    derived<OperationIn>("cell", [](auto& in) { return in.analysis().cells[in.part.worst].cell; }),
    part("seen", &FailingOperation::seen),
    derived<OperationIn>("conditions",
                         [](auto& in) { return each_in(in.report, in.part.conditions); }),
    derived<OperationIn>("signatures",
                         [](auto& in) { return titles(in.report, in.part.signatures); }),
    part("would_tell", &FailingOperation::telling),
    derived<OperationIn>("words", [](auto& in) {
      const auto index = static_cast<size_t>(&in.part - in.report.found.operations.data());
      return operations_in_words(in.analysis(), in.report.found, {index});
    })};

using GroupIn = In<FailureGroup>;
template <>
inline constexpr std::tuple derived_keys<GroupIn>{
    arm_of_part<FailureGroup>(), part("operations", &FailureGroup::operations),
    derived<GroupIn>("words", [](auto& in) {
      return operations_in_words(in.analysis(), in.report.found, in.part.operations);
    })};

/// A member of the analysis.
template <auto Member>
constexpr auto of_analysis(const char* key) {
  return derived<Report>(
      key, [](auto& report) -> const auto& { return report.analysis.*Member; });
}
/// The same of parts that have indices.
template <auto Member>
constexpr auto list_of_analysis(const char* key) {
  return derived<Report>(key,
                         [](auto& report) { return each_in(report, report.analysis.*Member); });
}

template <>
inline constexpr std::tuple derived_keys<Report>{
    derived<Report>("$schema", [](const Report&) { return kReportSchema; }),
    derived<Report>("mpsprobe_report", [](const Report&) { return kReportVersion; }),
    of_analysis<&Analysis::answer>("answer"),
    of_analysis<&Analysis::simulated>("simulated"),
    of_analysis<&Analysis::complete>("complete"),
    of_analysis<&Analysis::planned>("planned"),
    of_analysis<&Analysis::recorded>("recorded"),
    of_analysis<&Analysis::counted>("counted"),
    of_analysis<&Analysis::failures>("failures"),
    of_analysis<&Analysis::refused>("refused"),
    of_analysis<&Analysis::seconds>("seconds"),
    of_analysis<&Analysis::cells_not_listed>("cells_not_listed"),
    derived<Report>("interval_method",
                    [](auto& report) { return interval_method(report.analysis.sampling); }),
    derived<Report>("context",
                    [](auto& report) {
                      return Context{report, report.journal.header};
                    }),
    derived<Report>("matrix", [](auto& report) { return PlannedMatrix{report.analysis.header}; }),
    of_analysis<&Analysis::warnings>("warnings"),
    of_analysis<&Analysis::boundaries>("boundaries"),
    list_of_analysis<&Analysis::cells>("cells"),
    list_of_analysis<&Analysis::signatures>("signatures"),
    derived<Report>("groups", [](auto& report) { return each_in(report, report.found.groups); }),
    derived<Report>("failing_operations",
                    [](auto& report) { return each_in(report, report.found.operations); }),
    list_of_analysis<&Analysis::rate_claims>("claims"),
    list_of_analysis<&Analysis::claims_together>("claims_together").if_any(),
    list_of_analysis<&Analysis::comparisons>("layers"),
    of_analysis<&Analysis::left_out>("left_out"),
    derived<Report>("settling",
                    [](auto& report) -> std::optional<SettlingIn> {
                      if (!report.analysis.settling) return std::nullopt;
                      return SettlingIn{report, *report.analysis.settling};
                    })
        .if_any(),
    derived<Report>("provenances",
                    [](auto& report) {
                      std::map<std::string, nlohmann::json> all;
                      for (const auto& [id, said] : report.journal.provenances)
                        all[id] = object_or_null(said);
                      return all;
                    }),
    derived<Report>("image_sets",
                    [](auto& report) {
                      const auto& sets = report.journal.image_sets;
                      return std::map<std::string, std::vector<ImageSeen>>(sets.begin(),
                                                                           sets.end());
                    }),
    derived<Report>("trials", [](const Report&) { return std::vector<TrialRecord>(); })};

}  // namespace mpsprobe
