// The real rows of softmax cross-entropy on CUDA, launched on the software device's driver, which
// checks each launch and does not run it.

#include "hk/softmax_cross_entropy.h"
#include "tests/runtime/cuda_rows.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

class CudaSoftmax : public tests::CudaRows<> {
protected:
    void SetUp() override { begin({softmax_cross_entropy_kernels()}); }
};

// With and without each of the results, and in place.
TEST_F(CudaSoftmax, LaunchesOfEveryRowAreLegal) {
    std::set<std::string> launched;
    for (const auto &[rows, classes] :
         {std::pair<int64_t, int64_t>{1, 1}, {64, 10}, {256, 1000}, {100000, 300}, {8, 128000}}) {
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
            const Tensor logits({rows, classes}, type, kDevice),
                gradient({rows, classes}, type, kDevice);
            const Tensor labels({rows}, DataType::s32, kDevice),
                loss({rows}, DataType::f32, kDevice);
            const Tensor none;
            for (const Rung &rung :
                 select_softmax_cross_entropy(rows, classes, type, DeviceType::cuda,
                                              kDevice.limits(), true)
                     .ladder) {
                SCOPED_TRACE(rung.kernel->name);
                driver().clear();
                softmax_cross_entropy_with(*rung.kernel, logits, labels, loss, gradient);
                softmax_cross_entropy_with(*rung.kernel, logits, labels, none, gradient);
                softmax_cross_entropy_with(*rung.kernel, logits, labels, loss, none);
                softmax_cross_entropy_with(*rung.kernel, logits, labels, loss, inplace(logits));
                EXPECT_EQ(tests::launches().size(), 4u);
                expect_launches_of(*rung.kernel);
                launched.insert(rung.kernel->name);
                if (HasFailure()) return;
            }
        }
    }
    EXPECT_EQ(launched, built_);
}

// A device without shared memory takes the row that stages nothing.
TEST_F(CudaSoftmax, HasALadder) {
    const DeviceLimits largest{48 * 1024, 227 * 1024, 1024, 65536, 90};
    const Selection selection =
        select_softmax_cross_entropy(8, 32000, DataType::f32, DeviceType::cuda, largest, true);
    ASSERT_EQ(selection.ladder.size(), 3u);
    EXPECT_STREQ(selection.ladder[0].kernel->row, "block");
    EXPECT_STREQ(selection.ladder[1].kernel->row, "warp");
    EXPECT_STREQ(selection.ladder[2].kernel->row, "unstaged");
    DeviceLimits none = largest;
    none.shared_bytes = none.shared_bytes_opt_in = 0;
    EXPECT_STREQ(
        select_softmax_cross_entropy(8, 32000, DataType::f32, DeviceType::cuda, none).kernel->row,
        "unstaged");
}

TEST_F(CudaSoftmax, FailuresAreExceptions) {
    const Tensor logits({4, 300}, DataType::f32, kDevice), labels({4}, DataType::s32, kDevice);
    const Tensor loss({4}, DataType::f32, kDevice), none;
    tests::fail("cuLaunchKernel", 719);
    EXPECT_ERROR(Error, "softmax_cross_entropy", softmax_cross_entropy(logits, labels, loss, none));
    driver().clear_faults();
    softmax_cross_entropy(logits, labels, loss, none);
}

}  // namespace
}  // namespace hk
