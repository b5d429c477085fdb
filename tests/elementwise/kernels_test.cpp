// Does the shipped library work: activations, their gradients and SGD, every row of their tables on
// every device that it runs on here, and what selection takes.

#include <sys/mman.h>

#include <cmath>

#include "hk/error.h"
#include "tests/elementwise/case.h"
#include "tests/elementwise/reference.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

constexpr Elementwise kFamilies[] = {Elementwise::activate, Elementwise::activate_backward,
                                     Elementwise::sgd};

std::vector<KernelInfo> all_rows() {
    std::vector<KernelInfo> rows;
    for (const auto &kernels : {activate_kernels(), activate_backward_kernels(), sgd_kernels()}) {
        rows.insert(rows.end(), kernels.begin(), kernels.end());
    }
    return rows;
}

std::vector<Device> devices_with_rows() {
    return test::devices_with_rows(
        {activate_kernels(), activate_backward_kernels(), sgd_kernels()});
}

int64_t elements_on(Device device) { return device.is_cpu() ? 60000 : 5000; }

class ElementwiseRow : public RowTest {
protected:
    ElementwiseRequest request(Device device) const {
        const KernelInfo &row = GetParam();
        return {elementwise_of(row), row.type, row.where, elements_on(device)};
    }
};

TEST_P(ElementwiseRow, IsTheReference) {
    for (const Device device : devices_) {
        check_row<ElementwiseCase>(GetParam(), device, request(device), device.is_cpu() ? 50 : 12);
    }
}

// Most elements are those past the last vector.
std::vector<Shape> short_runs() {
    std::vector<Shape> shapes;
    for (int64_t length = 1; length < 16; length++) shapes.push_back({length});
    return shapes;
}

// Random problems draw some of them.
TEST_P(ElementwiseRow, IsTheReferenceOfEachActivation) {
    const KernelInfo &row = GetParam();
    ElementwiseCase c{.family = elementwise_of(row), .type = row.type};
    if (c.family == Elementwise::sgd) return;  // which has none
    c.output = c.first = c.second = packed_placement(row.where);
    std::vector<Shape> shapes = short_runs();
    shapes.push_back({3, 333});
    for (const Device device : devices_) {
        for (const ActivationOptions &activation : tested_activations()) {
            c.activation = activation;
            for (const Shape &shape : shapes) {
                c.shape = shape;
                c.seed++;
                EXPECT_EQ(check(c, device, &row), Outcome::passed);
            }
        }
    }
}

TEST_P(ElementwiseRow, StepsShortRuns) {
    const KernelInfo &row = GetParam();
    ElementwiseCase c{.family = elementwise_of(row), .type = row.type};
    if (c.family != Elementwise::sgd) return;
    c.output = c.first = c.second = packed_placement(row.where);
    const bool momentum = range_of(row.where, "momentum").moved(1) == 1;
    for (const Device device : devices_) {
        for (const bool nesterov : {false, momentum}) {
            c.sgd = {0.1f, momentum ? 0.9f : 0, 0.125f, nesterov};
            for (const Shape &shape : short_runs()) {
                c.shape = shape;
                c.seed++;
                EXPECT_EQ(check(c, device, &row), Outcome::passed);
            }
        }
    }
}

// Bit for bit the same in place, of every activation, at lengths around those of vectors and tasks.
TEST_P(ElementwiseRow, IsTheSameInPlace) {
    const KernelInfo &row = GetParam();
    if (elementwise_of(row) == Elementwise::sgd) return;  // which is in place
    ElementwiseCase c{.family = elementwise_of(row), .type = row.type};
    for (const Device device : devices_) {
        for (const ActivationOptions &activation : tested_activations()) {
            c.activation = activation;
            for (const Placement placement : {packed_placement(row.where), Placement::steps}) {
                c.output = c.first = c.second = placement;
                for (const int64_t length : {1, 2, 15, 16, 17, 33, 1000, 16385, 40001}) {
                    if (length > 8 * elements_on(device) / 5) continue;
                    c.seed++;
                    c.shape = {3, length};
                    const bool backward = c.family == Elementwise::activate_backward;
                    for (c.inplace = 1; c.inplace <= 1 + backward; c.inplace++) {
                        ElementwiseCase apart = c;
                        apart.inplace = 0;
                        try {
                            const auto wanted = bits_of_result(apart, device, &row);
                            EXPECT_EQ(bits_of_result(c, device, &row), wanted) << to_string(c);
                        } catch (const InvalidArgument &) {
                            EXPECT_EQ(placement, Placement::steps) << to_string(c);
                        }
                    }
                    if (HasFailure()) return;
                }
            }
        }
    }
}

