#pragma once

#include "reports/schema/schema_of.h"

namespace mpsprobe {

/// Of the files that people write: a matrix, and known failures.
Schema matrix_schema();
Schema expectations_schema();

}  // namespace mpsprobe
