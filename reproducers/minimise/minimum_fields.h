#pragma once

#include "harness/record/field.h"
#include "reproducers/minimise/minimum.h"

// What minimum.json holds (harness/record/field.h).

namespace mpsprobe {

template <>
inline constexpr auto fields<Tally> = described<Tally>(
    field::safe("failures", &Tally::failures), field::safe("trials", &Tally::trials),
    field::safe("other_signatures", &Tally::other),
    field::safe("no_evidence", &Tally::no_evidence));
template <>
inline constexpr std::tuple derived_keys<Tally>{
    derived<Tally>("rate_low", [](const Tally& tally) { return tally.interval().low; }),
    derived<Tally>("rate_high", [](const Tally& tally) { return tally.interval().high; })};

template <>
inline constexpr auto fields<RateQuestion> =
    described<RateQuestion>(field::safe("seldom_rate", &RateQuestion::seldom_rate),
                            field::safe("often_rate", &RateQuestion::often_rate),
                            field::safe("false_often", &RateQuestion::false_often),
                            field::safe("false_seldom", &RateQuestion::false_seldom),
                            field::safe("most_trials", &RateQuestion::most_trials));

template <>
inline constexpr auto fields<Reduction> = described<Reduction>(
    field::text("change", &Reduction::change), field::safe("cell", &Reduction::cell),
    field::safe("result", &Reduction::result), field::part("tally", &Reduction::tally),
    field::text("reason", &Reduction::reason));

template <>
inline constexpr auto fields<Condition> = described<Condition>(
    field::text("change", &Condition::change), field::safe("cell", &Condition::cell),
    field::safe("simplification", &Condition::simplification),
    field::part("tally", &Condition::tally), field::safe("p", &Condition::p),
    field::safe("corrected_p", &Condition::corrected_p), field::safe("rarer", &Condition::rarer),
    field::text("skipped", &Condition::skipped));
template <>
inline constexpr std::tuple derived_keys<Condition>{
    derived<Condition>("necessary", [](const Condition& row) { return row.necessary(); })};

template <>
inline constexpr auto fields<MinimumTrials> = described<MinimumTrials>(
    field::safe("baseline", &MinimumTrials::baseline), field::safe("steps", &MinimumTrials::steps),
    field::safe("conditions", &MinimumTrials::conditions));

template <>
inline constexpr auto fields<Minimum> = described<Minimum>(
    field::safe("state", &Minimum::state), field::text("note", &Minimum::note),
    field::safe("start", &Minimum::start), field::safe("cell", &Minimum::cell),
    field::title("signature", &Minimum::signature), field::safe("simulated", &Minimum::simulated),
    field::worker("worker", &Minimum::worker), field::path("worker_path", &Minimum::worker_path),
    field::part("build", &Minimum::build),
    field::text("mpsprobe_version", &Minimum::mpsprobe_version),
    field::text("started", &Minimum::started),
    field::variables("environment", &Minimum::environment), field::safe("seed", &Minimum::seed),
    field::arguments("rerun", &Minimum::rerun), field::part("baseline", &Minimum::baseline),
    field::part("question", &Minimum::question), field::part("steps", &Minimum::steps),
    field::part("reliability", &Minimum::reliability),
    field::part("conditions", &Minimum::conditions),
    field::safe("condition_trials_missing", &Minimum::condition_trials_missing),
    field::part("trials", &Minimum::trials));
template <>
inline constexpr std::tuple derived_keys<Minimum>{
    derived<Minimum>("expected_runs",
                     [](const Minimum& minimum) { return expected_runs(minimum.reliability); }),
    derived<Minimum>("runs_for_95_percent", [](const Minimum& minimum) {
      return runs_for_95_percent(minimum.reliability);
    })};

}  // namespace mpsprobe
