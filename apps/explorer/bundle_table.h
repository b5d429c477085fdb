#pragma once
// What a bundle's program is told by the source that is written for it.

#include <span>

#include "hk/kernel_info.h"

namespace hk::explorer {

struct BundledCandidate {
    const char *name, *algorithm, *schedule, *fixed, *knobs;
    KernelInfo kernel;
};

struct BundledCase {
    const char *list, *name;
    std::span<const int> candidates;
};

struct Bundle {
    const char *family, *type, *output_type, *layout, *device;
    int threads;
    double seconds;  // of measuring a candidate
    const char *part;
    std::span<const BundledCase> cases;
    std::span<const BundledCandidate> candidates;
};

const Bundle &bundle();

}  // namespace hk::explorer
