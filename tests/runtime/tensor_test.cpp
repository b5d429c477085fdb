#include "hk/tensor.h"

#include "HalideRuntime.h"
#include "counted.h"
#include "expect_error.h"

namespace hk {
namespace {

using Values = std::vector<int32_t>;

TEST(Tensor, UndefinedHasNothing) {
    const Tensor tensor;
    EXPECT_FALSE(tensor.defined());
    EXPECT_EQ(tensor.rank(), 0);
    EXPECT_EQ(tensor.elements(), 0);
    EXPECT_FALSE(tensor.overlaps(tensor));
    EXPECT_INVALID("undefined", tensor.data<float>());
    EXPECT_INVALID("undefined", tensor.to(Device::cpu()));
    EXPECT_INVALID("undefined", tensor.to_dlpack());
    EXPECT_INVALID("undefined", tensor.fill_zero());
    halide_buffer_t buffer;
    EXPECT_INVALID("undefined", tensor.halide_view(buffer, nullptr));
}

TEST(Tensor, ShapesAndStrides) {
    const Tensor tensor({2, 3, 4}, DataType::bf16);
    EXPECT_EQ(tensor.strides(), (Shape{12, 4, 1}));
    EXPECT_EQ(tensor.elements(), 24);
    EXPECT_TRUE(tensor.packed());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data<uint16_t>()) % 128, 0u);
    EXPECT_EQ(Tensor({}, DataType::f32).elements(), 1);
    EXPECT_EQ(Tensor({4, 0, 2}, DataType::f32).elements(), 0);
    EXPECT_EQ(to_string(tensor.shape()), "[2, 3, 4]");
    EXPECT_EQ(to_string({}), "[]");
}

TEST(Tensor, BadShapes) {
    EXPECT_INVALID("negative size -1", Tensor({2, -1}, DataType::f32));
    EXPECT_INVALID("[4294967296, 4294967296]", Tensor({1LL << 32, 1LL << 32}, DataType::f32));
    EXPECT_INVALID("needs more than", Tensor({1LL << 61}, DataType::f64));
    EXPECT_INVALID("needs more than", Tensor({0, 1LL << 61, 16}, DataType::f64));
    EXPECT_ERROR(OutOfMemory, "1152921504606846976 bytes", Tensor({1LL << 60}, DataType::u8));
}

TEST(Tensor, DataChecksTypeAndDevice) {
    const Tensor tensor({2}, DataType::f16);
    EXPECT_INVALID("4 bytes, f16 has 2", tensor.data<float>());
}

TEST(Tensor, ZerosAreZero) {
    const Tensor tensor = Tensor::zeros({3, 5}, DataType::s32);
    EXPECT_EQ(values(tensor), Values(15, 0));
}

TEST(Tensor, Slices) {
    const Tensor tensor = counted({3, 4});
    const Tensor columns = tensor.slice(1, 1, 2);
    EXPECT_EQ(values(columns), (Values{1, 2, 5, 6, 9, 10}));
    EXPECT_FALSE(columns.packed());
    EXPECT_EQ(columns.offset(), 1);
    EXPECT_EQ(values(tensor.slice(-2, 1, 1)), (Values{4, 5, 6, 7}));
    EXPECT_EQ(values(tensor.slice(1, 3, 2, -2)), (Values{3, 1, 7, 5, 11, 9}));
    EXPECT_EQ(values(tensor.slice(0, 2, 3, -1).slice(1, 0, 1)), (Values{8, 4, 0}));
    EXPECT_EQ(tensor.slice(1, 4, 0).elements(), 0);
    EXPECT_EQ(*tensor.slice(0, 1, 1).slice(1, 2, 1).data<int32_t>(), 6);
}

TEST(Tensor, BadSlices) {
    const Tensor tensor = counted({3, 4});
    EXPECT_INVALID("dimension 2 of a tensor with 2", tensor.slice(2, 0, 1));
    EXPECT_INVALID("dimension -3", tensor.slice(-3, 0, 1));
    EXPECT_INVALID("length 5, step 1 of dimension 1, which has size 4", tensor.slice(1, 0, 5));
    EXPECT_INVALID("start 4", tensor.slice(1, 4, 1));
    EXPECT_INVALID("start -1", tensor.slice(1, -1, 1));
    EXPECT_INVALID("step 0", tensor.slice(1, 0, 2, 0));
    EXPECT_INVALID("step -1", tensor.slice(1, 0, 2, -1));
    EXPECT_INVALID("length -1", tensor.slice(1, 0, -1));
    EXPECT_INVALID("length 3", tensor.slice(1, 0, 3, INT64_MAX));
    EXPECT_INVALID("length -9223372036854775808", tensor.slice(1, 0, INT64_MIN));
    EXPECT_INVALID("start 9223372036854775807", tensor.slice(1, INT64_MAX, 2));
}

