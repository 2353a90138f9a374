#pragma once

#include "reproducers/minimise/questions.h"

namespace mpsprobe {

/// Runs the start cell until the rate of its failure is known well enough: 5 failures in 5 trials,
/// or 8 failures. Where no signature was asked for, it is the one that occurred most often, of
/// several the one that came first. Sets `minimum.signature`, `baseline` and `question`. False
/// where there is nothing to reduce; `minimum.state` and `note` then say why. Throws Stopped.
bool measure_baseline(const MinimiseRequest& request, Questions& questions, Minimum& minimum);

}  // namespace mpsprobe
