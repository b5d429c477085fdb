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
        return {type,
                layout,
                data,
                {},
                device == DeviceType::cpu    ? 2e6
                : device == DeviceType::cuda ? 5e4
                                             : 2e5};
    }

    // Of a family: every third problem of real numbers where `reals`.
    template<typename Case>
    void check_problems(int count, bool reals = true) const {
        for (const Device device : devices_) {
            check_random<Case>(device, count, [&](uint64_t seed) {
                return request(reals && seed % 3 == 0 ? Data::reals : Data::integers);
            });
            check_empty<Case>(device, request(Data::integers));
        }
    }
    template<typename Case>
    void check_threads() const {
        for (const Device device : devices_)
            check_two_threads<Case>(device, request(Data::integers));
    }
};

// On all kinds of devices.
inline auto layout_tests(const std::vector<DataType> &types = {DataType::f32, DataType::f16,
                                                               DataType::bf16}) {
    return testing::Combine(testing::Values(DeviceType::cpu, DeviceType::opencl, DeviceType::cuda),
                            testing::Values(Layout::nhwc, Layout::nchw), testing::ValuesIn(types));
}

// What an imitated GPU runs of a schedule in the time of a test; as many tiles as a row of
// Winograd's asks for, as many terms as one of panels.
inline double operations_of(const KernelInfo &row) {
    if (row.algorithm == std::string_view("winograd")) return 1e7;
    if (row.algorithm == std::string_view("packed_panels")) return 4e7;
    return row.device == DeviceType::cpu ? 2e6 : row.device == DeviceType::cuda ? 1e5 : 4e5;
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
        // A problem takes longer where GPUs are imitated, CUDA's with all checks.
        if (row.device == DeviceType::opencl) problems = (problems + 1) / 2;
        if (row.device == DeviceType::cuda) problems = (problems + 5) / 6;
        for (const Device device : devices_) test::check_row<Case>(row, device, request, problems);
    }
};

// Rows of such a family refuse problems of the layout that they are not for.
template<typename Case>
void expect_other_layouts_refused(std::span<const KernelInfo> kernels) {
    for (const KernelInfo &kernel : kernels) {
        const Layout other = kernel.layout == Layout::nhwc ? Layout::nchw : Layout::nhwc;
        const auto c = random_case<Case>(1, {kernel.type, other, Data::integers, {}, 1e5});
        ASSERT_TRUE(c);
        for (const Device device : devices_of(kernel.device))
            EXPECT_EQ(check(*c, device, &kernel), Outcome::refused) << kernel.name;
    }
}

}  // namespace hk::test
