// Pooling and its gradient: every row of the table on every device that it runs on here, on random
// problems that meet its conditions, and what selection takes.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/convolution/layout_test.h"
#include "tests/pool2d/case.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

constexpr Layout kLayouts[] = {Layout::nhwc, Layout::nchw};

template<typename Case>
class Row : public RowTest {
protected:
    void check_all() {
        const KernelInfo &row = GetParam();
        const double operations = row.device == DeviceType::cpu ? 1e6 : 1e5;
        for (const auto &[data, problems] : {std::pair{Data::integers, 40},
                                             {Data::reals, 20},
                                             {Data::one_nan, 8},
                                             {Data::one_infinity, 4}}) {
            const Conv2dRequest request{row.type, row.layout, data, row.where, operations};
            for (const Device device : devices_) {
                test::check_row<Case>(row, device, request, problems);
            }
        }
    }
};

using Pool2dRow = Row<Pool2dCase>;
using Pool2dBackwardRow = Row<Pool2dBackwardCase>;

TEST_P(Pool2dRow, IsTheReference) { check_all(); }
TEST_P(Pool2dBackwardRow, IsTheGradient) { check_all(); }

INSTANTIATE_TEST_SUITE_P(Table, Pool2dRow, testing::ValuesIn(pool2d_kernels()), parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, Pool2dBackwardRow, testing::ValuesIn(pool2d_backward_kernels()),
                         parameter_name);

class Pool2d : public LayoutTest {
protected:
    void SetUp() override { need(std::get<0>(GetParam())); }
};

TEST_P(Pool2d, OfAnyProblem) {
    check_problems<Pool2dCase>(20);
    check_threads<Pool2dCase>();
}
TEST_P(Pool2d, GradientOfAnyProblem) {
    check_problems<Pool2dBackwardCase>(20);
    check_threads<Pool2dBackwardCase>();
}
INSTANTIATE_TEST_SUITE_P(Devices, Pool2d, layout_tests(), parameter_name);

// More than one task, of images of all sizes, and channels past the end of a vector.
TEST(Pool2dSizes, AreManyTasks) {
    for (const Layout layout : kLayouts) {
        for (const auto &[height, width, channels] :
             {std::array<int64_t, 3>{67, 65, 19}, {3, 5, 3000}, {1, 20000, 1}, {250, 3, 24}}) {
            Pool2dBackwardCase c;
            c.seed = 1;
            c.problem = {DataType::f32, 2, channels, height, width, channels, 3, 2, {}};
            c.problem.options.layout = layout;
            c.problem.options.groups = channels;
            c.problem.options.stride = {2, 1};
            c.problem.options.padding = {1, 1, 1, 0};
            c.data = Data::integers;
            for (const Pooling pooling : {Pooling::max, Pooling::average}) {
                c.pooling = pooling;
                check(static_cast<const Pool2dCase &>(c), Device::cpu());
                check(c, Device::cpu());
            }
        }
    }
}

// The stride of a direction with one window is never gone, however long.
TEST(Pool2dSizes, StridesPastTheInput) {
    for (const Layout layout : kLayouts) {
        for (const Pooling pooling : {Pooling::max, Pooling::average}) {
            Pool2dBackwardCase c;
            c.seed = 2;
            c.pooling = pooling;
            c.problem = {DataType::f32, 2, 5, 6, 9, 5, 2, 3, {}};
            c.problem.options.layout = layout;
            c.problem.options.groups = 5;
            c.problem.options.stride = {2147483647, 2147483647};
            c.problem.options.padding = {1, 0, 2, 1};
            check(static_cast<const Pool2dCase &>(c), Device::cpu());
            check(c, Device::cpu());
        }
    }
}

// Images of nchw whose rows of windows share no pixel become one, where views let them: of even
// heights and others, of planes next to each other and apart.
TEST(Pool2dSizes, ImagesAreJoined) {
    for (const auto &[height, width, kernel] :
         {std::array<int64_t, 3>{6, 10, 2}, {7, 10, 2}, {2, 40, 2}, {8, 8, 2}, {9, 33, 3}}) {
        for (const uint64_t seed : seeds(12)) {
            Random random(seed);
            Pool2dBackwardCase c;
            c.seed = seed;
            c.pooling = one_in(random, 2) ? Pooling::max : Pooling::average;
            c.problem = {DataType::f32, 3, 5, height, width, 5, kernel, kernel, {}};
            c.problem.options.layout = Layout::nchw;
            c.problem.options.groups = 5;
            c.problem.options.stride = {kernel, kernel};
            c.data = Data::integers;
            draw_placements(random, c);
            check(static_cast<const Pool2dCase &>(c), Device::cpu());
            check(c, Device::cpu());
        }
    }
}

struct Window {
    int64_t height, width, kernel_h, kernel_w;
    Padding padding = {};
};

std::string row_of(const Window &window, bool backward, Layout layout = Layout::nchw,
                   Pooling pooling = Pooling::average) {
    Pool2dProblem p{DataType::f32, 2, 70, window.height, window.width, {}};
    p.options = {layout, pooling, {window.kernel_h, window.kernel_w}, {1, 1}, window.padding};
    const DeviceLimits limits = Device::cpu().limits();
    return (backward ? select_pool2d_backward : select_pool2d)(p, DeviceType::cpu, limits, false)
        .kernel->row;
}

