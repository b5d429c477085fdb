// Group normalisation and its gradients: every row of the table on every device that it runs on
// here, on random problems that meet its conditions, what selection takes, and long sums.

#include <cmath>
#include <limits>

#include "HalideRuntime.h"
#include "tests/group_norm/case.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

double elements_of(DeviceType type) { return type == DeviceType::cpu ? 3e4 : 4e3; }

class GroupNormRow : public testing::TestWithParam<KernelInfo> {
protected:
    void SetUp() override {
        devices_ = devices_of(GetParam().device);
        if (devices_.empty()) GTEST_SKIP() << "no " << name_of(GetParam().device) << " device";
    }

    std::vector<Device> devices_;
};

TEST_P(GroupNormRow, IsTheReference) {
    const KernelInfo &row = GetParam();
    for (const Device device : devices_) {
        check_row<GroupNormCase>(
            row, device, GroupNormRequest{row.type, row.layout, row.where, elements_of(row.device)},
            row.device == DeviceType::cpu ? 80 : 24);
    }
}

// Rows of images that are several parts each, and do not lie behind each other.
TEST_P(GroupNormRow, OfLongRowsApart) {
    const KernelInfo &row = GetParam();
    GroupNormCase c;
    c.seed = 7;
    c.problem = {row.type, 2, 6, 3, 300, {row.layout, 3, 1e-5f}};
    c.images_at = Placement::margins;
    for (const Constraint &constraint : row.where) {
        const std::string_view field = constraint.field;
        if (field == "backward") c.problem.backward = constraint.value == 1;
        const bool few = constraint.relation == Constraint::Relation::at_most;
        if (field == "channels_per_group" && !few) c.problem.channels = 3 * constraint.value;
        if (field == "aligned" || (field == "pixels" && few)) GTEST_SKIP() << "does not take them";
    }
    for (const Device device : devices_) check(c, device, &row);
}

// Of a group, that the row takes: whole vectors, and as few as can be, from two on.
int64_t least_channels(const KernelInfo &row) {
    int64_t channels = 2;
    for (const Constraint &constraint : row.where) {
        const std::string_view field = constraint.field;
        if (field == "aligned" && row.layout == Layout::nhwc)
            channels = std::max<int64_t>(channels, 8);
        if (field == "channels_per_group" && constraint.relation == Constraint::Relation::at_least)
            channels = std::max(channels, constraint.value);
    }
    return channels;
}

// Of a group, that the row takes.
int64_t most_elements(const KernelInfo &row) {
    for (const Constraint &constraint : row.where) {
        if (constraint.field == std::string_view("group_elements") &&
            constraint.relation == Constraint::Relation::at_most) {
            return constraint.value;
        }
    }
    return std::numeric_limits<int64_t>::max();
}

// A problem of long groups, or of many channels for rows of few pixels.
GroupNormProblem long_problem(const KernelInfo &row) {
    GroupNormProblem problem;
    problem.type = row.type;
    problem.options = {row.layout, 2, 1e-12f};
    problem.channels = 2 * least_channels(row);
    problem.height = row.device == DeviceType::cpu ? 1000 : 50;
    problem.width = 1000;
    for (const Constraint &constraint : row.where) {
        const std::string_view field = constraint.field;
        if (field == "backward") problem.backward = constraint.value == 1;
        if (field == "pixels" && constraint.relation != Constraint::Relation::at_least) {
            problem.height = problem.width = 1;
            problem.channels = 2 * std::min<int64_t>(most_elements(row), 500000);
        }
        if (field == "group_elements" && constraint.relation == Constraint::Relation::at_least)
            problem.height = std::max(problem.height, constraint.value / problem.width + 1);
    }
    return problem;
}

// Ten million equal terms, or as many as the row and the device take, keep their digits, and a mean
// of 10000 does not hide a deviation of 0.01.
TEST_P(GroupNormRow, KeepsTheDigitsOfLongSums) {
    const KernelInfo &row = GetParam();
    for (const Device device : devices_) {
        GroupNormCase c;
        c.seed = 3;
        c.problem = long_problem(row);
        const int64_t pixels = most_elements(row) / (c.problem.channels / 2);
        if (c.problem.height * c.problem.width > pixels) {
            c.problem.width = 16;
            c.problem.height = pixels / 16;
        }
        c.elements = row.type == DataType::f32 ? Elements::far : Elements::ordinary;
        check(c, device, &row);
        c.elements = Elements::outlier;
        check(c, device, &row);
    }
}

