// The real rows of group normalisation on CUDA, launched on the software device's driver, which
// checks each launch and does not run it.

#include <algorithm>

#include "hk/group_norm.h"
#include "tests/runtime/cuda_rows.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

class CudaGroupNorm : public tests::CudaRows<> {
protected:
    void SetUp() override { begin({group_norm_kernels()}); }
};

struct Problem {
    Shape shape;
    GroupNormOptions options;
};

const Problem kProblems[] = {{{2, 5, 7, 24}, {Layout::nhwc, 3, 1e-5f}},
                             {{100000, 1, 1, 300}, {Layout::nhwc, 1, 1e-5f}},
                             {{2, 256, 56, 56}, {Layout::nchw, 32, 1e-5f}},
                             {{1, 64, 9, 1}, {Layout::nchw, 64, 1e-5f}},
                             {{2, 40, 32, 16}, {Layout::nhwc, 2, 1e-5f}},
                             {{1, 256, 256, 16}, {Layout::nchw, 16, 1e-5f}},
                             // More groups than a grid's second dimension has blocks.
                             {{1, 3, 3, 70000}, {Layout::nhwc, 70000, 1e-5f}},
                             {{1, 70000, 2, 2}, {Layout::nchw, 70000, 1e-5f}},
                             {{70000, 8, 2, 2}, {Layout::nchw, 2, 1e-5f}}};

// With and without each of the results, and in place.
TEST_F(CudaGroupNorm, LaunchesOfEveryRowAreLegal) {
    std::set<std::string> launched;
    for (const auto &[shape, options] : kProblems) {
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
            const int64_t channels = shape[options.layout == Layout::nhwc ? 3 : 1];
            const Tensor x(shape, type, kDevice), dy(shape, type, kDevice),
                dx(shape, type, kDevice);
            const Tensor w({channels}, type, kDevice), dw({channels}, type, kDevice),
                db({channels}, type, kDevice);
            const GroupNormStatistics saved{
                Tensor({shape[0], options.groups}, DataType::f32, kDevice),
                Tensor({shape[0], options.groups}, DataType::f32, kDevice)};
            const Tensor none;
            for (const bool backward : {false, true}) {
                const auto problem = GroupNormProblem::from_shape(shape, type, options, backward);
                for (const Rung &rung :
                     select_group_norm(problem, DeviceType::cuda, kDevice.limits(), true).ladder) {
                    SCOPED_TRACE(rung.kernel->name);
                    const KernelInfo &row = *rung.kernel;
                    driver().clear();
                    if (backward) {
                        group_norm_backward_with(row, dy, x, w, saved, {dx, dw, db}, options);
                        group_norm_backward_with(row, dy, x, none, saved, {dx, none, none},
                                                 options);
                        group_norm_backward_with(row, dy, x, w, saved, {none, dw, none}, options);
                        group_norm_backward_with(row, dy, x, w, saved, {inplace(dy), dw, db},
                                                 options);
                        const std::string_view algorithm = row.algorithm;
                        EXPECT_EQ(tests::launches().size(), algorithm == "groups"            ? 12u
                                                            : algorithm == "parts_of_pixels" ? 20u
                                                                                             : 16u);
                    } else {
                        group_norm_with(row, x, w, db, dx, saved, options);
                        group_norm_with(row, x, none, none, dx, {}, options);
                        group_norm_with(row, x, w, none, inplace(x), {saved.mean, none}, options);
                        const bool parts = row.algorithm == std::string_view("parts");
                        EXPECT_EQ(tests::launches().size(), parts ? 9u : 3u);
                    }
                    expect_launches_of(row);
                    launched.insert(row.name);
                    if (HasFailure()) return;
                }
            }
        }
    }
    EXPECT_EQ(launched, built_);
}

// A device without shared memory takes the row that stages nothing.
TEST_F(CudaGroupNorm, HasALadder) {
    const DeviceLimits largest{48 * 1024, 227 * 1024, 1024, 65536, 90};
    DeviceLimits none = largest;
    none.shared_bytes = none.shared_bytes_opt_in = 0;
    for (const bool backward : {false, true}) {
        const auto problem = GroupNormProblem::from_shape({2, 5, 7, 24}, DataType::f32,
                                                          {Layout::nhwc, 3, 1e-5f}, backward);
        const Selection selection = select_group_norm(problem, DeviceType::cuda, largest, true);
        ASSERT_EQ(selection.ladder.size(), backward ? 4u : 5u);
        EXPECT_STREQ(selection.kernel->row, backward ? "gradient_vectors" : "few_vectors");
        EXPECT_STREQ(select_group_norm(problem, DeviceType::cuda, none).kernel->row,
                     backward ? "gradient_unstaged" : "unstaged");
    }
    // Groups that caches don't hold, and of parts of sectors.
    for (const auto &[shape, groups] : {std::pair{Shape{2, 64, 65, 24}, 3}, {{2, 5, 7, 24}, 24}}) {
        const auto problem = GroupNormProblem::from_shape(shape, DataType::f32,
                                                          {Layout::nhwc, groups, 1e-5f}, false);
        EXPECT_STREQ(select_group_norm(problem, DeviceType::cuda, largest).kernel->row, "parts");
    }
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        const bool nhwc = layout == Layout::nhwc;
        const Shape shape = nhwc ? Shape{2, 64, 65, 24} : Shape{2, 24, 64, 65};
        const auto problem =
            GroupNormProblem::from_shape(shape, DataType::f32, {layout, 2, 1e-5f}, true);
        EXPECT_STREQ(select_group_norm(problem, DeviceType::cuda, largest).kernel->row,
                     nhwc ? "gradient_parts" : "gradient");
    }
}

