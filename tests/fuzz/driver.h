#pragma once
// Runs many cases, in processes of their own, and goes on after one that fails.

#include "tests/fuzz/family.h"

namespace hk::fuzz {

struct Job {
    const Family *family = nullptr;  // null: all, by turns
    Kind kind = Kind::valid;
    Device device;
    uint64_t seed = 1, count = 1;  // seeds seed up to seed + count - 1, a case each
    int findings = 10;             // after which to give up
    int seconds = 300;             // that a case may take
    int threads = 0;               // above 0: so many in one process run valid cases at once
};

// The number of findings. A single case runs in this process, for a debugger; several in children
// one after the other, each of which runs some thousand.
int run(const Job &job);

}  // namespace hk::fuzz
