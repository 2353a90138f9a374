#pragma once

#include "scenarios/observer/objects.h"
#include "scenarios/observer/rules.h"

namespace mpsprobe::observer {

/// A place that a finding tells of besides the call itself.
struct Earlier {
  const char* what;  ///< for example "the open encoder was opened"
  const Site* site;
};

/// Says that a rule was broken, at once, for the original may end the process: on stderr, and as a
/// line of JSON in the file that MPSPROBE_OBSERVER_REPORT names. Once for each rule and place, and
/// at most 100 times. `selector`: the method. Any thread; holds no lock of the objects'.
void say_broken(RuleId rule, const Object& object, const char* selector, const Site& here,
                const Earlier& earlier);

/// Who is told instead of standard error. Before anything is said.
void tell(void (*finding)(int proof, const char* words, void* context), void* context);

/// The first line of the file: the observer was loaded, and the program has a device.
void say_begin();

/// Its last line: how many calls were observed, and how many rules were broken.
void say_end();

}  // namespace mpsprobe::observer
