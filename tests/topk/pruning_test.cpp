// What is not asked for is not made: the lowered code of a row of values alone names no indices,
// and that of indices alone no values.

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "hk/topk.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

// The value that a row's conditions fix a field to; -1 where they don't.
int64_t fixed(const KernelInfo &row, std::string_view field) {
    for (const Constraint &constraint : row.where) {
        if (constraint.field == field && constraint.relation == Constraint::Relation::equal) {
            return constraint.value;
        }
    }
    return -1;
}

// The row's code before vectors and bounds are worked out: what its kernel does.
std::string lowered(const KernelInfo &row) {
    std::string command = "'" HK_TOPK_GENERATOR "' -g topk -f row -o '" + own_folder().string() +
                          "' -e conceptual_stmt target=host-user_context-no_runtime";
    command += " type=uint" + std::to_string(8 * size_of(row.type));
    command += std::string(" algorithm=") + row.algorithm + " schedule=" + row.schedule;
    if (*row.knobs) command += std::string(" knobs=") + row.knobs;
    for (const char *field : {"values", "indices", "adjacent"}) {
        const int64_t value = fixed(row, field);
        if (value >= 0) command += std::string(" fix_") + field + "=" + std::to_string(value);
    }
    const Outcome outcome = run_program(command);
    EXPECT_EQ(outcome.status, 0) << command << "\n" << outcome.output;
    std::ifstream file(own_file("row.conceptual.stmt"));
    return {std::istreambuf_iterator<char>(file), {}};
}

// What the code names: variables, buffers, functions.
std::set<std::string> names_in(const std::string &code) {
    const std::regex name("[A-Za-z_][A-Za-z_0-9$.]*");
    std::set<std::string> names;
    for (std::sregex_iterator i(code.begin(), code.end(), name), end; i != end; ++i) {
        names.insert(i->str());
    }
    return names;
}

struct Code {
    bool values = false, indices = false;  // a buffer of them, or anything that belongs to it
    bool stores_values = false, stores_indices = false;
    bool pairs = false;         // a buffer of keys and one of indices that belong together
    bool result_pairs = false;  // of the elements that are found
    bool decodes = false;       // makes values of keys, with NaN's place among them

    explicit Code(const std::string &text) {
        for (const std::string &name : names_in(text)) {
            values |= name == "values" || name.starts_with("values.");
            indices |= name == "indices" || name.starts_with("indices.");
            decodes |= name == "nan";
        }
        stores_values = std::regex_search(text, std::regex("\\n *values\\["));
        stores_indices = std::regex_search(text, std::regex("\\n *indices\\["));
        pairs = std::regex_search(text, std::regex("allocate [A-Za-z_0-9$]+\\.1\\["));
        result_pairs = std::regex_search(text, std::regex("allocate result\\.1\\["));
    }
};

class TopKPruning : public testing::TestWithParam<KernelInfo> {};

TEST_P(TopKPruning, MakesWhatIsAskedForAlone) {
    const KernelInfo &row = GetParam();
    const int64_t values = fixed(row, "values"), indices = fixed(row, "indices");
    ASSERT_GE(values, 0) << "a row is of values, of indices or of both";
    ASSERT_GE(indices, 0);
    const Code code(lowered(row));
    EXPECT_EQ(code.values, values == 1);
    EXPECT_EQ(code.stores_values, values == 1);
    EXPECT_EQ(code.decodes, values == 1 && size_of(row.type) > 1);  // no floats of 8 bits
    EXPECT_EQ(code.indices, indices == 1);
    EXPECT_EQ(code.stores_indices, indices == 1);
    EXPECT_EQ(code.result_pairs, values == 1 && indices == 1);
    // Indices alone may need the keys that they are ordered by; values need no indices.
    if (indices == 0) {
        EXPECT_FALSE(code.pairs);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, TopKPruning,
                         testing::ValuesIn(topk_kernels().begin(), topk_kernels().end()),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk::test
