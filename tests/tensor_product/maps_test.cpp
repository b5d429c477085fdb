// Maps of a tensor product: what is refused of them, any number of rows and offsets, and memory
// that fails.

#include <ctime>
#include <numeric>
#include <optional>
#include <random>

#include "tests/runtime/expect_error.h"
#include "hk/memory.h"
#include "hk/tensor_product_backward.h"

namespace hk {
namespace {

template<typename T>
Tensor tensor_of(const std::vector<T> &values, Shape shape = {}) {
    Tensor tensor(shape.empty() ? Shape{std::ssize(values)} : shape,
                  sizeof(T) == 8 ? DataType::s64 : DataType::s32);
    std::copy(values.begin(), values.end(), tensor.data<T>());
    return tensor;
}
Tensor s32(const std::vector<int32_t> &values, Shape shape = {}) {
    return tensor_of(values, shape);
}
Tensor s64(const std::vector<int64_t> &values, Shape shape = {}) {
    return tensor_of(values, shape);
}

// A tensor whose elements are all this one.
Tensor repeated(const Tensor &element, const Shape &shape) {
    void *memory = element.type() == DataType::s64 ? static_cast<void *>(element.data<int64_t>())
                                                   : element.data<int32_t>();
    return Tensor::borrow(memory, element.type(), shape, Shape(shape.size(), 0));
}

// Rows beyond what an index of 32 bits can say are rows as others are.
TEST(TensorProductMaps, MoreRowsThanAnIndexCounts) {
    const Tensor good = s32({0, -1, 5, INT32_MAX}, {1, 4}), low = s32({0, 3, -2, 5}, {1, 4}),
                 least = s32({7, INT32_MIN, 1, 2}, {1, 4}), wide = s64({0, INT64_MIN}, {1, 2});
    for (const int64_t rows : {int64_t{1} << 31, int64_t{3000000000}, (int64_t{1} << 32) - 1,
                               int64_t{1} << 32, (int64_t{1} << 32) + 5, INT64_MAX}) {
        const std::string has = std::to_string(rows) + " rows";
        EXPECT_EQ(TensorProductMaps(good, good, rows, rows).input_rows(), rows);
        EXPECT_INVALID("tensor_product: imap of offset 0 is -2 at position 2, input has " + has,
                       TensorProductMaps(low, good, rows, rows));
        EXPECT_INVALID("omap of offset 0 is -2147483648 at position 1, output has " + has,
                       TensorProductMaps(good, least, rows, rows));
        EXPECT_INVALID("imap of offset 0 is -9223372036854775808 at position 1, input has " + has,
                       TensorProductMaps(wide, wide, rows, rows));
    }
    EXPECT_INVALID("imap of offset 0 is 2147483647 at position 3, input has 2147483647 rows",
                   TensorProductMaps(good, good, INT32_MAX, int64_t{1} << 31));
    EXPECT_INVALID("output has -1 rows", TensorProductMaps(good, good, 9, -1));
}

// A kernel counts them in 32 bits.
TEST(TensorProductMaps, RowsOfTensors) {
    const int64_t rows = int64_t{1} << 32;
    const Tensor map = s32({0, 5}, {1, 2});
    const Tensor one = Tensor::zeros({1}, DataType::f32);
    const auto tensor = [&](const Shape &shape) {
        return Tensor::borrow(one.data<float>(), DataType::f32, shape, Shape(shape.size(), 0));
    };
    EXPECT_INVALID("tensor_product: input has the size 4294967296, a kernel takes at most",
                   tensor_product(tensor({rows, 1}), tensor({1, 1, 0}),
                                  TensorProductMaps(map, map, rows, rows), tensor({rows, 0})));
}

TensorProductMaps ragged(const Tensor &starts, int64_t pairs, bool check = true) {
    const Tensor map = Tensor::zeros({pairs}, DataType::s32);
    return TensorProductMaps(map, map, 1, 1, starts, check);
}

// Starts are of all pairs.
TEST(TensorProductMaps, Starts) {
    EXPECT_EQ(ragged(s64({0, 4, 4, 8, 20}), 20).offsets(), 4);
    EXPECT_EQ(ragged(s64({0}), 0).offsets(), 0);
    EXPECT_EQ(ragged(s32({0, 0, 0}), 0).places(), 0);
    for (const bool check : {true, false}) {
        EXPECT_INVALID("tensor_product: starts is 2 at position 0, it must be 0",
                       ragged(s64({2, 4, 20}), 20, check));
        EXPECT_INVALID("starts is 1 at position 0, it must be 0", ragged(s32({1, 3}), 3, check));
        EXPECT_INVALID("starts is -1 at position 0, it must be 0",
                       ragged(s64({-1, 4, 20}), 20, check));
        EXPECT_INVALID("starts is 21 at position 2, it must be 4 to 20",
                       ragged(s64({0, 4, 21}), 20, check));
        EXPECT_INVALID("starts is 3 at position 2, it must be 4 to 20",
                       ragged(s64({0, 4, 3, 20}), 20, check));
        EXPECT_INVALID("starts is 19 at position 2, which is the last, imap has 20 pairs",
                       ragged(s64({0, 4, 19}), 20, check));
        EXPECT_INVALID("starts is 0 at position 0, which is the last, imap has 20 pairs",
                       ragged(s64({0}), 20, check));
    }
}

// Offsets without pairs take no memory and little time.
TEST(TensorProductMaps, OffsetsWithoutPairs) {
    for (const int64_t offsets : {int64_t{1} << 31, int64_t{1} << 40}) {
        const Tensor map = repeated(s32({0}), {offsets, 0});
        EXPECT_EQ(TensorProductMaps(map, map, 3, 3).offsets(), offsets);
    }
    const int64_t starts = int64_t{1} << 27;
    const std::clock_t begin = std::clock();
    EXPECT_EQ(ragged(repeated(s64({0}), {starts}), 0).offsets(), starts - 1);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 2);  // 0.1, or 9 with a place in memory for each
}

// Random pairs of many offsets, in any order, most offsets with none.
struct ManyOffsets {
    static constexpr int64_t kOffsets = 51 * 51 * 51, kRows = 1 << 18, kPairs = 5000;