// Of packed tensors by their shape.
TEST_F(CudaGroupNorm, TakesVectorsOfWholeRows) {
    const auto row_of = [](const Shape &shape, int64_t groups, Layout layout) {
        const auto problem =
            GroupNormProblem::from_shape(shape, DataType::f16, {layout, groups, 1e-5f}, false);
        return std::string(
            select_group_norm(problem, DeviceType::cuda, kDevice.limits()).kernel->row);
    };
    EXPECT_EQ(row_of({2, 64, 7, 7}, 4, Layout::nchw), "few_vectors");
    EXPECT_EQ(row_of({2, 1, 1, 1024}, 1, Layout::nhwc), "held_32");
    EXPECT_EQ(row_of({2, 4096, 1, 1}, 1, Layout::nchw), "held_256");
    // Few groups for the blocks of a large GPU, or as many as half of that.
    EXPECT_EQ(row_of({1, 64, 256, 256}, 64, Layout::nchw), "parts");
    EXPECT_EQ(row_of({2, 64, 256, 256}, 64, Layout::nchw), "vectors");
    EXPECT_EQ(row_of({2, 64, 28, 28}, 4, Layout::nchw), "vectors");
    EXPECT_EQ(row_of({2, 64, 7, 7}, 64, Layout::nchw), "block");
    // A group of more elements than a row has: planes are rows.
    EXPECT_EQ(row_of({32, 64, 100, 50}, 4, Layout::nchw), "vectors");
    EXPECT_EQ(row_of({2, 64, 51, 51}, 4, Layout::nchw), "block");
    EXPECT_EQ(row_of({2, 8, 8, 64}, 4, Layout::nhwc), "few_vectors");
    EXPECT_EQ(row_of({2, 32, 32, 64}, 4, Layout::nhwc), "vectors");
    EXPECT_EQ(row_of({2, 8, 8, 36}, 4, Layout::nhwc), "block");
    EXPECT_EQ(row_of({2, 64, 64, 64}, 4, Layout::nhwc), "parts");
}

// Whether the row of vectors takes an image of f32 as its input.
bool takes_vectors(const Tensor &input, Layout layout) {
    const std::string name = "group_norm_vectors_f32_" + std::string(name_of(layout)) + "_cuda";
    const Tensor output(input.shape(), DataType::f32, kDevice);
    for (const KernelInfo &row : group_norm_kernels()) {
        if (row.name != name) continue;
        try {
            group_norm_with(row, input, {}, {}, output, {}, {layout, 2, 1e-5f});
        } catch (const InvalidArgument &) {
            return false;
        }
        return true;
    }
    throw std::runtime_error("no row " + name);
}

// Views of which a row, or where it begins, is no whole vector, or which have no such rows.
TEST_F(CudaGroupNorm, TakesVectorsOfAlignedViews) {
    const auto takes = [](const Tensor &input) { return takes_vectors(input, Layout::nchw); };
    const Tensor whole({3, 12, 8, 10}, DataType::f32, kDevice);
    EXPECT_TRUE(takes(whole));
    EXPECT_TRUE(takes(whole.slice(1, 2, 8)));                // channels
    EXPECT_TRUE(takes(whole.slice(0, 1, 2)));                // images
    EXPECT_FALSE(takes(whole.slice(2, 2, 4)));               // lines
    EXPECT_FALSE(takes(whole.slice(3, 0, 8)));               // columns
    EXPECT_FALSE(takes(whole.slice(1, 0, 6, 2)));            // every second channel
    const Tensor odd({2, 4, 3, 3}, DataType::f32, kDevice);  // of 9 elements a channel
    EXPECT_TRUE(takes(Tensor({2, 8, 3, 3}, DataType::f32, kDevice)));
    EXPECT_FALSE(takes(odd));
    EXPECT_FALSE(takes(Tensor({2, 9, 3, 3}, DataType::f32, kDevice).slice(1, 1, 8)));
}

TEST_F(CudaGroupNorm, TakesVectorsOfAlignedChannels) {
    const auto takes = [](const Tensor &input) { return takes_vectors(input, Layout::nhwc); };
    const Tensor whole({3, 8, 10, 16}, DataType::f32, kDevice);
    EXPECT_TRUE(takes(whole));
    EXPECT_TRUE(takes(whole.slice(3, 4, 8)));                    // channels
    EXPECT_TRUE(takes(whole.slice(2, 0, 5, 2).slice(1, 0, 1)));  // every second column of a line
    EXPECT_TRUE(takes(whole.slice(1, 2, 4)));                    // lines
    EXPECT_FALSE(takes(whole.slice(2, 0, 8)));                   // columns: lines lie apart
    EXPECT_FALSE(takes(whole.slice(3, 2, 8)));                   // begins within a vector
    EXPECT_FALSE(takes(whole.slice(3, 0, 12)));                  // 6 channels a group
    const Tensor odd({3, 8, 10, 18}, DataType::f32, kDevice);
    EXPECT_FALSE(takes(odd.slice(3, 0, 16)));  // pixels begin within a vector
    EXPECT_TRUE(takes(odd.slice(3, 0, 16).slice(2, 0, 5, 2).slice(1, 0, 1)));
}

TEST_F(CudaGroupNorm, FailuresAreExceptions) {
    const Tensor x({1, 2, 2, 4}, DataType::f32, kDevice), y(x.shape(), DataType::f32, kDevice);
    tests::fail("cuLaunchKernel", 719);
    EXPECT_ERROR(Error, "group_norm", group_norm(x, {}, {}, y, {}, {}));
    driver().clear_faults();
    group_norm(x, {}, {}, y, {}, {});
}

}  // namespace
}  // namespace hk
