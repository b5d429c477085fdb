#pragma once
// An algorithm compiled in this process under the root schedule, and run by the library on random
// problems, as rows of the table are.

#include "compiled.h"
#include "tests/convolution/random_problem.h"
#include "tests/kernels/family.h"

namespace hk::test {

using Where = std::vector<Constraint>;
using Sizes = std::vector<std::pair<const char *, int64_t>>;

inline Where fixed(const Sizes &sizes) {
    Where where;
    for (const auto &[field, value] : sizes)
        where.push_back({field, Constraint::Relation::equal, value});
    return where;
}

// What is compiled, and the problems that it takes. Sizes that these fix the compiler knows.
struct Algorithm {
    const char *family, *algorithm;
    std::string name;
    Where where = {};
    const char *knobs = "", *schedule = "root";
};

inline explorer::Candidate candidate(const Algorithm &algorithm, Layout layout, DataType type) {
    KernelInfo row{};
    row.family = algorithm.family;
    row.algorithm = algorithm.algorithm;
    row.schedule = algorithm.schedule;
    row.knobs = algorithm.knobs;
    row.type = type;
    row.layout = layout;
    row.device = DeviceType::cpu;
    row.where = algorithm.where;
    return explorer::Candidate::of(row);
}

inline std::string name_of_parameter(const Algorithm &algorithm) {
    return algorithm.algorithm + algorithm.name;
}
inline void PrintTo(const Algorithm &algorithm, std::ostream *out) {
    *out << name_of_parameter(algorithm);
}

class RootTest : public testing::TestWithParam<std::tuple<Algorithm, Layout, DataType>> {
protected:
    template<typename Case>
    void check_convolution(const std::vector<Data> &all) const {
        for (const Data data : all) {
            check_row<Case>(
                kernel(), Device::cpu(),
                Conv2dRequest{kernel().type, kernel().layout, data, kernel().where, 5e4}, 12);
        }
    }
    template<typename Case>
    void check_convolution() const {
        check_convolution<Case>({Data::integers, Data::reals, Data::one_nan, Data::one_infinity});
    }

    const KernelInfo &kernel() const { return compiled_.kernel(); }

private:
    const explorer::Compiled compiled_{std::apply(candidate, GetParam())};
};

inline auto in_layouts(const std::vector<Algorithm> &algorithms,
                       const std::vector<DataType> &types = {DataType::f32, DataType::f16,
                                                             DataType::bf16}) {
    return testing::Combine(testing::ValuesIn(algorithms),
                            testing::Values(Layout::nhwc, Layout::nchw), testing::ValuesIn(types));
}

}  // namespace hk::test
