// Does the shipped library work: every row of the three families on random problems that meet its
// conditions; what selection takes, and several gradients in one call; on every device that is
// here.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "conv2d_backward/phases.h"
#include "convolution/met_taps.h"
#include "hk/memory.h"
#include "tests/conv2d_backward/case.h"
#include "tests/convolution/layout_test.h"
#include "tests/kernels/long_sums.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

template<typename Case>
class Row : public LayoutRowTest<Case> {
protected:
    void check_all() {
        this->check_row(Data::integers, 16);
        this->check_row(Data::reals, 8);
        this->check_row(Data::one_nan, 4);
        this->check_row(Data::one_infinity, 3);
        const bool of_data = std::is_same_v<Case, BackwardDataCase>;
        this->check_last_vectors(Data::one_infinity,
                                 of_data ? "filters_per_group" : "channels_per_group");
        if (std::is_same_v<Case, BackwardWeightCase>) this->check_many_pixels();
        if (of_data) check_infinite_weights();
        this->check_several_tiles();
    }

    // Winograd's transforms make NaN of them.
    void check_infinite_weights() {
        const KernelInfo &row = this->GetParam();
        if (range_of(row.where, "winograd_tiles").first > 0) return;
        const Conv2dRequest request = request_of(row, Data::one_infinity, row.where);
        for (const Device device : this->devices_) {
            VariedCases<Case, Conv2dRequest> cases(request, 40, this->seen_);
            for (int ran = 0; ran < 2;) {
                auto c = cases.next();
                if (!c) break;
                if (take_infinite_weight(*c)) ran += check(*c, device, &row) != Outcome::refused;
            }
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
    const bool of_any_pixels =
        row.device == DeviceType::cpu || row.algorithm == std::string_view("products_apart");
    const bool takes_spaced = !asks("line", 1);  // as pixels of a phase are
    // Of nchw no row takes the other phases.
    const bool alone = row.device == DeviceType::cpu && row.schedule &&
                       row.schedule == std::string_view("phase_columns");
    if (!of_any_pixels || !asks("stride_x", 1) || asks("direct", 0) || !takes_spaced || alone) {
        GTEST_SKIP() << "takes no phases";
    }
    const auto cases =
        random_cases<BackwardDataCase>(6, {row.type, row.layout, Data::integers, row.where, 2e5});
    EXPECT_FALSE(cases.empty());
    for (BackwardDataCase c : cases) {
        Conv2dProblem &p = c.problem;
        Conv2dOptions &o = p.options;
        Padding &padding = o.padding;
        c.accumulate = c.accumulate && takes_in_place(row, o.groups);
        make_phase(
            {p.height, p.kernel_height, o.stride[0], o.dilation[0], padding.top, padding.bottom});
        make_phase(
            {p.width, p.kernel_width, o.stride[1], o.dilation[1], padding.left, padding.right});
        // Images of nchw that are one pixel are taken as nhwc, by a row of that.
        const bool as_nhwc = row.layout == Layout::nchw && p.height == 1 && p.width == 1;
        // Where a window is the image, its taps are channels.
        const bool folded =
            o.groups == 1 && p.kernel_width == p.width && padding.left == 0 && padding.right == 0;
        // And taps may meet nothing, of which a row may ask for more than one.
        const auto is_cut = [](const detail::DataPhase &phase) {
            return detail::met_taps(phase.problem).has_value();
        };
        const bool cut =
            detail::met_taps(p) || std::ranges::any_of(detail::data_phases(p).phases, is_cut);
        const bool by_row = !as_nhwc && !folded && !cut;
        for (const Device device : devices_of(row.device))
            ASSERT_EQ(check(c, device, by_row ? &row : nullptr), Outcome::passed) << to_string(c);
    }
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

class Formulation : public testing::TestWithParam<KernelInfo> {};

TEST_P(Formulation, HasTheBudgetOfTheOther) {
    const KernelInfo &row = GetParam();
    const KernelInfo *first = first_formulation_of(row);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(row.resources.shared_bytes(), first->resources.shared_bytes());
    EXPECT_EQ(row.resources.threads, first->resources.threads);
    EXPECT_LE(row.resources.shared_bytes(), 48 * 1024);
}

TEST_P(Formulation, GivesTheBitsOfTheOther) {
    const KernelInfo &row = GetParam();
    const KernelInfo *first = first_formulation_of(row);
    ASSERT_NE(first, nullptr);
    for (const Device device : devices_of(row.device))
        expect_same_bits(row, *first, device, request_of(row, Data::reals, row.where));
}

INSTANTIATE_TEST_SUITE_P(Table, Formulation, testing::ValuesIn(second_formulations()),
                         [](const auto &info) { return info.param.name; });

// The grouped input gradient that compilers were seen to give up on, at batch 1.
TEST(GroupedInputGradient, IsRight) {
    for (const DeviceType type : {DeviceType::cpu, DeviceType::cuda, DeviceType::opencl}) {
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
    for (const DeviceType type : {DeviceType::cpu, DeviceType::cuda, DeviceType::opencl}) {
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

// More pixels than tensor cores add up within their error are parts. Terms are equal, so that what
// is cut off goes one way.
TEST(BackwardWeightRows, AddUpManyPixelsOnTensorCoresInParts) {
    for (const Device device : devices_of(DeviceType::cuda)) {
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
            Conv2dOptions options;
            options.allow_tf32 = true;
            const Shape image{1, 150, 300, 16}, filter{16, 1, 1, 16};
            const Conv2dProblem problem = Conv2dProblem::from_shapes(image, filter, type, options);
            const KernelInfo *row =
                select_conv2d_backward_weight(problem, DeviceType::cuda, device.limits()).kernel;
            if (!row) continue;  // built without the type
            EXPECT_STREQ(row->algorithm, "products_in_parts");
            const double factor = 0x1.0ap0, term = factor * factor;  // of each type
            const Tensor input(image, type, device), gradient(image, type, device),
                result(filter, type, device);
            input.fill(factor);
            gradient.fill(factor);
            conv2d_backward_weight(gradient, input, result, options);
            const double sum = 150 * 300 * term, bound = sum * (std::ldexp(1, -9) + half_ulp(type));
            for (const double got : reference::read(result.to(Device::cpu())))
                ASSERT_NEAR(got, sum, bound) << name_of(type);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, BackwardDataRow, testing::ValuesIn(rows_of(Pass::data)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, BackwardWeightRow, testing::ValuesIn(rows_of(Pass::weight)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, BackwardBiasRow, testing::ValuesIn(rows_of(Pass::bias)),
                         parameter_name);

constexpr int problems = 60;

class Conv2dBackward : public LayoutTest {
protected:
    void SetUp() override { need(std::get<0>(GetParam()), rows_of(Pass::data)); }
};

TEST_P(Conv2dBackward, MatchesTheReferenceForTheInput) {
    check_problems<BackwardDataCase>(problems);
}
TEST_P(Conv2dBackward, MatchesTheReferenceForTheWeight) {
    check_problems<BackwardWeightCase>(problems);
}
TEST_P(Conv2dBackward, MatchesTheReferenceForTheBias) {
    check_problems<BackwardBiasCase>(problems);
}

TEST_P(Conv2dBackward, RunsInTwoThreadsAtOnce) {
    check_threads<BackwardDataCase>();
    check_threads<BackwardWeightCase>();
}

std::vector<double> read(const Tensor &tensor) { return reference::read(tensor.to(Device::cpu())); }

// Every subset of the three in one call has the bits of the calls for one each, again and again,
// and leaves the others as they were.
TEST_P(Conv2dBackward, ComputesAnySubset) {
    const auto [device_type, layout, type] = GetParam();
    for (const Device device : devices_) {
        for (const uint64_t seed : seeds(6)) {
            Random random(seed);
            const auto p = random_problem(random, request(Data::reals));
            if (!p) continue;
            const auto made = [&](const Shape &shape) {
                return host_tensor(shape, type, reals(random, shape)).to(device);
            };
            const Tensor output = made(p->output_shape()), input = made(input_shape(*p)),
                         weight = made(weight_shape(*p));
            const Tensor wanted[] = {
                conv2d_backward_data(output, weight, input_shape(*p), p->options),
                conv2d_backward_weight(output, input, weight_shape(*p), p->options),
                conv2d_backward_bias(output, layout)};
            for (int subset = 0; subset < 8; subset++) {
                Tensor got[3];
                for (int i = 0; i < 3; i++) {
                    if (subset & 1 << i) got[i] = made(wanted[i].shape());
                }
                conv2d_backward(output, subset & 2 ? input : Tensor(),
                                subset & 1 ? weight : Tensor(), {got[0], got[1], got[2]},
                                p->options);
                device.synchronize();
                for (int i = 0; i < 3; i++) {
                    if (!(subset & 1 << i)) continue;
                    ASSERT_EQ(read(got[i]), read(wanted[i]))
                        << "gradient " << i << " of subset " << subset << ", " << to_string(*p)
                        << "\nrepeat  " << repeat_command(seed);
                }
            }
        }
    }
}

// Strided input gradients on a CPU, which run in phases: strides and dilations with and without
// common divisors, filters smaller than the stride, and than the image, crops.
TEST(Conv2dBackwardPhases, MatchTheReference) {
    const auto check_one = [](uint64_t seed, Layout layout, int64_t stride, int64_t dilation,
                              int64_t kernel) {
        Random random(seed);
        BackwardDataCase c;
        c.seed = seed;
        c.accumulate = one_in(random, 2);
        draw_placements(random, c);
        Conv2dProblem &p = c.problem;
        p.batch = 2;
        const bool depthwise = one_in(random, 3);
        p.options.groups = depthwise ? pick(random, std::vector<int64_t>{5, 8, 16}) : 2;
        p.channels = p.options.groups * (depthwise ? 1 : 3);
        p.filters = p.options.groups * (depthwise ? 1 : 2);
        p.kernel_height = uniform(random, 1, 4);
        p.kernel_width = kernel;
        p.options.layout = layout;
        p.options.stride = {uniform(random, 1, 4), stride};
        p.options.dilation = {uniform(random, 1, 4), dilation};
        const int64_t reach_y = p.options.dilation[0] * (p.kernel_height - 1),
                      reach_x = dilation * (kernel - 1);
        p.options.padding = {uniform(random, 0, reach_y + 2), uniform(random, 0, reach_y + 2),
                             uniform(random, 0, reach_x + 2), uniform(random, 0, reach_x + 2)};
        p.height = uniform(random, 1, 11);
        p.width = uniform(random, 1, 19);
        if (p.output_height() < 1 || p.output_width() < 1) return;
        EXPECT_EQ(check(c, Device::cpu()), Outcome::passed) << to_string(c);
    };
    for (const uint64_t seed : seeds(3)) {
        for (int64_t i = 0; i < 4 * 6 * 4; i++) {
            const int64_t stride = i % 4 + 1, dilation = i / 4 % 6 + 1, kernel = i / 24 + 1;
            for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
                check_one(seed * 97 + static_cast<uint64_t>(i), layout, stride, dilation, kernel);
                if (HasFailure()) return;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Conv2dBackward, layout_tests(), parameter_name);

}  // namespace
}  // namespace hk::test