// A row says what it does not take, instead of running on it.
TEST_P(ElementwiseRow, RefusesOtherTypes) {
    for (const Device device : devices_) {
        ElementwiseRequest other = request(device);
        other.type = other.type == DataType::f32 ? DataType::f16 : DataType::f32;
        const auto c = random_case<ElementwiseCase>(1, other);
        EXPECT_EQ(check(*c, device, &GetParam()), Outcome::refused) << GetParam().name;
    }
}

// At every third place, so that each lane of a vector and of its tail has one.
std::vector<double> with_nans(double other) {
    std::vector<double> values(203, other);
    for (size_t i = 0; i < values.size(); i += 3) values[i] = NAN;
    return values;
}

// What `run(input, output)` makes of NaNs among numbers, packed and at every second place: there it
// is `of_nan`, elsewhere a number.
template<typename Run>
void check_nans(DataType type, Device device, double of_nan, Run run) {
    const std::vector<double> values = with_nans(0.25);
    const int64_t length = std::ssize(values);
    for (const int64_t step : {1, 2}) {
        const auto place = [&](const Tensor &tensor) { return tensor.slice(0, 0, length, step); };
        const Tensor input = place(Tensor({2 * length}, type, device));
        const Tensor output = place(Tensor({2 * length}, type, device));
        input.copy_from(host_tensor({length}, type, values).to(device));
        try {
            run(input, output);
        } catch (const InvalidArgument &) {
            EXPECT_EQ(step, 2);
            continue;
        }
        const std::vector<double> got = reference::read(output.to(Device::cpu()));
        for (size_t i = 0; i < values.size(); i++) {
            const bool wants_nan = std::isnan(values[i]) && std::isnan(of_nan);
            ASSERT_EQ(std::isnan(got[i]), wants_nan) << i << ", step " << step;
            if (std::isnan(values[i]) && !wants_nan) {
                ASSERT_EQ(got[i], reference::rounded(type, of_nan)) << i << ", step " << step;
            }
        }
    }
}