// Strides that are never used may be any: no arithmetic is done on them (seen by UBSan).
TEST(Tensor, IdleStrides) {
    constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
    int32_t data[4] = {0, 1, 2, 3};
    const Tensor none = Tensor::borrow(data, DataType::s32, {4, 0, 4}, {kMost, 1, kLeast});
    EXPECT_EQ(none.slice(0, 1, 2, 2).slice(2, 3, 2, -3).shape(), (Shape{2, 0, 2}));
    EXPECT_FALSE(none.overlaps(none));
    none.copy_from(none.to(Device::cpu()));
    none.fill_zero();
    const Tensor one = Tensor::borrow(data, DataType::s32, {1, 4, 1}, {kMost, 1, kLeast});
    EXPECT_EQ(values(one.slice(0, 0, 1, kMost).slice(2, 0, 1, kLeast)), (Values{0, 1, 2, 3}));
    EXPECT_TRUE(one.overlaps(one.slice(1, 2, 2)));
    EXPECT_FALSE(one.slice(1, 0, 2).overlaps(one.slice(1, 2, 2)));
    EXPECT_EQ(values(one.reshape({2, 2})), (Values{0, 1, 2, 3}));
    one.fill_zero();
    EXPECT_EQ(data[3], 0);
}

// Views that nobody reads, at the end of what may be spanned.
TEST(Tensor, FarViews) {
    int8_t data[2] = {};
    constexpr int64_t kFar = int64_t{1} << 61;
    const auto borrowed = [&](int8_t *at, int64_t stride) {
        return Tensor::borrow(at, DataType::s8, {2}, {stride});
    };
    const Tensor far = borrowed(data + 1, kFar - 1), back = borrowed(data, -kFar);
    EXPECT_FALSE(far.overlaps(back));
    EXPECT_TRUE(far.overlaps(borrowed(data, 1)));
    EXPECT_TRUE(back.overlaps(borrowed(data, 1)));
    int8_t *const high = reinterpret_cast<int8_t *>(INT64_MAX - 7);
    int8_t *const low = reinterpret_cast<int8_t *>(int64_t{8});
    EXPECT_FALSE(borrowed(high, kFar - 1).overlaps(far));
    EXPECT_TRUE(borrowed(high, kFar - 1).overlaps(borrowed(high, 1)));
    EXPECT_FALSE(borrowed(low, -kFar).overlaps(borrowed(high, kFar - 1)));
    EXPECT_INVALID("span more than 2305843009213693952 bytes", borrowed(data, kFar));
    EXPECT_INVALID("span more than", borrowed(data, INT64_MIN));
}

