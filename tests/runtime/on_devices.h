#pragma once
// Tests with a device as their parameter, by name: of all that work here.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hk/device.h"

namespace hk {

class OnDevice : public ::testing::TestWithParam<std::string> {
protected:
    Device device() const { return Device::parse(GetParam()); }
};

inline std::vector<std::string> device_names() {
    std::vector<std::string> names;
    for (const Device device : Device::all()) names.push_back(device.name());
    return names;
}

inline std::string name_of_test(const ::testing::TestParamInfo<std::string> &info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), ':', '_');
    return name;
}

}  // namespace hk