    ManyOffsets() {
        std::mt19937 random(1);
        const auto row = [&](int64_t rows) {
            const auto any = static_cast<int32_t>(random() % static_cast<uint64_t>(rows));
            return any % 17 == 0 ? -1 : any;
        };
        std::vector<int64_t> starts(kOffsets + 1);
        for (int64_t p = 0; p < kPairs; p++) {
            starts[1 + (p % 4 ? random() % kOffsets : kOffsets / 3)]++;
            from.push_back(row(kRows));
            // Some rows are reached often.
            to.push_back(row(p % 3 ? kRows : 100));
        }
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        for (int64_t n = 0; n < kOffsets; n++) offset.resize(static_cast<size_t>(starts[n + 1]), n);
        maps.emplace(s32(from), s32(to), kRows, kRows, s64(starts));
    }

    std::vector<int32_t> from, to;
    std::vector<int64_t> offset;  // of each pair
    std::optional<TensorProductMaps> maps;
};

Tensor integers(const Shape &shape) {
    Tensor tensor(shape, DataType::f32);
    for (int64_t i = 0; i < tensor.elements(); i++)
        tensor.data<float>()[i] = static_cast<float>(i * 7 % 13 - 6);
    return tensor;
}

// A number for each block of rows and offset would take 272 MB.
TEST(TensorProductMaps, ManyOffsets) {
    using Of = ManyOffsets;
    const Of of;
    const Tensor input = integers({Of::kRows, 1}), weight = integers({Of::kOffsets, 1, 1}),
                 gradient = integers({Of::kRows, 1}), output = integers({Of::kRows, 1}),
                 input_gradient = integers({Of::kRows, 1}),
                 weight_gradient = integers({Of::kOffsets, 1, 1});
    std::vector<float> y(Of::kRows), dx(Of::kRows), dw(Of::kOffsets);
    for (size_t p = 0; p < of.from.size(); p++) {
        if (of.from[p] < 0 || of.to[p] < 0) continue;
        const auto from = static_cast<size_t>(of.from[p]), to = static_cast<size_t>(of.to[p]),
                   n = static_cast<size_t>(of.offset[p]);
        const auto *w = weight.data<float>() + n;
        y[to] += *w * input.data<float>()[from];
        dx[from] += *w * gradient.data<float>()[to];
        dw[n] += input.data<float>()[from] * gradient.data<float>()[to];
    }
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    pool.trim();
    pool.set_limit(pool.statistics().reserved + (256 << 20));
    tensor_product(input, weight, *of.maps, output);
    tensor_product_backward_data(gradient, weight, *of.maps, input_gradient);
    tensor_product_backward_weight(input, gradient, *of.maps, weight_gradient);
    pool.set_limit(INT64_MAX);
    const auto values = [](const Tensor &t) {
        return std::vector<float>(t.data<float>(), t.data<float>() + t.elements());
    };
    EXPECT_EQ(values(output), y);
    EXPECT_EQ(values(input_gradient), dx);
    EXPECT_EQ(values(weight_gradient), dw);
}

}  // namespace
}  // namespace hk
