// Does the shipped library work: every row of the table that selection chooses from, on random
// problems that meet its conditions, and hk::topk with the rows that it takes, on every device.

#include <sys/mman.h>
#include <cstring>
#include <set>
#include <tuple>

#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/environment.h"
#include "tests/topk/case.h"
#include "tests/topk/reference.h"

namespace hk::test {
namespace {

constexpr DataType all_types[] = {DataType::f32, DataType::f16, DataType::bf16, DataType::f64,
                                  DataType::s8,  DataType::u8,  DataType::s16,  DataType::u16,
                                  DataType::s32, DataType::u32, DataType::s64,  DataType::u64};

std::vector<Device> devices_with_rows() {
    return test::devices_with_rows({topk_kernels(), topk_tiles_kernels()});
}

TopKCase row_case(DataType type, int64_t columns, int64_t k, Order order, Pattern pattern) {
    TopKCase c{.seed = static_cast<uint64_t>(columns + k), .shape = {columns}};
    c.type = type;
    c.k = k;
    c.order = order;
    c.pattern = pattern;
    return c;
}

class TopK : public testing::TestWithParam<std::tuple<DeviceType, DataType>> {
protected:
    void SetUp() override {
        devices_ = devices_with_rows();
        std::erase_if(devices_, [&](Device device) { return device.type() != this->device(); });
        if (devices_.empty()) GTEST_SKIP() << "no " << name_of(device()) << " device or rows";
    }

    DeviceType device() const { return std::get<0>(GetParam()); }
    DataType type() const { return std::get<1>(GetParam()); }
    bool on_cpu() const { return device() == DeviceType::cpu; }
    TopKRequest request() const { return {{type()}, {}, on_cpu() ? 3e4 : 2e3}; }