Shape shape_of(const GroupNormProblem &p) {
    return p.options.layout == Layout::nhwc ? Shape{p.batch, p.height, p.width, p.channels}
                                            : Shape{p.batch, p.channels, p.height, p.width};
}

// Statistics with the same values for all groups.
GroupNormStatistics same_statistics(const GroupNormProblem &p, double mean, double rstd,
                                    Device device) {
    const Shape groups{p.batch, p.options.groups};
    const auto all = [&](double value) {
        return host_tensor(
                   groups, DataType::f32,
                   std::vector<double>(static_cast<size_t>(p.batch * p.options.groups), value))
            .to(device);
    };
    return {all(mean), all(rstd)};
}

void expect_near(const Tensor &got, double wanted, double most, const std::string &name) {
    double furthest = wanted;
    for (const double value : reference::read(got.to(Device::cpu())))
        if (!(std::abs(value - wanted) <= std::abs(furthest - wanted))) furthest = value;
    EXPECT_NEAR(furthest, wanted, most) << name;
}

// Within a few roundings of f32: running sums of blocks carry what additions lose. Squares of
// these numbers, and 256 of them, are exact, and their sums over blocks are not.
constexpr double kNumbers[] = {1 + 29. / 128, 1 + 53. / 128, 1 + 77. / 128};
const double kFewRoundings = std::ldexp(1, -21);

TEST_P(GroupNormRow, LosesNothingBetweenBlocks) {
    const KernelInfo &row = GetParam();
    GroupNormProblem problem = long_problem(row);
    const bool short_groups = std::ranges::any_of(row.where, [](const Constraint &constraint) {
        return constraint.field == std::string_view("group_elements") &&
               constraint.relation == Constraint::Relation::at_most;
    });
    if (problem.backward || short_groups) GTEST_SKIP() << "no sum over blocks";
    problem.height = std::min<int64_t>(problem.height, 50);
    problem.channels = std::min<int64_t>(problem.channels, 200000);
    const Shape shape = shape_of(problem), groups{1, 2};
    // As many above zero as below, in each pair of neighbours.
    const size_t run = row.layout == Layout::nhwc && problem.width > 1 ? 4 : 1;
    for (const Device device : devices_) {
        for (const double number : kNumbers) {
            std::vector<double> values(
                static_cast<size_t>(problem.channels * problem.height * problem.width), number);
            for (size_t i = 0; i < values.size(); i++)
                if (i / run % 2) values[i] = -number;
            const GroupNormStatistics made{Tensor(groups, DataType::f32, device),
                                           Tensor(groups, DataType::f32, device)};
            group_norm_with(row, host_tensor(shape, row.type, values).to(device), {}, {},
                            Tensor(shape, row.type, device), made, problem.options);
            expect_near(made.mean, 0, kFewRoundings, "mean");
            expect_near(made.rstd, 1 / number, kFewRoundings / number, "rstd");
        }
    }
}

// Problems of many pixels, more than the first block of each of a hundred lanes has, and of many
// images.
std::vector<GroupNormProblem> long_gradients(const KernelInfo &row, int64_t pixels,
                                             int64_t images) {
    GroupNormProblem of_pixels = long_problem(row);
    of_pixels.channels = 2 * least_channels(row);
    of_pixels.width = std::min<int64_t>(of_pixels.width, pixels);
    pixels = std::min(pixels, most_elements(row) / (of_pixels.channels / 2));
    of_pixels.height = of_pixels.width == 1 ? 1 : pixels / of_pixels.width;
    GroupNormProblem of_images = of_pixels;
    of_images.batch = images;
    of_images.height = of_images.width = 1;
    return {of_pixels, of_images};
}

