// Do the shipped objects work: every row of the three families, on every device that it runs on
// here, on random problems that meet its conditions.

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tests/conv2d_backward/check.h"
#include "tests/convolution/layout_test.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

template<typename Case>
class Row : public LayoutRowTest<Case> {
protected:
    void check_all() {
        this->check_row(Data::integers, 24);
        this->check_row(Data::reals, 12);
        this->check_row(Data::one_nan, 4);
        this->check_row(Data::one_infinity, 3);
        if (this->GetParam().device != DeviceType::cpu) check_several_tiles();
    }

    // Blocks have 64 channels or filters at most, 128 in large rows, which are random problems'
    // most.
    void check_several_tiles() {
        for (const char *field : {"channels_per_group", "filters_per_group"}) {
            const bool bounded =
                std::ranges::any_of(this->GetParam().where, [&](const Constraint &c) {
                    return c.field == std::string_view(field) &&
                           c.relation != Constraint::Relation::at_least;
                });
            if (bounded) continue;
            const bool large =
                std::string_view(this->GetParam().knobs).find(":128") != std::string::npos;
            this->check_row(Data::integers, 3,
                            {{field, Constraint::Relation::at_least, large ? 130 : 67}});
        }
    }
};

using BackwardDataRow = Row<BackwardDataCase>;
using BackwardWeightRow = Row<BackwardWeightCase>;
using BackwardBiasRow = Row<BackwardBiasCase>;

TEST_P(BackwardDataRow, IsTheGradient) { check_all(); }
TEST_P(BackwardWeightRow, IsTheGradient) { check_all(); }
TEST_P(BackwardBiasRow, IsTheGradient) { check_all(); }

// One direction of a problem of stride one made the first phase of a strided problem: the other
// taps of the filter, or where the dilation is even none, meet the pixels in between.
struct Axis {
    int64_t &pixels, &taps, &stride, &dilation, &before, &after;
};

void make_phase(const Axis &axis) {
    axis.pixels = 2 * axis.pixels - 1;
    axis.before *= 2;
    axis.after *= 2;
    axis.stride = 2;
    if (axis.dilation % 2 == 0)
        axis.dilation *= 2;
    else
        axis.taps = 2 * axis.taps - 1;
}

TEST_P(BackwardDataRow, TakesPhasesOfStridedProblems) {
    const KernelInfo &row = GetParam();
    const auto asks = [&](std::string_view field, int64_t value) {
        return std::ranges::any_of(row.where, [&](const Constraint &constraint) {
            return constraint.field == field && constraint.value == value;
        });
    };
    if (row.device != DeviceType::cpu || !asks("stride_x", 1) || asks("direct", 0)) {
        GTEST_SKIP() << "takes no phases";
    }
    const auto cases =
        random_cases<BackwardDataCase>(6, {row.type, row.layout, Data::integers, row.where, 2e5});
    EXPECT_FALSE(cases.empty());
    for (BackwardDataCase c : cases) {
        Conv2dProblem &p = c.problem;
        Conv2dOptions &o = p.options;
        Padding &padding = o.padding;
        make_phase(
            {p.height, p.kernel_height, o.stride[0], o.dilation[0], padding.top, padding.bottom});
        make_phase(
            {p.width, p.kernel_width, o.stride[1], o.dilation[1], padding.left, padding.right});
        ASSERT_EQ(check(c, Device::cpu(), &row), Outcome::passed) << to_string(c);
    }
}

template<typename Case>
void expect_refusals() {
    for (const KernelInfo &kernel : rows_of(Case().pass)) {
        const Layout other = kernel.layout == Layout::nhwc ? Layout::nchw : Layout::nhwc;
        const auto c = random_case<Case>(1, {kernel.type, other, Data::integers, {}, 1e5});
        ASSERT_TRUE(c);
        for (const Device device : devices_of(kernel.device)) {
            EXPECT_EQ(check(*c, device, &kernel), Outcome::refused) << kernel.name;
        }
    }
}

TEST(BackwardRows, RefuseTheOtherLayout) {
    expect_refusals<BackwardDataCase>();
    expect_refusals<BackwardWeightCase>();
    expect_refusals<BackwardBiasCase>();
}

// The same row of the other formulation of the input's gradient.
const KernelInfo *first_formulation_of(const KernelInfo &row) {
    std::string algorithm = row.algorithm;
    algorithm.replace(0, std::strlen("expand_flip"), "flip_expand");
    for (const KernelInfo &other : conv2d_backward_data_kernels()) {
        const auto same = [](const Constraint &a, const Constraint &b) {
            return std::string_view(a.field) == b.field && a.relation == b.relation &&
                   a.value == b.value;
        };
        if (other.algorithm == algorithm && other.device == row.device && other.type == row.type &&
            other.layout == row.layout && std::strcmp(other.schedule, row.schedule) == 0 &&
            std::strcmp(other.knobs, row.knobs) == 0 &&
            std::ranges::equal(other.where, row.where, same)) {
            return &other;
        }
    }
    return nullptr;
}

std::vector<KernelInfo> second_formulations() {
    std::vector<KernelInfo> rows;
    for (const KernelInfo &row : conv2d_backward_data_kernels()) {
        if (std::string_view(row.algorithm).starts_with("expand_flip")) rows.push_back(row);
    }
    return rows;
}

