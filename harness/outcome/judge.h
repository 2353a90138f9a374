#pragma once

#include <string_view>

#include "harness/outcome/outcome.h"

namespace mpsprobe {

/// judge() for a process whose cell is known: the title of a hang then holds the cell's path too.
/// `path` is its word ("nograph"), or empty where the worker chose.
Judgement judge_on_path(const ProcessRecord& process, std::string_view path);

/// The title of a bystander that had no company.
constexpr std::string_view kVictimAlone =
    "command buffer: Innocent Victim of a GPU error, also when it ran alone (culprit not known)";

/// For a trial that was a bystander each time, the last times with the device for itself: nobody is
/// left to be guilty but what ran in it, or the system. It counts as a GPU error under a title of
/// its own, which is thin. Leaves every other judgement as it is.
void judge_bystander_alone(Judgement& judgement);

}  // namespace mpsprobe