// The same of gradients; others than those of f32 are rounded to their type.
TEST_P(GroupNormRow, LosesNothingOfLongGradients) {
    const KernelInfo &row = GetParam();
    if (!long_problem(row).backward || row.type != DataType::f32) GTEST_SKIP();
    for (const GroupNormProblem &problem : long_gradients(row, 50000, 600)) {
        const Shape shape = shape_of(problem);
        const double terms = static_cast<double>(problem.batch * problem.height * problem.width);
        for (const Device device : devices_) {
            for (const double number : kNumbers) {
                const auto elements =
                    static_cast<size_t>(problem.channels) * static_cast<size_t>(terms);
                const Tensor all =
                    host_tensor(shape, row.type, std::vector<double>(elements, number)).to(device);
                const Tensor weight({problem.channels}, row.type, device),
                    bias({problem.channels}, row.type, device), input(shape, row.type, device);
                group_norm_backward_with(row, all, all, {}, same_statistics(problem, 0, 1, device),
                                         {input, weight, bias}, problem.options);
                const double cube = number * number * number;
                expect_near(input, -cube, 2 * kFewRoundings * cube,
                            "input of " + hk::to_string(shape));
                const double sum = terms * number, most = kFewRoundings * sum;
                expect_near(bias, sum, most, "bias of " + hk::to_string(shape));
                expect_near(weight, sum * number, most * number,
                            "weight of " + hk::to_string(shape));
            }
        }
    }
}

// Of a gradient with an infinity, of either sign, in the first of several blocks: what an addition
// loses is none there, and not the difference of infinities.
TEST_P(GroupNormRow, KeepsInfinitiesOfLongGradients) {
    const KernelInfo &row = GetParam();
    if (!long_problem(row).backward) GTEST_SKIP();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const GroupNormProblem &problem : long_gradients(row, 50000, 600)) {
        const Shape shape = shape_of(problem);
        const int64_t pixels = problem.height * problem.width, terms = problem.batch * pixels;
        std::vector<double> values(static_cast<size_t>(problem.channels * terms), 1);
        const Tensor input = host_tensor(shape, row.type, values);
        const auto step = static_cast<size_t>(row.layout == Layout::nhwc ? 1 : pixels);
        values[0] = infinity;
        values[step] = -infinity;
        const Tensor gradient = host_tensor(shape, row.type, values);
        std::vector<double> wanted(static_cast<size_t>(problem.channels),
                                   reference::rounded(row.type, static_cast<double>(terms)));
        wanted[0] = infinity;
        wanted[1] = -infinity;
        for (const Device device : devices_) {
            const Tensor weight({problem.channels}, row.type, device),
                bias({problem.channels}, row.type, device);
            group_norm_backward_with(row, gradient.to(device), input.to(device), {},
                                     same_statistics(problem, 0, 1, device),
                                     {Tensor(), weight, bias}, problem.options);
            for (const Tensor &sums : {weight, bias})
                EXPECT_EQ(reference::read(sums.to(Device::cpu())), wanted) << hk::to_string(shape);
        }
    }
}

// Of the gradient of its input: what lies behind a term of 2^32 times its size, which a later one
// takes away, and, in another image, an infinity. Groups of so many channels that each of 256 lanes
// adds up three blocks; all terms are of one lane, and so few that elsewhere the gradient is what
// the sums give.
TEST_P(GroupNormRow, KeepsSmallTermsOfManyChannels) {
    const KernelInfo &row = GetParam();
    GroupNormProblem problem = long_problem(row);
    if (!problem.backward) GTEST_SKIP();
    constexpr size_t kTerms = 546, kStep = 256, kChannels = kTerms * kStep + 1;
    if (most_elements(row) < int64_t{kChannels}) GTEST_SKIP() << "groups are shorter";
    problem.batch = 2;
    problem.options.groups = 1;
    problem.channels = kChannels;
    problem.height = problem.width = 1;
    const Shape shape = shape_of(problem);
    std::vector<double> gradient(2 * kChannels), weights(kChannels, 1);
    for (size_t i = 0; i < gradient.size(); i++) gradient[i] = i % kChannels % kStep ? 0 : 0.25;
    gradient[0] = 0x1p15;
    gradient[kChannels - 1] = -0x1p15;
    gradient[kChannels] = -std::numeric_limits<double>::infinity();
    weights.front() = weights.back() = 0x1p15;
    const double wanted = -2 * 0.25 * (kTerms - 1) / static_cast<double>(kChannels);
    for (const Device device : devices_) {
        const Tensor ones =
            host_tensor(shape, row.type, std::vector<double>(gradient.size(), 1)).to(device);
        const Tensor input(shape, row.type, device);
        group_norm_backward_with(row, host_tensor(shape, row.type, gradient).to(device), ones,
                                 host_tensor({problem.channels}, row.type, weights).to(device),
                                 same_statistics(problem, 0, 1, device), {input, {}, {}},
                                 problem.options);
        const std::vector<double> got = reference::read(input.to(Device::cpu()));
        EXPECT_NEAR(got[1], wanted, std::abs(wanted) / 4);
        EXPECT_EQ(got[kChannels + 1], std::numeric_limits<double>::infinity());
    }
}

