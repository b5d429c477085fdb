// hk::conv2d on OpenCL: queues and contexts of the caller, buffers at any offset, code loaded once.

#include <thread>

#include "hk/conv2d.h"
#include "tests/conv2d/stand_in_kernels.h"
#include "tests/runtime/expect_error.h"
#include "tests/runtime/opencl_caller.h"

namespace hk {
namespace {

using tests::Caller;
using tests::numbers;
using tests::values;

const Device kDevice = Device::opencl(0);
const Conv2dOptions kPadded{.padding = {1, 1, 1, 1}};

class Conv2dOpenCl : public ::testing::Test {
protected:
    std::vector<float> expected(const Conv2dOptions &options = kPadded) const {
        return values(conv2d(input, weight, bias, {}, options));
    }
    Tensor input = numbers({2, 6, 7, 8}, 1), weight = numbers({12, 3, 3, 8}, 2),
           bias = numbers({12}, 3);
};

TEST_F(Conv2dOpenCl, AgreesWithTheCpu) {
    const Tensor output =
        conv2d(input.to(kDevice), weight.to(kDevice), bias.to(kDevice), {}, kPadded);
    EXPECT_EQ(output.device(), kDevice);
    EXPECT_EQ(values(output), expected());
    EXPECT_EQ(values(conv2d(input.to(kDevice), weight.to(kDevice), {}, {}, kPadded)),
              values(conv2d(input, weight, {}, {}, kPadded)));
}

TEST_F(Conv2dOpenCl, EmptyBatch) {
    EXPECT_EQ(conv2d(Tensor({0, 6, 7, 8}, DataType::f32, kDevice), weight.to(kDevice)).elements(),
              0);
}

// Offsets that a kernel's buffer can start at, and those that it can't.
TEST_F(Conv2dOpenCl, ViewsAtAnyOffset) {
    for (const int64_t offset : {0, 1, 5, 32, 64}) {
        const auto place = [&](const Tensor &host) {
            const Tensor whole =
                Tensor::zeros({host.elements() + offset + 7}, DataType::f32, kDevice);
            const Tensor view = whole.slice(0, offset, host.elements()).reshape(host.shape());
            view.copy_from(host);
            return view;
        };
        const Tensor output = place(numbers({2, 6, 7, 12}, 4));
        conv2d(place(input), place(weight), place(bias), {}, output, kPadded);
        EXPECT_EQ(values(output), expected()) << offset;
        conv2d(place(input), place(weight), {}, {}, output, kPadded);
        EXPECT_EQ(values(output), values(conv2d(input, weight, {}, {}, kPadded))) << offset;
    }
}

TEST_F(Conv2dOpenCl, StridedAndReversedViews) {
    const auto view = [](const Tensor &t) {
        return t.slice(1, 5, 4, -1).slice(2, 1, 5).slice(3, 2, 4);
    };
    const auto filters = [](const Tensor &t) { return t.slice(0, 11, 6, -2).slice(3, 0, 4); };
    const Tensor whole = input.to(kDevice), canvas = numbers({2, 6, 7, 12}, 4).to(kDevice);
    const Tensor output = canvas.slice(1, 5, 4, -1).slice(2, 2, 5).slice(3, 3, 6);
    const Tensor every_second = bias.slice(0, 0, 6, 2);
    const std::vector<float> wanted =
        values(conv2d(view(input), filters(weight), every_second, {}, kPadded));
    conv2d(view(whole), filters(weight.to(kDevice)), bias.to(kDevice).slice(0, 0, 6, 2), {}, output,
           kPadded);
    EXPECT_EQ(values(output), wanted);
    EXPECT_EQ(values(canvas.slice(3, 0, 3)), values(numbers({2, 6, 7, 12}, 4).slice(3, 0, 3)));
}

TEST_F(Conv2dOpenCl, OnTheCallersQueue) {
    Caller caller;
    const Tensor output = caller.tensor(numbers({2, 6, 7, 12}, 4));
    for (const Stream &stream : {Stream{caller.context, caller.queue},
                                 Stream{nullptr, caller.queue}, Stream{caller.context, nullptr}}) {
        output.fill_zero();
        conv2d(caller.tensor(input), caller.tensor(weight), caller.tensor(bias), {}, output,
               kPadded, stream);
        if (stream.handle) {
            std::vector<float> result(static_cast<size_t>(output.elements()));
            caller.read(caller.queue, caller.buffers[0], CL_TRUE, 0, result.size() * 4,
                        result.data(), 0, nullptr, nullptr);
            EXPECT_EQ(result, expected());
        }
        EXPECT_EQ(values(output), expected());
    }
}

// What stands for the absent bias is of the caller's context too, whatever the weight's view.
TEST_F(Conv2dOpenCl, WithoutABiasOnTheCallersQueue) {
    Caller caller;
    const Tensor output = caller.tensor(numbers({2, 6, 7, 12}, 4));
    const Tensor twice = numbers({24, 3, 3, 8}, 2), every_second = twice.slice(0, 0, 12, 2);
    conv2d(caller.tensor(input), caller.tensor(twice).slice(0, 0, 12, 2), {}, {}, output, kPadded,
           {caller.context, caller.queue});
    caller.finish(caller.queue);
    EXPECT_EQ(values(output), values(conv2d(input, every_second, {}, {}, kPadded)));
}

// Halide's runtime keeps a program a context: contexts don't disturb each other, and a second call
// loads nothing.
TEST_F(Conv2dOpenCl, CodeIsLoadedOnceAContext) {
    Caller first, second;
    cl_uint after_first_call = 0;
    for (int i = 0; i < 3; i++) {
        for (Caller *caller : {&first, &second}) {
            const Tensor output = caller->tensor(numbers({2, 6, 7, 12}, 4));
            conv2d(caller->tensor(input), caller->tensor(weight), caller->tensor(bias), {}, output,
                   kPadded, {caller->context, caller->queue});
            caller->finish(caller->queue);  // reading is on the library's queue
            EXPECT_EQ(values(output), expected());
            for (cl_mem buffer : caller->buffers) caller->release_memory(buffer);
            caller->buffers.clear();
            if (i == 0 && caller == &second) after_first_call = second.references();
        }
        EXPECT_EQ(
            values(conv2d(input.to(kDevice), weight.to(kDevice), bias.to(kDevice), {}, kPadded)),
            expected());
    }
    EXPECT_EQ(second.references(), after_first_call);
    // Forgotten, the context is the caller's alone, but for his queue.
    kDevice.forget(second.context);
    EXPECT_EQ(second.references(), 2u);
}

TEST_F(Conv2dOpenCl, BadStreams) {
    Caller caller, other;
    const Tensor output = caller.tensor(numbers({2, 6, 7, 12}, 4));
    const auto run = [&](const Tensor &input, const Stream &stream) {
        conv2d(input, caller.tensor(weight), {}, {}, output, kPadded, stream);
    };
    EXPECT_INVALID("belongs to another context",
                   run(caller.tensor(input), {other.context, caller.queue}));
    const Tensor odd = caller.tensor(numbers({2 * 6 * 7 * 8 + 1}, 1))
                           .slice(0, 1, 2 * 6 * 7 * 8)
                           .reshape({2, 6, 7, 8});
    EXPECT_INVALID("input starts at byte 4", run(odd, {caller.context, caller.queue}));
    EXPECT_INVALID("input belongs to another context",
                   run(other.tensor(input), {caller.context, caller.queue}));
    EXPECT_INVALID("input belongs to another context of opencl:0", run(caller.tensor(input), {}));
    run(caller.tensor(input), {caller.context, caller.queue});
    caller.finish(caller.queue);
    EXPECT_EQ(values(output), values(conv2d(input, weight, {}, {}, kPadded)));
}

TEST_F(Conv2dOpenCl, FromThreadsOnTwoQueues) {
    const std::vector<float> wanted = expected();
    Caller caller;  // before the threads: PoCL's first calls are not safe from several
    const auto work = [&](bool own) {
        for (int i = 0; i < 10; i++) {
            const Tensor output = own ? Tensor({2, 6, 7, 12}, DataType::f32, kDevice)
                                      : caller.tensor(numbers({2, 6, 7, 12}, 4));
            if (own) {
                conv2d(input.to(kDevice), weight.to(kDevice), bias.to(kDevice), {}, output,
                       kPadded);
                EXPECT_EQ(values(output), wanted);
                continue;
            }
            conv2d(caller.tensor(input), caller.tensor(weight), caller.tensor(bias), {}, output,
                   kPadded, {caller.context, caller.queue});
            std::vector<float> result(wanted.size());
            const cl_mem buffer = caller.buffers[caller.buffers.size() - 4];
            caller.read(caller.queue, buffer, CL_TRUE, 0, result.size() * 4, result.data(), 0,
                        nullptr, nullptr);
            EXPECT_EQ(result, wanted);
        }
    };
    std::thread other(work, false), third(work, true);
    work(true);
    other.join();
    third.join();
}

}  // namespace
}  // namespace hk
