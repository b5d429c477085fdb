// Rows of all the elements that 32 bits count, and about as many.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "hk/topk.h"
#include "tests/runtime/expect_error.h"

namespace hk::test {
namespace {

// Bytes of zero, of which only what is written takes memory.
class LongRow : public testing::TestWithParam<int64_t> {
protected:
    void SetUp() override {
        pages_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        ASSERT_NE(pages_, MAP_FAILED);
    }
    void TearDown() override { munmap(pages_, kBytes); }

    int64_t columns() const { return GetParam(); }
    Tensor row() const { return Tensor::borrow(pages_, DataType::u8, {columns()}); }
    uint8_t &at(int64_t element) const { return static_cast<uint8_t *>(pages_)[element]; }

private:
    static constexpr size_t kBytes = size_t{1} << 31;
    void *pages_ = nullptr;
};

TEST_P(LongRow, BestElements) {
    at(columns() - 1) = 9;
    at(columns() / 2) = 7;
    at(0) = 7;
    at(columns() - 200) = 8;
    const hk::TopK best = topk(row(), 5);
    const auto *values = best.values.data<uint8_t>();
    const auto *indices = best.indices.data<int64_t>();
    EXPECT_EQ(std::vector<uint8_t>(values, values + 5), (std::vector<uint8_t>{9, 8, 7, 7, 0}));
    EXPECT_EQ(std::vector<int64_t>(indices, indices + 5),
              (std::vector<int64_t>{columns() - 1, columns() - 200, 0, columns() / 2, 1}));
}

TEST_P(LongRow, OutOfMemoryWhereAllKeysAreKept) {
    if (columns() <= INT32_MAX - 63) GTEST_SKIP() << "the keys fit";
    EXPECT_ERROR(OutOfMemory, "bytes of scratch", topk_values(row(), columns() / 16));
}

// The order of elements that don't lie next to each other, which are packed first.
TEST(LongRows, FromTheirEnd) {
    constexpr int64_t columns = INT32_MAX;
    void *pages = mmap(nullptr, columns, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    const Tensor row = Tensor::borrow(pages, DataType::u8, {columns});
    row.data<uint8_t>()[0] = 3;
    row.data<uint8_t>()[columns - 2] = 3;
    const Tensor indices = topk_indices(row.slice(0, columns - 1, columns, -1), 3);
    const auto *got = indices.data<int64_t>();
    EXPECT_EQ(std::vector<int64_t>(got, got + 3), (std::vector<int64_t>{1, columns - 1, 0}));
    munmap(pages, columns);
}

INSTANTIATE_TEST_SUITE_P(Columns, LongRow,
                         testing::Values(INT32_MAX, INT32_MAX - 63, INT32_MAX - 64, INT32_MAX - 127,
                                         INT32_MAX - 511, INT32_MAX - 1024));

}  // namespace
}  // namespace hk::test
