// Does the shipped object work: every row of the table that selection chooses from, on every device
// that it runs on here, on random problems that meet its conditions.

#include "tests/kernels/family.h"
#include "tests/topk/check.h"

namespace hk::test {
namespace {

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
    check_row(GetParam().where, GetParam().device == DeviceType::cpu ? 30 : 8);
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