TEST(Tensor, Permutes) {
    const Tensor tensor = counted({2, 3}).permute({1, 0});
    EXPECT_EQ(tensor.shape(), (Shape{3, 2}));
    EXPECT_EQ(values(tensor), (Values{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(values(tensor.permute({-1, -2})), (Values{0, 1, 2, 3, 4, 5}));
    EXPECT_INVALID("1 places of a tensor with 2", tensor.permute({0}));
    EXPECT_INVALID("dimension 1 stands twice", tensor.permute({1, 1}));
    EXPECT_INVALID("dimension 2", tensor.permute({0, 2}));
}

TEST(Tensor, Reshapes) {
    const Tensor tensor = counted({2, 3, 4});
    EXPECT_EQ(values(tensor.reshape({6, 4})), values(tensor));
    EXPECT_EQ(values(tensor.reshape({24})), values(tensor));
    EXPECT_EQ(tensor.reshape({1, 4, 1, 6}).strides(), (Shape{24, 6, 6, 1}));
    EXPECT_INVALID("has 25 elements, the tensor has 24", tensor.reshape({25}));
    // Of views: what lies evenly can be split and joined, the rest needs a copy.
    const Tensor half = tensor.slice(2, 0, 2);
    EXPECT_EQ(values(half.reshape({6, 2})), values(half));
    EXPECT_EQ(half.reshape({6, 2}).strides(), (Shape{4, 1}));
    EXPECT_EQ(values(half.reshape({3, 2, 1, 2})), values(half));
    EXPECT_INVALID("needs a copy", half.reshape({12}));
    const Tensor swapped = tensor.permute({0, 2, 1});
    EXPECT_EQ(values(swapped.reshape({2, 2, 2, 3})), values(swapped));
    EXPECT_INVALID("needs a copy", swapped.reshape({2, 12}));
    EXPECT_EQ(Tensor({0, 3}, DataType::f32).reshape({5, 0}).shape(), (Shape{5, 0}));
    const Tensor reversed = counted({4}).slice(0, 3, 4, -1);
    EXPECT_EQ(values(reversed.reshape({2, 2})), (Values{3, 2, 1, 0}));
}

TEST(Tensor, ViewsShareStorageAndKeepIt) {
    Tensor row;
    {
        const Tensor tensor = counted({2, 2});
        row = tensor.slice(0, 1, 1);
        *tensor.slice(0, 1, 1).data<int32_t>() = 42;
    }
    EXPECT_EQ(values(row), (Values{42, 3}));
}

TEST(Tensor, Borrows) {
    int32_t data[6] = {0, 1, 2, 3, 4, 5};
    EXPECT_EQ(values(Tensor::borrow(data, DataType::s32, {2, 3})), (Values{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(values(Tensor::borrow(data, DataType::s32, {2, 2}, {3, 2})), (Values{0, 2, 3, 5}));
    EXPECT_EQ(values(Tensor::borrow(data, DataType::s32, {2, 3}, {0, 1})),
              (Values{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(values(Tensor::borrow(data + 5, DataType::s32, {3}, {-2})), (Values{5, 3, 1}));
    EXPECT_EQ(Tensor::borrow(nullptr, DataType::s32, {0, 3}).elements(), 0);
    EXPECT_INVALID("null, shape [2] has 2 elements", Tensor::borrow(nullptr, DataType::s32, {2}));
    char *odd = reinterpret_cast<char *>(data) + 2;
    EXPECT_INVALID("s32 needs a multiple of 4", Tensor::borrow(odd, DataType::s32, {1}));
    EXPECT_INVALID("are 1, shape [2, 3] has 2", Tensor::borrow(data, DataType::s32, {2, 3}, {1}));
    EXPECT_INVALID("negative size -2", Tensor::borrow(data, DataType::s32, {-2}));
    EXPECT_INVALID("span more than", Tensor::borrow(data, DataType::s32, {3}, {1LL << 61}));
    EXPECT_ERROR(DeviceError, "opencl:99",
                 Tensor::borrow(data, DataType::s32, {3}, {}, Device::opencl(99)));
}

TEST(Tensor, Overlap) {
    const Tensor tensor = counted({4, 6, 8});
    const auto channels = [&](int64_t start, int64_t length) {
        return tensor.slice(2, start, length);
    };
    EXPECT_TRUE(tensor.overlaps(tensor));
    EXPECT_TRUE(tensor.overlaps(channels(3, 1)));
    EXPECT_FALSE(tensor.overlaps(counted({4, 6, 8})));
    EXPECT_FALSE(channels(0, 4).overlaps(channels(4, 4)));
    EXPECT_TRUE(channels(0, 5).overlaps(channels(4, 4)));
    EXPECT_FALSE(tensor.slice(1, 0, 3).overlaps(tensor.slice(1, 3, 3)));
    EXPECT_TRUE(tensor.slice(1, 0, 4).overlaps(tensor.slice(1, 3, 3)));
    EXPECT_FALSE(tensor.slice(0, 0, 2).overlaps(tensor.slice(0, 2, 2)));
    EXPECT_FALSE(tensor.slice(1, 0, 3, 2).overlaps(tensor.slice(1, 1, 3, 2)));
    EXPECT_FALSE(tensor.slice(2, 6, 4, -2).overlaps(tensor.slice(2, 1, 4, 2)));
    EXPECT_TRUE(tensor.slice(2, 7, 4, -2).overlaps(tensor.slice(2, 1, 4, 2)));
    EXPECT_FALSE(tensor.overlaps(tensor.slice(0, 0, 0)));
    // Two tensors over the same memory of a caller.
    float data[8];
    const Tensor low = Tensor::borrow(data, DataType::f32, {5});
    EXPECT_TRUE(low.overlaps(Tensor::borrow(data + 4, DataType::f32, {4})));
    EXPECT_FALSE(low.overlaps(Tensor::borrow(data + 5, DataType::f32, {3})));
    EXPECT_TRUE(low.overlaps(Tensor::borrow(data, DataType::u8, {1})));
}

TEST(Tensor, HalideView) {
    const Tensor tensor = counted({2, 3, 4}).slice(1, 1, 2);
    halide_buffer_t buffer;
    halide_dimension_t dims[3];
    tensor.halide_view(buffer, dims);
    EXPECT_EQ(buffer.dimensions, 3);
    EXPECT_EQ(buffer.type.code, halide_type_int);
    EXPECT_EQ(buffer.type.bits, 32);
    EXPECT_EQ(reinterpret_cast<int32_t *>(buffer.host), tensor.data<int32_t>());
    EXPECT_EQ(dims[0].extent, 4);
    EXPECT_EQ(dims[1].extent, 2);
    EXPECT_EQ(dims[1].stride, 4);
    EXPECT_EQ(dims[2].stride, 12);
    Tensor::release_halide_view(buffer);

    char byte = 0;
    const Tensor huge = Tensor::borrow(&byte, DataType::u8, {1LL << 32}, {0});
    EXPECT_INVALID("size 4294967296", huge.halide_view(buffer, dims));
    const Tensor far = Tensor::borrow(&byte, DataType::u8, {2}, {1LL << 32});
    EXPECT_INVALID("stride 4294967296", far.halide_view(buffer, dims));
    const Tensor wide = Tensor::borrow(&byte, DataType::u8, {5}, {1LL << 30});
    EXPECT_INVALID("4294967297", wide.halide_view(buffer, dims));
}

}  // namespace
}  // namespace hk
