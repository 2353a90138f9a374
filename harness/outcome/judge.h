#pragma once

#include <string_view>

#include "harness/record/process_record.h"
#include "harness/record/trial.h"

namespace mpsprobe {

/// The one place that decides. Pure: the same record gives the same judgement. What a process came
/// to first, in order of time, is its outcome: a failure that it told of before its end. The exit
/// status beats what was printed; what was printed beats a result of "pass".
///
/// `path` is the word of the cell's path ("nograph"), or empty where the worker chose or the cell
/// is not known: the title of a hang holds it too.
Judgement judge(const ProcessRecord& process, std::string_view path = {});

/// The judgement of a trial from those of its processes: the failure that came first; with no
/// failure, the first there is of infrastructure, setup_failed or timeout, unsupported, refused,
/// not_run, pass. Sets `judgement` and `judged_process`.
void judge_trial(TrialRecord& trial);

/// The title of a bystander that had no company.
constexpr std::string_view kVictimAlone =
    "command buffer: Innocent Victim of a GPU error, also when it ran alone (culprit not known)";

/// For a trial that was a bystander each time, the last times with the device for itself: nobody is
/// left to be guilty but what ran in it, or the system. It counts as a GPU error under a title of
/// its own, which is thin. Leaves every other judgement as it is.
void judge_bystander_alone(Judgement& judgement);

}  // namespace mpsprobe
