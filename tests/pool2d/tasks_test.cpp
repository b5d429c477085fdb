// Is there work for more threads than one: the tasks of loops that run on the CPU, of rows whose
// sums are in blocks. Rows and planes of nchw may be one there, images not.

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "HalideRuntime.h"
#include "hk/pool2d.h"
#include "tests/kernels/family.h"

namespace hk::test {
namespace {

std::mutex mutex;
std::vector<int> tasks_of_loops;

int note_tasks(void *user_context, halide_task_t task, int first, int size, uint8_t *closure) {
    {
        const std::lock_guard lock(mutex);
        tasks_of_loops.push_back(size);
    }
    return halide_default_do_par_for(user_context, task, first, size, closure);
}

template<typename Call>
std::vector<int> tasks_of(const Call &call) {
    tasks_of_loops.clear();
    const auto former = halide_set_custom_do_par_for(note_tasks);
    call();
    halide_set_custom_do_par_for(former);
    return tasks_of_loops;
}

std::vector<KernelInfo> rows_in_blocks() {
    std::vector<KernelInfo> rows;
    for (const KernelInfo &row : pool2d_backward_kernels()) {
        if (row.device == DeviceType::cpu && row.schedule == std::string_view("in_blocks"))
            rows.push_back(row);
    }
    return rows;
}

class LongPoolGradientTasks : public testing::TestWithParam<KernelInfo> {};

// Rows of windows share no pixel: of nchw all rows of an image are tasks at once.
TEST_P(LongPoolGradientTasks, AreEnough) {
    const KernelInfo &row = GetParam();
    const bool nhwc = row.layout == Layout::nhwc,
               average = std::string_view(row.algorithm).starts_with("average");
    constexpr int kImages = 4, kHeight = 2, kChannels = 3;
    const auto shape = [&](int64_t width) {
        return nhwc ? Shape{kImages, kHeight, width, kChannels}
                    : Shape{kImages, kChannels, kHeight, width};
    };
    const Pool2dOptions options{
        row.layout, average ? Pooling::average : Pooling::max, {1, 3}, {1, 1}};
    const Tensor input = Tensor::zeros(shape(12), row.type), gradient(shape(12), row.type);
    const Tensor output = pool2d(input, options), given = Tensor::zeros(output.shape(), row.type);
    const std::vector<int> tasks =
        tasks_of([&] { pool2d_backward_with(row, given, input, output, gradient, options); });
    ASSERT_FALSE(tasks.empty());
    EXPECT_GE(std::ranges::min(tasks), kImages);
    EXPECT_GE(std::ranges::max(tasks), kImages * kHeight * (nhwc ? 1 : kChannels));
}

INSTANTIATE_TEST_SUITE_P(Table, LongPoolGradientTasks, testing::ValuesIn(rows_in_blocks()),
                         parameter_name);

}  // namespace
}  // namespace hk::test