INSTANTIATE_TEST_SUITE_P(Table, GroupNormRow, testing::ValuesIn(group_norm_kernels()),
                         [](const auto &info) { return std::string(info.param.name); });

class GroupNorm : public testing::TestWithParam<std::tuple<DeviceType, DataType, Layout>> {
protected:
    void SetUp() override {
        const std::vector<Device> devices = devices_of(std::get<0>(GetParam()));
        if (devices.empty()) GTEST_SKIP() << "no such device";
        device_ = devices.front();
    }

    GroupNormRequest request() const {
        const auto [device, type, layout] = GetParam();
        return {type, layout, {}, elements_of(device)};
    }

    Device device_;
};

TEST_P(GroupNorm, OfAnyProblem) {
    check_random<GroupNormCase>(device_, 60, [&](uint64_t) { return request(); });
    check_empty<GroupNormCase>(device_, request());
    check_two_threads<GroupNormCase>(device_, request());
}

INSTANTIATE_TEST_SUITE_P(
    Devices, GroupNorm,
    testing::Combine(testing::Values(DeviceType::cpu, DeviceType::cuda, DeviceType::opencl),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16),
                     testing::Values(Layout::nhwc, Layout::nchw)),
    [](const auto &info) {
        return std::string(name_of(std::get<0>(info.param))) + "_" +
               std::string(hk::name_of(std::get<1>(info.param))) + "_" +
               std::string(name_of(std::get<2>(info.param)));
    });

// Bit for bit, the order in which parts of the batch are added up too.
TEST(GroupNormThreads, ChangeNoBit) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        GroupNormCase c;
        c.seed = 5;
        c.problem.batch = 70;
        c.problem.channels = 48;
        c.problem.height = c.problem.width = 9;
        c.problem.options = {layout, 6, 1e-5f};
        const Tensor x = input_of(c), dy = output_gradient_of(c), w = vector_of(c, 3);
        const auto result = [&](int threads) {
            const int before = halide_set_num_threads(threads);
            const Tensor y(x.shape(), x.type()), dx(x.shape(), x.type()), dw({48}, x.type()),
                db({48}, x.type());
            const GroupNormStatistics saved{Tensor({70, 6}, DataType::f32),
                                            Tensor({70, 6}, DataType::f32)};
            group_norm(x, w, {}, y, saved, c.problem.options);
            group_norm_backward(dy, x, w, saved, {dx, dw, db}, c.problem.options);
            halide_set_num_threads(before);
            std::vector<std::vector<uint64_t>> bits;
            for (const Tensor &one : {y, saved.mean, saved.rstd, dx, dw, db})
                bits.push_back(reference::bits(one));
            return bits;
        };
        const auto alone = result(1);
        for (const int threads : {2, 3, 8}) EXPECT_EQ(result(threads), alone) << threads;
    }
}

// Layer normalisation of rows, and instance normalisation.
TEST(GroupNormCases, AreLayerAndInstanceNorm) {
    const Tensor rows = host_tensor({2, 1, 1, 3}, DataType::f32, {1, 2, 3, 10, 10, 40});
    const Tensor of_rows = group_norm(rows);
    const double one = std::sqrt(1.5), two = std::sqrt(0.5);
    const std::vector<double> wanted{-one, 0, one, -two, -two, 2 * two};
    for (size_t i = 0; i < 6; i++) EXPECT_NEAR(of_rows.data<float>()[i], wanted[i], 1e-5);
    const Tensor image = host_tensor({1, 1, 2, 3}, DataType::f32, {1, 5, 7, 3, 5, 8});
    const Tensor instance = group_norm(image, {}, {}, {Layout::nhwc, 3, 1e-12f});
    const std::vector<double> expected{-1, 0, -1, 1, 0, 1};
    for (size_t i = 0; i < 6; i++) EXPECT_NEAR(instance.data<float>()[i], expected[i], 1e-5);
}

}  // namespace
}  // namespace hk::test
