#pragma once
// A kernel's resource report, NAME.json.

#include <nlohmann/json.hpp>

#include "hk/kernel_info.h"

namespace hk::explorer {

inline KernelResources resources_of(const nlohmann::json &report) {
    const auto figure = [&](const char *name) { return report.value(name, -1); };
    return {figure("registers"),     figure("stack_bytes"),    figure("spill_bytes"),
            figure("shared_static"), figure("shared_dynamic"), figure("threads")};
}

}  // namespace hk::explorer