std::vector<uint32_t> bits_of(const Tensor &tensor) {
    const Tensor host = tensor.to(Device::cpu());
    std::vector<uint32_t> bits(static_cast<size_t>(host.elements()));
    if (host.type() == DataType::f32) {
        std::copy_n(host.data<uint32_t>(), bits.size(), bits.begin());
    } else {
        std::copy_n(host.data<uint16_t>(), bits.size(), bits.begin());
    }
    return bits;
}

class Formulation : public testing::TestWithParam<KernelInfo> {};

TEST_P(Formulation, HasTheBudgetOfTheOther) {
    const KernelInfo &row = GetParam();
    const KernelInfo *first = first_formulation_of(row);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(row.resources.shared_bytes(), first->resources.shared_bytes());
    EXPECT_EQ(row.resources.threads, first->resources.threads);
    EXPECT_LE(row.resources.shared_bytes(), 48 * 1024);
}

// Grouped, of real numbers, where a sum in another order would have other bits.
TEST_P(Formulation, GivesTheBitsOfTheOther) {
    const KernelInfo &row = GetParam();
    const KernelInfo *first = first_formulation_of(row);
    ASSERT_NE(first, nullptr);
    std::vector<Constraint> where(row.where.begin(), row.where.end());
    where.push_back({"groups", Constraint::Relation::at_least, 2});
    for (const Device device : devices_of(row.device)) {
        int checked = 0;
        for (const uint64_t seed : seeds(40)) {
            const auto c = random_case<BackwardDataCase>(
                seed, {row.type, row.layout, Data::reals, where, operations_of(row)});
            if (!c) continue;
            const BackwardOperands o = backward_operands(*c);
            const auto tensor = [&](const Shape &shape, const std::vector<double> &values) {
                return host_tensor(shape, row.type, values).to(device);
            };
            const Tensor output = tensor(o.output_shape, o.output_gradient),
                         weight = tensor(o.factor_shape, o.factor);
            const auto computed = [&](const KernelInfo &kernel) {
                const Tensor gradient(o.gradient_shape, row.type, device);
                conv2d_backward_data_with(kernel, output, weight, gradient, c->problem.options);
                return bits_of(gradient);
            };
            ASSERT_EQ(computed(row), computed(*first))
                << to_string(*c) << "\nrepeat  " << repeat_command(seed);
            checked++;
        }
        EXPECT_GE(checked, std::getenv("HK_SEED") ? 0 : 10);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, Formulation, testing::ValuesIn(second_formulations()),
                         [](const auto &info) { return info.param.name; });

// The grouped input gradient that compilers were seen to give up on, at batch 1.
TEST(GroupedInputGradient, IsRight) {
    for (const DeviceType type : {DeviceType::cpu, DeviceType::opencl}) {
        for (const Device device : devices_of(type)) {
            for (const DataType of : {DataType::f32, DataType::bf16}) {
                BackwardDataCase c;
                c.seed = 1;
                c.data = Data::reals;
                c.problem = Conv2dProblem::from_shapes({1, 24, 48, 384}, {384, 1, 3, 128}, of,
                                                       {.padding = {0, 0, 1, 1}, .groups = 3});
                check(c, device);
            }
        }
    }
}

// Strides that count past 32 bits where pixels or phases are multiplied by them.
TEST(StridesBeyondTheImage, AreRight) {
    for (const DeviceType type : {DeviceType::cpu, DeviceType::opencl}) {
        for (const Device device : devices_of(type)) {
            for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
                for (const int64_t stride : {31, 65537, 2000000000}) {
                    BackwardDataCase c;
                    c.seed = static_cast<uint64_t>(stride);
                    c.problem.options = {.layout = layout,
                                         .stride = {stride, stride},
                                         .dilation = {3, 2},
                                         .padding = {1, 0, 2, 0}};
                    c.problem.channels = 20;
                    c.problem.filters = 9;
                    c.problem.height = 12;
                    c.problem.width = 30;
                    c.problem.kernel_height = c.problem.kernel_width = 3;
                    check(c, device);
                }
            }
        }
    }
}

// Parts of a filter's gradient lie in global memory: rows that have parts end where they would take
// more than 16 MB.
TEST(BackwardWeightRows, BoundTheirScratchMemory) {
    for (const KernelInfo &kernel : conv2d_backward_weight_kernels()) {
        if (kernel.device == DeviceType::cpu) continue;
        const std::string_view knobs = kernel.knobs;
        const size_t at = knobs.find("parts:");
        if (at == knobs.npos) continue;
        int64_t parts = 0, most = INT64_MAX;
        std::from_chars(knobs.data() + at + 6, knobs.data() + knobs.size(), parts);
        for (const Constraint &constraint : kernel.where) {
            if (constraint.field == std::string_view("weight_size") &&
                constraint.relation == Constraint::Relation::at_most) {
                most = constraint.value;
            }
        }
        EXPECT_LE(most, (int64_t{16} << 20) / 4 / parts) << kernel.name;
    }
}

std::vector<KernelInfo> all(Pass pass) { return {rows_of(pass).begin(), rows_of(pass).end()}; }

INSTANTIATE_TEST_SUITE_P(Table, BackwardDataRow, testing::ValuesIn(all(Pass::data)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, BackwardWeightRow, testing::ValuesIn(all(Pass::weight)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, BackwardBiasRow, testing::ValuesIn(all(Pass::bias)),
                         parameter_name);

}  // namespace
}  // namespace hk::test
