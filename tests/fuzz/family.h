#pragma once
// The families that are tried: each draws a random call, makes it and checks it, in its folder's
// fuzz.cpp.

#include <span>

#include "tests/fuzz/case.h"

namespace hk::fuzz {

struct Family {
    const char *name;
    Result (*run)(Case &c);
};

std::span<const Family> families();

}  // namespace hk::fuzz
