// Is there work for more threads than one: the tasks of a call on the CPU that may run at once,
// whatever the row.

#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "HalideRuntime.h"
#include "hk/conv2d.h"

namespace hk::test {
namespace {

std::atomic<int> most_tasks = 0;
thread_local int tasks_around = 1;  // that the running one is one of

struct Tasks {
    halide_task_t task;
    uint8_t *closure;
    int number;
};

int run_task(void *user_context, int index, uint8_t *closure) {
    const Tasks &tasks = *reinterpret_cast<const Tasks *>(closure);
    const int former = std::exchange(tasks_around, tasks.number);
    const int result = tasks.task(user_context, index, tasks.closure);
    tasks_around = former;
    return result;
}

int count_tasks(void *user_context, halide_task_t task, int first, int size, uint8_t *closure) {
    Tasks tasks{task, closure, tasks_around * size};
    int most = most_tasks;
    while (most < tasks.number && !most_tasks.compare_exchange_weak(most, tasks.number)) {
    }
    return halide_default_do_par_for(user_context, run_task, first, size,
                                     reinterpret_cast<uint8_t *>(&tasks));
}

struct Sizes {
    const char *name;
    int64_t channels, filters, image, kernel, groups;
};

class Conv2dTasks : public testing::TestWithParam<std::tuple<Sizes, Layout, bool>> {};

TEST_P(Conv2dTasks, AreAtLeastSeven) {
    const auto &[s, layout, prepared] = GetParam();
    Conv2dOptions options;
    options.layout = layout;
    options.groups = s.groups;
    const int64_t before = s.kernel / 2;
    options.padding = {before, before, before, before};
    const int64_t channels = s.channels / s.groups;
    const bool nhwc = layout == Layout::nhwc;
    const Tensor input = Tensor::zeros(
        nhwc ? Shape{1, s.image, s.image, s.channels} : Shape{1, s.channels, s.image, s.image},
        DataType::f32);
    const Tensor weight = Tensor::zeros(nhwc ? Shape{s.filters, s.kernel, s.kernel, channels}
                                             : Shape{s.filters, channels, s.kernel, s.kernel},
                                        DataType::f32);
    const Filter filter = prepared ? prepare_filter(weight) : weight;
    if (prepared) conv2d(input, filter, {}, {}, options);  // packs
    most_tasks = 0;
    const auto former = halide_set_custom_do_par_for(count_tasks);
    conv2d(input, filter, {}, {}, options);
    halide_set_custom_do_par_for(former);
    EXPECT_GE(most_tasks, 7);
}

std::string name_of_case(const testing::TestParamInfo<Conv2dTasks::ParamType> &info) {
    const auto &[sizes, layout, prepared] = info.param;
    return std::string(sizes.name) + "_" + std::string(name_of(layout)) +
           (prepared ? "_prepared" : "_plain");
}

INSTANTIATE_TEST_SUITE_P(
    All, Conv2dTasks,
    testing::Combine(testing::Values(Sizes{"pointwise_many_pixels", 64, 256, 56, 1, 1},
                                     Sizes{"pointwise_many_filters", 512, 2048, 7, 1, 1},
                                     Sizes{"pointwise", 256, 256, 14, 1, 1},
                                     Sizes{"first", 3, 64, 56, 7, 1},
                                     Sizes{"dense", 64, 64, 28, 3, 1},
                                     Sizes{"dense_small", 512, 512, 7, 3, 1},
                                     Sizes{"grouped", 128, 128, 14, 3, 32},
                                     Sizes{"depthwise", 144, 144, 28, 3, 144}),
                     testing::Values(Layout::nhwc, Layout::nchw), testing::Bool()),
    name_of_case);

}  // namespace
}  // namespace hk::test
