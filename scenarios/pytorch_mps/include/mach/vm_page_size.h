#pragma once

#include <stdint.h>

constexpr uintptr_t vm_page_size = 16384;  // of Apple silicon
