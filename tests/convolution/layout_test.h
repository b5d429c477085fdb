#pragma once
// The tests of what selection takes of families that convolve.

#include "tests/convolution/random_problem.h"
#include "tests/kernels/family.h"

namespace hk::test {

class LayoutTest : public DeviceTest,
                   public testing::WithParamInterface<std::tuple<DeviceType, Layout, DataType>> {
protected:
    Conv2dRequest request(Data data) const {
        const auto [device, layout, type] = GetParam();
        return {type, layout, data, {}, device == DeviceType::opencl ? 2e5 : 2e6};
    }
};

// What PoCL runs of a GPU schedule in the time of a test; as many tiles as a row of Winograd's asks
// for.
inline double operations_of(const KernelInfo &row) {
    if (row.algorithm == std::string_view("winograd")) return 1e7;
    return row.device == DeviceType::opencl ? 4e5 : 2e6;
}

// A row of such a family.
template<typename Case>
class LayoutRowTest : public RowTest {
protected:
    // `more`: conditions beside the row's own.
    void check_row(Data data, int problems, const std::vector<Constraint> &more = {}) {
        const KernelInfo &row = GetParam();
        std::vector<Constraint> where(row.where.begin(), row.where.end());
        where.insert(where.end(), more.begin(), more.end());
        const Conv2dRequest request{row.type, row.layout, data, where, operations_of(row)};
        for (const Device device : devices_) test::check_row<Case>(row, device, request, problems);
    }
};

}  // namespace hk::test
