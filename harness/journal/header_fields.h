#pragma once

#include "harness/journal/journal.h"
#include "harness/record/field.h"

// What a run set out to do, and how it ended (harness/record/field.h).

namespace mpsprobe {

template <>
inline constexpr auto fields<WorkerInfo> = described<WorkerInfo>(
    field::worker("name", &WorkerInfo::name), field::path("path", &WorkerInfo::path),
    field::structure("describe", &WorkerInfo::describe));

template <>
inline constexpr auto fields<LeftOut> = described<LeftOut>(
    field::cell_name("cell", &LeftOut::cell), field::name("reason", &LeftOut::reason),
    field::safe("others", &LeftOut::others).if_any());

template <>
inline constexpr auto fields<Expectation> =
    described<Expectation>(field::safe("verdict", &Expectation::verdict).if_any(),
                           field::safe("outcome", &Expectation::outcome).if_any(),
                           field::name("detail", &Expectation::detail));

template <>
inline constexpr auto fields<PlannedCell> = described<PlannedCell>(
    field::safe("cell", &PlannedCell::cell), field::name("block", &PlannedCell::block),
    field::part("expectation", &PlannedCell::expectation));

template <>
inline constexpr auto fields<CellGrid> = described<CellGrid>(
    field::name("block", &CellGrid::block), field::structure("axes", &CellGrid::axes),
    field::structure("kept", &CellGrid::kept),
    field::structure("again", &CellGrid::again).if_any());

template <>
inline constexpr auto fields<Shard> = described<Shard>(field::safe("index", &Shard::index),
                                                       field::safe("count", &Shard::count));

template <>
inline constexpr auto fields<TrialLimits> =
    described<TrialLimits>(field::safe("timeout_seconds", &TrialLimits::timeout_seconds),
                           field::safe("stall_seconds", &TrialLimits::stall_seconds),
                           field::safe("budget_seconds", &TrialLimits::budget_seconds),
                           field::safe("memory_limit_bytes", &TrialLimits::memory_limit_bytes));

// Cells are written with what is expected of them, a shard with the cells of the whole plan, and
// the way of starting processes only where it is not the one that every release had.
template <>
inline constexpr auto fields<CampaignHeader> = described_on<CampaignHeader, TrialLimits>(
    field::text("mpsprobe_version", &CampaignHeader::mpsprobe_version),
    field::text("mpsprobe_build", &CampaignHeader::mpsprobe_build).later(),
    field::text("started", &CampaignHeader::started),
    field::arguments("command_line", &CampaignHeader::command_line),
    field::safe("seed", &CampaignHeader::seed), field::safe("trials", &CampaignHeader::trials),
    field::safe("settle_rate", &CampaignHeader::settle_rate).if_any(),
    field::name("follow", &CampaignHeader::follow).if_any(),
    field::safe("jobs", &CampaignHeader::jobs),
    field::safe("start_process", &CampaignHeader::start_process).apart(),
    field::safe("max_failures", &CampaignHeader::max_failures).later(),
    field::variables("environment", &CampaignHeader::environment),
    field::path("crash_reports", &CampaignHeader::crash_reports),
    field::structure("machine", &CampaignHeader::machine),
    field::part("workers", &CampaignHeader::workers),
    field::text("matrix_name", &CampaignHeader::matrix_name),
    field::text("matrix_description", &CampaignHeader::matrix_description),
    field::structure("cells", &CampaignHeader::cells).apart(),
    field::part("left_out", &CampaignHeader::left_out),
    field::part("shard", &CampaignHeader::shard).apart(),
    field::structure("whole", &CampaignHeader::whole).apart(),
    field::name("merged_from", &CampaignHeader::merged_from).if_any(),
    field::identity("origin", &CampaignHeader::origin).if_any());

template <>
inline constexpr auto fields<CampaignEnd> = described<CampaignEnd>(
    field::text("reason", &CampaignEnd::reason), field::text("ended", &CampaignEnd::ended),
    field::text("note", &CampaignEnd::note),
    field::safe("processors_of_others", &CampaignEnd::processors_of_others).if_any());

}  // namespace mpsprobe