    std::vector<Device> devices_;
};

TEST_P(TopK, MatchesTheReferenceOnRandomProblems) {
    for (const Device device : devices_) {
        check_random<TopKCase>(device, on_cpu() ? 120 : 12, [&](uint64_t) { return request(); });
    }
}

TEST_P(TopK, TakesEveryKAndLength) {
    const std::vector<int64_t> lengths = on_cpu()
                                             ? std::vector<int64_t>{1, 2, 7, 64, 65, 1000, 20011}
                                             : std::vector<int64_t>{1, 300};
    for (const int64_t columns : lengths) {
        for (const int64_t k : std::set<int64_t>{0, 1, 2, 5, 50, columns - 1, columns}) {
            for (const Order order : {Order::largest, Order::smallest}) {
                if (k > columns || HasFailure()) continue;
                for (const Device device : devices_) {
                    check(row_case(type(), columns, k, order, Pattern::numbers), device);
                }
            }
        }
    }
}

TEST_P(TopK, TakesEveryPattern) {
    for (int pattern = 0; pattern < patterns; pattern++) {
        for (const Order order : {Order::largest, Order::smallest}) {
            for (const int64_t k :
                 on_cpu() ? std::vector<int64_t>{5, 100, 4999} : std::vector<int64_t>{9}) {
                if (HasFailure()) return;
                for (const Device device : devices_) {
                    check(row_case(type(), on_cpu() ? 5000 : 700, k, order,
                                   static_cast<Pattern>(pattern)),
                          device);
                }
            }
        }
    }
}

TEST_P(TopK, TakesWhatIsEmpty) {
    for (const Device device : devices_) {
        check_empty<TopKCase>(device, request());
    }
}

TEST_P(TopK, RunsInTwoThreadsAtOnce) {
    if (type() != DataType::f32 && type() != DataType::u8) return;
    for (const Device device : devices_) {
        check_two_threads<TopKCase>(device, request());
    }
}

INSTANTIATE_TEST_SUITE_P(All, TopK,
                         testing::Combine(testing::Values(DeviceType::cpu, DeviceType::opencl,
                                                          DeviceType::cuda),
                                          testing::ValuesIn(all_types)),
                         parameter_name);

// Rows of a GPU, every way that topk_plan takes: one tile, lists that are sorted again, columns,
// and merges. Values, indices, and both, with indices of 64 bits.
void check_ways(TopKCase c) {
    for (const Device device : devices_with_rows()) {
        if (device.is_cpu()) continue;
        for (const auto &[values, indices, index_type] : {std::tuple{true, false, DataType::s64},
                                                          {false, true, DataType::s32},
                                                          {true, true, DataType::s64}}) {
            c.values = values;
            c.indices = indices;
            c.index_type = index_type;
            check(c, device);
        }
    }
}

constexpr Pattern kOrders[] = {Pattern::numbers, Pattern::few, Pattern::equal, Pattern::sorted,
                               Pattern::reversed};

class TopKOnGpu : public testing::TestWithParam<std::tuple<const char *, DataType>> {};

TEST_P(TopKOnGpu, TakesEveryWay) {
    const auto &[bytes, type] = GetParam();
    const Environment limit("HK_SHARED_LIMIT", bytes + 5);
    Random random(7);
    for (const int64_t columns : {1, 2, 7, 1000, 1025, 5000, 20001, 70000}) {
        for (const int64_t k : std::set<int64_t>{1, 2, 5, 50, columns - 1, columns}) {
            if (k < 1 || k > columns || HasFailure()) continue;
            // Long rows that are sorted whole take twice as long a row as all others do.
            if ((columns == 20001 && k <= 50) || (columns == 70000 && k > 50)) continue;
            TopKCase c =
                row_case(type, columns, k, one_in(random, 2) ? Order::largest : Order::smallest,
                         kOrders[uniform(random, 0, std::ssize(kOrders) - 1)]);
            c.shape = {columns < 3000 ? 3 : 1, columns};
            c.axis = 1;
            check_ways(c);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(SharedBytes, TopKOnGpu,
                         testing::Combine(testing::Values("limit0", "limit4096", "limit49152"),
                                          testing::Values(DataType::u8, DataType::s16,
                                                          DataType::f32, DataType::f64)),
                         parameter_name);

// Columns of long rows: more tiles than fill a GPU.
TEST(TopKOfManyRowsOnGpu, IsTheReference) {
    for (const Pattern pattern : {Pattern::few, Pattern::reversed}) {
        for (const auto &[rows, columns, k, type, order] :
             {std::tuple{130, 9000, 5, DataType::f32, Order::largest},
              {15, 70001, 17, DataType::s64, Order::smallest},
              {400, 3000, 300, DataType::u8, Order::largest}}) {
            TopKCase c = row_case(type, columns, k, order, pattern);
            c.shape = {rows, columns};
            c.axis = 1;
            check_ways(c);
            if (HasFailure()) return;
        }
    }
}

TEST(TopKOnEveryDevice, TakesLongRows) {
    for (const Device device : devices_with_rows()) {
        check(row_case(DataType::f16, 131072, 4, Order::largest, Pattern::numbers), device);
        check(row_case(DataType::f32, 1000003, 100, Order::largest, Pattern::numbers), device);
        if (!device.is_cpu()) continue;
        check(row_case(DataType::f32, 10000000, 50, Order::smallest, Pattern::numbers), device);
        check(row_case(DataType::u8, 10000000, 5, Order::largest, Pattern::few), device);
        check(row_case(DataType::f64, 1000000, 999999, Order::largest, Pattern::sorted), device);
    }
}

// [?, 2, 2] with k=2 on the last axis, values and s64 indices.
TEST(TopKOnEveryDevice, SortsPairs) {
    for (const Device device : devices_with_rows()) {
        for (const int64_t batch : {0, 1, 3, 1000}) {
            for (int pattern = 0; pattern < patterns; pattern++) {
                TopKCase c{.seed = 5, .shape = {batch, 2, 2}, .axis = -1};
                c.k = 2;
                c.pattern = static_cast<Pattern>(pattern);
                check(c, device);
            }
        }
    }
}

TEST(TopKOnEveryDevice, TakesEveryAxisOfEveryRankAndView) {
    constexpr Placement all[] = {Placement::packed, Placement::margins, Placement::steps,
                                 Placement::reversed, Placement::permuted};
    for (const Device device : devices_with_rows()) {
        for (const Placement placement : all) {
            Shape shape;
            for (const int64_t extent : {7, 3, 5, 2, 4}) {
                shape.push_back(extent);
                const int rank = static_cast<int>(shape.size());
                for (int axis = -rank; axis < rank; axis++) {
                    TopKCase c{.seed = 9, .shape = shape, .axis = axis};
                    c.k = 2;
                    c.input = c.values_at = c.indices_at = placement;
                    if (check(c, device) == Outcome::failed) return;
                }
            }
        }
    }
}

// Each result alone, both, and new tensors of them.
TEST(TopKOnEveryDevice, WaysToAskAgree) {
    for (const Device device : devices_with_rows()) {
        for (const Order order : {Order::largest, Order::smallest}) {
            TopKCase c{.seed = 3, .shape = {3, 400, 2}, .axis = 1};
            c.order = order;
            c.pattern = Pattern::specials;
            const Tensor host = topk_input(c), input = host.to(device);
            const auto wanted = reference::topk(host, 20, 1, order, DataType::s64);
            const auto same = [](const Tensor &got, const Tensor &want) {
                EXPECT_EQ(got.shape(), want.shape());
                EXPECT_EQ(got.type(), want.type());
                EXPECT_EQ(differing(got.to(Device::cpu()), want), "");
            };
            const hk::TopK both = topk(input, 20, {1, order});
            same(both.values, wanted.values);
            same(both.indices, wanted.indices);
            same(topk_values(input, 20, {-2, order}), wanted.values);
            same(topk_indices(input, 20, {1, order, false}), wanted.indices);
            const auto all = reference::topk(host, 400, 1, order, DataType::s64);
            same(sort(input, 1, order), all.values);
            same(argsort(input, 1, order), all.indices);
        }
    }
}

// Without an order sort goes upwards along the last axis.
TEST(TopKOnEveryDevice, SortIsAscending) {
    const Tensor input(Shape{2, 3}, DataType::s16);
    reference::write_bits(input, std::vector<uint64_t>{3, 0xffff, 2, 1, 1, 0});
    for (const Device device : devices_with_rows()) {
        EXPECT_EQ(reference::bits(sort(input.to(device)).to(Device::cpu())),
                  (std::vector<uint64_t>{0xffff, 2, 3, 0, 1, 1}));
        EXPECT_EQ(reference::bits(argsort(input.to(device)).to(Device::cpu())),
                  (std::vector<uint64_t>{1, 2, 0, 2, 0, 1}));
    }
}

TEST(TopKThreads, ChangeNoBit) {
    for (const Shape &shape : {Shape{300000}, Shape{40, 5000}, Shape{2000, 60}}) {
        for (const int64_t k : {3, 60}) {
            TopKCase c{.seed = 11, .shape = shape, .axis = -1};
            c.pattern = Pattern::few;
            const Tensor input = topk_input(c);
            const auto run = [&] {
                const hk::TopK made = topk(input, k);
                return std::pair(reference::bits(made.values), reference::bits(made.indices));
            };
            expect_same_with_threads(run, {2});
        }
    }
}

// The pages that the input lies in may not be written.
TEST(TopKInput, MayBeReadOnlyMemory) {
    const int64_t columns = 20000;
    for (const DataType type : all_types) {
        TopKCase c = row_case(type, columns, 30, Order::largest, Pattern::bits);
        const Tensor packed = topk_input(c);
        const auto bytes = static_cast<size_t>(columns * size_of(type));
        void *pages =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(pages, MAP_FAILED);
        Tensor::borrow(pages, type, {columns}).copy_from(packed);
        ASSERT_EQ(mprotect(pages, bytes, PROT_READ), 0);
        const Tensor input = Tensor::borrow(pages, type, {columns});
        for (const int64_t k : {int64_t{30}, columns}) {
            const auto wanted = reference::topk(packed, k, 0, Order::largest, DataType::s64);
            const hk::TopK got = topk(input, k);
            EXPECT_EQ(differing(got.values, wanted.values), "") << hk::name_of(type);
            EXPECT_EQ(differing(got.indices, wanted.indices), "") << hk::name_of(type);
            const Tensor reversed = input.slice(0, columns - 1, columns, -1);
            EXPECT_EQ(differing(topk_values(reversed, k), wanted.values), "") << hk::name_of(type);
        }
        munmap(pages, bytes);
    }
}

std::vector<KernelInfo> chosen_rows() {
    std::vector<KernelInfo> rows(topk_kernels().begin(), topk_kernels().end());
    rows.insert(rows.end(), topk_tiles_kernels().begin(), topk_tiles_kernels().end());
    return rows;
}

class TopKRow : public RowTest {
protected:
    // Of each type that the row serves.
    void check_row(std::span<const Constraint> where, int problems) {
        const KernelInfo &row = GetParam();
        const double elements = row.device == DeviceType::cpu ? 2e4 : 3e3;
        for (const Device device : devices_) {
            for (const DataType type : topk_types(row.type)) {
                SCOPED_TRACE(hk::name_of(type));
                test::check_row<TopKCase>(row, device, TopKRequest{{type}, where, elements},
                                          problems);
            }
        }
    }
};

TEST_P(TopKRow, IsTheReference) {
    check_row(GetParam().where, GetParam().device == DeviceType::cpu ? 20 : 8);
}

// All of one tile and of several, which are merged; lists of tiles that are sorted again, to parts
// of a tile; and columns of several elements, of whose lists none has the lower indices. Elements
// that have the smallest key come before what pads lists.
TEST_P(TopKRow, SortsWholeTiles) {
    const KernelInfo &row = GetParam();
    constexpr std::pair<int64_t, int64_t> kProblems[] = {{300, 300},   {1024, 1024}, {1025, 1025},
                                                         {2100, 2100}, {2000, 60},   {5000, 60},
                                                         {5000, 200},  {9000, 20},   {9000, 60}};
    for (const Device device : devices_) {
        if (device.is_cpu()) return;
        for (const auto &[columns, k] : kProblems) {
            for (const Pattern pattern :
                 {Pattern::numbers, Pattern::few, Pattern::reversed, Pattern::extremes}) {
                TopKCase c =
                    row_case(topk_types(row.type).back(), columns, k,
                             pattern == Pattern::few ? Order::smallest : Order::largest, pattern);
                c.indices = range_of(row.where, "indices").moved(0) == 1;
                if (check(c, device, &row) == Outcome::failed) return;
            }
        }
    }
}

// A row says what it does not take, instead of running on it.
TEST_P(TopKRow, RefusesOtherWidths) {
    const KernelInfo &row = GetParam();
    const DataType other = size_of(row.type) == 4 ? DataType::u16 : DataType::u32;
    for (const Device device : devices_) {
        const auto c = random_case<TopKCase>(1, TopKRequest{{other}, row.where, 1e3});
        ASSERT_TRUE(c);
        EXPECT_EQ(check(*c, device, &row), Outcome::refused) << row.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Table, TopKRow, testing::ValuesIn(chosen_rows()), parameter_name);

}  // namespace
}  // namespace hk::test
