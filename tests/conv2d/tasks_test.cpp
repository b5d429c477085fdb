// Is there work for more threads than one: the tasks of a call on the CPU that may run at once,
// whatever the row. And do the random problems reach what they are meant to reach.

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "HalideRuntime.h"
#include "hk/conv2d.h"
#include "tests/conv2d/case.h"

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
    int tasks = 7;  // at least; fewer of small layers, whose tasks are whole pairs of cache lines
};

// Of a call.
int tasks_of(const Sizes &s, Layout layout, DataType type, bool prepared) {
    Conv2dOptions options;
    options.layout = layout;
    options.groups = s.groups;
    const int64_t before = s.kernel / 2;
    options.padding = {before, before, before, before};
    const Tensor input = Tensor::zeros(image_shape(layout, 1, s.image, s.image, s.channels), type);
    const Tensor weight = Tensor::zeros(
        image_shape(layout, s.filters, s.kernel, s.kernel, s.channels / s.groups), type);
    const Filter filter = prepared ? prepare_filter(weight) : weight;
    if (prepared) conv2d(input, filter, {}, {}, options);  // packs
    most_tasks = 0;
    const auto former = halide_set_custom_do_par_for(count_tasks);
    conv2d(input, filter, {}, {}, options);
    halide_set_custom_do_par_for(former);
    return most_tasks;
}

class Conv2dTasks : public testing::TestWithParam<std::tuple<Sizes, Layout, bool>> {};

TEST_P(Conv2dTasks, AreEnough) {
    const auto &[sizes, layout, prepared] = GetParam();
    EXPECT_GE(tasks_of(sizes, layout, DataType::f32, prepared), sizes.tasks);
}

// Of matrices, where the library has rows for them.
TEST(Conv2dMatrixTasks, AreEnough) {
    if (!Device::cpu().limits().tile_registers) GTEST_SKIP() << "no tile registers";
    const int former = halide_set_num_threads(2);
    for (const Sizes &sizes :
         {Sizes{"pointwise_many_pixels", 64, 256, 56, 1, 1},
          Sizes{"pointwise_many_filters", 512, 2048, 7, 1, 1},
          Sizes{"pointwise", 256, 256, 14, 1, 1}, Sizes{"first", 3, 64, 56, 7, 1},
          Sizes{"dense", 64, 64, 28, 3, 1}, Sizes{"dense_small", 512, 512, 7, 3, 1}})
        EXPECT_GE(tasks_of(sizes, Layout::nhwc, DataType::bf16, true), sizes.tasks) << sizes.name;
    halide_set_num_threads(former);
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
                                     Sizes{"grouped", 128, 128, 14, 3, 32, 4},
                                     Sizes{"depthwise", 144, 144, 28, 3, 144, 5}),
                     testing::Values(Layout::nhwc, Layout::nchw), testing::Bool()),
    name_of_case);

TEST(Conv2dCase, CoversTheUnusualShapes) {
    std::map<std::string, int> seen;
    int made = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        const auto c = random_case<Conv2dCase>(seed, {});
        if (!c) {
            continue;
        }
        made++;
        const Conv2dProblem &p = c->problem;
        const Conv2dOptions &o = p.options;
        const Padding &pad = o.padding;
        seen["odd channels"] += p.channels % 2 && p.channels > 1;
        seen["depthwise"] += o.groups > 1 && p.channels == o.groups && p.filters == o.groups;
        seen["multiplier"] += p.channels == o.groups && p.filters > o.groups && o.groups > 1;
        seen["grouped"] += o.groups > 1 && p.channels > o.groups;
        seen["kernel larger than image"] += p.kernel_height > p.height || p.kernel_width > p.width;
        seen["stride larger than kernel"] += o.stride[0] > p.kernel_height;
        seen["dilated"] += o.dilation[0] > 1 && p.kernel_height > 1;
        seen["asymmetric"] += pad.top != pad.bottom || pad.left != pad.right;
        seen["pointwise"] += p.kernel_height == 1 && p.kernel_width == 1;
        seen["view"] += c->input != Placement::packed;
        EXPECT_GE(p.output_height(), 1) << to_string(*c);
        EXPECT_GE(p.output_width(), 1) << to_string(*c);
        EXPECT_LE(p.operations(), 1e6) << to_string(*c);
    }
    EXPECT_GT(made, 250);
    for (const auto &[kind, times] : seen) {
        EXPECT_GE(times, 5) << kind;
    }
}

}  // namespace
}  // namespace hk::test