// Averages of all of an image, padding or not.
TEST(Pool2dSelection, TakesPlanes) {
    for (const bool backward : {false, true}) {
        for (const Window &whole : {Window{7, 7, 7, 7},
                                    {1, 1, 1, 1},
                                    {300, 500, 300, 500},
                                    {7, 9, 8, 11, {0, 1, 1, 1}},
                                    {7, 9, 9, 9, {1, 1, 0, 0}}}) {
            EXPECT_EQ(row_of(whole, backward), "average_planes");
            EXPECT_NE(row_of(whole, backward, Layout::nhwc), "average_planes");
            EXPECT_NE(row_of(whole, backward, Layout::nchw, Pooling::max), "average_planes");
        }
        for (const Window &part : {Window{7, 7, 7, 6},
                                   {7, 7, 6, 7},
                                   {7, 7, 7, 7, {1, 0, 0, 0}},
                                   {7, 7, 7, 7, {0, 0, 0, 1}}})
            EXPECT_NE(row_of(part, backward), "average_planes");
    }
    // A sum of so many is not one of few terms; a pixel's gradient is no sum.
    EXPECT_NE(row_of({1000, 1000, 1000, 1000}, false), "average_planes");
    EXPECT_EQ(row_of({1000, 1000, 1000, 1000}, true), "average_planes");
}

// Bit for bit; reals, whose sums depend on their order.
TEST(Pool2dThreads, ChangeNoBit) {
    Random random(1);
    const Shape shape{3, 60, 70, 20};
    const Tensor input = host_tensor(shape, DataType::f32, reals(random, shape));
    for (const Layout layout : kLayouts) {
        for (const Pooling pooling : {Pooling::max, Pooling::average}) {
            const Pool2dOptions options{layout, pooling, {5, 5}, {2, 2}, {2, 2, 2, 2}};
            const auto run = [&] {
                const Tensor output = pool2d(input, options), gradient(shape, DataType::f32);
                pool2d_backward(output, input, output, gradient, options);
                return std::pair(reference::bits(output), reference::bits(gradient));
            };
            expect_same_with_threads(run, {2, 3, 8});
        }
    }
}

// One row of windows, 2x2 or 3x3, over two rows of six columns; the gradients are 3, 5, ….
struct Ties {
    const char *name;
    int64_t kernel, padding;
    std::vector<double> input, wanted;
};

class Pool2dMax : public testing::TestWithParam<std::tuple<Ties, Layout>> {};

TEST_P(Pool2dMax, HasItsFirstPixel) {
    const auto &[c, layout] = GetParam();
    const bool nhwc = layout == Layout::nhwc;
    const Shape shape = nhwc ? Shape{1, 2, 6, 1} : Shape{1, 1, 2, 6};
    const Pool2dOptions options{layout,
                                Pooling::max,
                                {c.kernel, c.kernel},
                                {2, 2},
                                {c.padding, c.padding, c.padding, c.padding}};
    const Tensor input = host_tensor(shape, DataType::f32, c.input);
    const Tensor output = pool2d(input, options), result(shape, DataType::f32);
    const std::vector<double> gradients = {3, 5, 7};
    for (size_t i = 0; i < gradients.size(); i++) {
        const auto pixel = std::find(c.wanted.begin(), c.wanted.end(), gradients[i]);
        const double maximum = c.input[static_cast<size_t>(pixel - c.wanted.begin())];
        const double made = output.data<float>()[i];
        EXPECT_TRUE(made == maximum || (std::isnan(made) && std::isnan(maximum))) << made;
    }
    const Tensor gradient = host_tensor(output.shape(), DataType::f32, gradients);
    pool2d_backward(gradient, input, output, result, options);
    EXPECT_EQ(std::vector<double>(result.data<float>(), result.data<float>() + 12), c.wanted);
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

INSTANTIATE_TEST_SUITE_P(
    Windows, Pool2dMax,
    testing::Combine(testing::Values(
                         Ties{"NegativeInfinities",
                              2,
                              0,
                              std::vector<double>(12, -kInf),
                              {3, 0, 5, 0, 7, 0, 0, 0, 0, 0, 0, 0}},
                         Ties{"PaddedNegativeInfinities",
                              3,
                              1,
                              std::vector<double>(12, -kInf),
                              {3, 5, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0}},
                         Ties{"Zeros",
                              2,
                              0,
                              {-0., 0., 0., -0., -1, -2, 0., -0., -0., 0., -0., 0.},
                              {3, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 0}},
                         Ties{"NaN",
                              2,
                              0,
                              {kInf, kNan, kNan, kInf, -kNan, 1, kNan, 0, kNan, kNan, kNan, kInf},
                              {0, 3, 5, 0, 7, 0, 0, 0, 0, 0, 0, 0}}),
                     testing::ValuesIn(kLayouts)),
    [](const auto &info) {
        return std::string(std::get<0>(info.param).name) + "_" +
               std::string(name_of(std::get<1>(info.param)));
    });

}  // namespace
}  // namespace hk::test
