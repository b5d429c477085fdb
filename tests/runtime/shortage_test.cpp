// What is told where a pool has no memory left: the operation, whatever it wanted the memory for.

#include "expect_error.h"
#include "hk/conv2d_backward.h"
#include "hk/memory.h"
#include "hk/pool2d.h"
#include "hk/quantized_conv2d.h"
#include "hk/topk.h"
#include "repeated.h"

namespace hk {
namespace {

// Sets a limit on the host's pool, as long as it lives.
class Limited {
public:
    Limited() {
        pool_.trim();
        pool_.set_limit(pool_.statistics().reserved + (int64_t{1} << 20));
    }
    ~Limited() { pool_.set_limit(INT64_MAX); }

private:
    MemoryPool pool_ = MemoryPool::of(Device::cpu());
};

template<typename F>
void expect_named(const std::string &operation, F &&call) {
    const std::string message = tests::message_of<OutOfMemory>(call);
    EXPECT_EQ(message.find(operation + ": "), 0u) << message;
    EXPECT_TRUE(tests::has(message, "cpu: no memory left: asked for ")) << message;
}

TEST(Shortage, OfOutputsNamesTheOperation) {
    const Tensor image = repeated({1, 2048, 2048, 16}), filter = repeated({16, 3, 3, 16});
    const Tensor bytes = repeated({1, 2048, 2048, 16}, DataType::u8);
    const Tensor weight = repeated({16, 3, 3, 16}, DataType::s8);
    const Tensor numbers = repeated({1 << 12, 1 << 12});
    const Limited limited;
    expect_named("conv2d", [&] { conv2d(image, filter); });
    expect_named("conv2d_backward_data", [&] {
        conv2d_backward_data(image, filter, {1, 2050, 2050, 16});
    });
    expect_named("conv2d_backward_weight", [&] {
        conv2d_backward_weight(repeated({1, 1, 1, 16}), image, {16, 2048, 2048, 16});
    });
    expect_named("quantized_conv2d", [&] { quantized_conv2d({bytes, {1}}, {weight, {1}}); });
    expect_named("pool2d", [&] { pool2d(image); });
    expect_named("topk", [&] { topk(numbers, 2000); });
    expect_named("topk", [&] { topk_values(numbers, 2000); });
    expect_named("topk", [&] { argsort(numbers); });
}

TEST(Shortage, OfTensorsNamesTheOperation) {
    const Tensor numbers = repeated({1 << 12, 1 << 12});
    const Limited limited;
    expect_named("tensor", [&] { Tensor(numbers.shape(), DataType::f32); });
    expect_named("to", [&] { numbers.to(Device::cpu()); });
    expect_named("contiguous", [&] { numbers.contiguous(); });
    expect_named("cast", [&] { numbers.cast(DataType::s32); });
}

}  // namespace
}  // namespace hk
