#pragma once

#include <cstdint>

namespace CLI {
class Validator;
}

namespace mpsprobe {

/// For an option that takes a number: its text must be a number of that range as people write it,
/// and not "nan", "inf", "1e999" or a number that does not fit. The message names what was written
/// and what is allowed.
CLI::Validator number_between(double least, double most);
CLI::Validator whole_number_between(uint64_t least, uint64_t most);

/// A seed: any whole number of 64 bits.
CLI::Validator seed_number();

}  // namespace mpsprobe