// As PyTorch: f of a NaN is NaN. Of a saved NaN, which no comparison holds of, the gradient of relu
// and clamp is that of the output, of leaky_relu alpha times it, of silu and gelu NaN.
TEST_P(ElementwiseRow, PassesNaNs) {
    const KernelInfo &row = GetParam();
    const Elementwise family = elementwise_of(row);
    if (family == Elementwise::sgd) return;  // of whose sums each is NaN
    for (const Device device : devices_) {
        for (const ActivationOptions &options : tested_activations()) {
            SCOPED_TRACE(std::string(name_of(options.activation)) + " " +
                         std::to_string(options.alpha));
            if (family == Elementwise::activate) {
                check_nans(row.type, device, NAN, [&](const Tensor &input, const Tensor &output) {
                    activate_with(row, input, output, options);
                });
                continue;
            }
            const bool smooth =
                options.activation == Activation::silu || options.activation == Activation::gelu;
            const bool leaky = options.activation == Activation::leaky_relu;
            const std::vector<double> twos(203, 2), quarters(203, 0.25);
            const Tensor two = host_tensor({203}, row.type, twos).to(device);
            const Tensor quarter = host_tensor({203}, row.type, quarters).to(device);
            const double of_saved = smooth ? NAN : leaky ? 2 * options.alpha : 2;
            check_nans(row.type, device, of_saved, [&](const Tensor &saved, const Tensor &result) {
                activate_backward_with(row, two, saved, result, options);
            });
            // Of a clamp whose bounds cross all is outside.
            const bool crossed =
                options.activation == Activation::clamp && options.alpha >= options.beta;
            const double of_gradient = crossed ? 0 : NAN;
            check_nans(row.type, device, of_gradient,
                       [&](const Tensor &gradient, const Tensor &result) {
                           activate_backward_with(row, gradient, quarter, result, options);
                       });
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, ElementwiseRow, testing::ValuesIn(all_rows()), parameter_name);

TEST(ElementwiseOnEveryDevice, IsTheReference) {
    for (const Device device : devices_with_rows()) {
        for (const Elementwise family : kFamilies) {
            check_random<ElementwiseCase>(device, device.is_cpu() ? 150 : 20, [&](uint64_t seed) {
                return ElementwiseRequest{
                    family, kElementwiseTypes[seed % 3], {}, elements_on(device)};
            });
        }
    }
}

TEST(ElementwiseOnEveryDevice, TakesWhatIsEmpty) {
    for (const Device device : devices_with_rows()) {
        for (const Elementwise family : kFamilies) {
            check_empty<ElementwiseCase>(device, ElementwiseRequest{family, DataType::f32});
        }
    }
}

TEST(ElementwiseOnEveryDevice, RunsInTwoThreadsAtOnce) {
    for (const Device device : devices_with_rows()) {
        for (const Elementwise family : kFamilies) {
            check_two_threads<ElementwiseCase>(
                device, ElementwiseRequest{family, DataType::f32, {}, elements_on(device)});
        }
    }
}

TEST(ElementwiseOnTheCpu, IsTheSameWithAnyNumberOfThreads) {
    for (const Elementwise family : kFamilies) {
        ElementwiseCase c{.seed = 3, .family = family, .shape = {1000003}};
        c.activation.activation = Activation::gelu;
        c.sgd = {0.1f, 0.9f, 0.01f, true};
        expect_same_with_threads([&] { return bits_of_result(c, Device::cpu()); }, {2, 5});
    }
}

// Ten steps from velocities of zero: the first one's velocity is the gradient.
TEST(Sgd, StepsFromAVelocityOfZero) {
    const SgdOptions options{0.5f, 0.5f, 0, false};
    for (const Device device : devices_with_rows()) {
        const Tensor p = host_tensor({3}, DataType::f32, {1, 2, 3}).to(device);
        const Tensor v = Tensor::zeros({3}, DataType::f32, device);
        const Tensor g = host_tensor({3}, DataType::f32, {1, 0, -2}).to(device);
        double velocity = 0, moved = 0;
        for (int step = 0; step < 10; step++) {
            sgd_step(p, v, g, options);
            velocity = 0.5 * velocity + 1;
            moved += 0.5 * velocity;
            const auto at = reference::read(p.to(Device::cpu()));
            EXPECT_EQ(at, (std::vector<double>{1 - moved, 2, 3 + 2 * moved})) << step;
            if (step == 0) {
                EXPECT_EQ(reference::read(v.to(Device::cpu())), (std::vector<double>{1, 0, -2}));
            }
        }
    }
}

// More bytes than a kernel counts, of which few are touched: the pages that the rows lie in.
TEST(ElementwiseOnTheCpu, TakesTensorsOfMoreBytesThanAKernelCounts) {
    constexpr int64_t kStride = int64_t{1} << 30, kRows = 3, kLength = 1000;
    constexpr size_t kBytes = (kRows - 1) * kStride * 4 + kLength * 4;
    void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    {
        const Tensor far =
            Tensor::borrow(memory, DataType::f32, {kRows, kLength}, {kStride, 1}, Device::cpu());
        Random random(5);
        const Shape shape{kRows, kLength};
        const Tensor values = host_tensor(shape, DataType::f32, reals(random, shape));
        far.copy_from(values);
        activate(far, inplace(far), {Activation::gelu});
        activate(values, inplace(values), {Activation::gelu});
        EXPECT_EQ(reference::bits(far), reference::bits(values));
    }
    munmap(memory, kBytes);
}

// A dimension more than kernels have, in every order.
TEST(ElementwiseOnEveryDevice, TakesPermutedTensors) {
    std::vector<int> order{0, 1, 2, 3, 4};
    for (const Device device : devices_with_rows()) {
        Random random(9);
        const Shape shape{2, 3, 2, 3, 5};
        std::vector<double> numbers = reals(random, shape);
        const Tensor input = host_tensor(shape, DataType::f32, numbers).to(device);
        for (double &number : numbers) number = reference::activate(number, {});
        const Tensor values = host_tensor(shape, DataType::f32, numbers);
        int round = 0;
        do {
            if (!device.is_cpu() && round++ % 20) continue;
            const Tensor view = input.permute(order);
            const Tensor output(view.shape(), DataType::f32, device);
            activate(view, output);
            EXPECT_EQ(reference::bits(output.to(Device::cpu())),
                      reference::bits(values.permute(order)));
        } while (std::ranges::next_permutation(order).found);
    }
}

}  // namespace
}  // namespace hk::test
