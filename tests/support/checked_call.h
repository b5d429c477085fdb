#pragma once
// One call of a kernel with everything around it watched: what it throws, what it writes, and that
// it writes nothing else.

#include <functional>
#include <initializer_list>

#include "hk/kernel_info.h"
#include "tests/convolution/random_problem.h"

namespace hk::test {

enum class Outcome { passed, failed, refused };

struct CheckedCall {
    struct Input {
        const char *name;
        const Placed *tensor;  // null: absent
    };
    struct Output {
        const char *name;
        const Placed *tensor;
        std::function<std::string(const Tensor &)> compare;  // the faults of it, packed
    };

    // `problem` in words; `row` null: what selection takes.
    CheckedCall(std::string problem, uint64_t seed, Device device, const KernelInfo *row)
        : problem(std::move(problem)), seed(seed), device(device), row(row) {}

    std::string problem;
    uint64_t seed;
    Device device;
    const KernelInfo *row;
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    std::function<void()> call;

    // `refused`: a given row threw InvalidArgument. Failures are reported to GoogleTest with the
    // kernel, the problem, the seed and the command that repeats them.
    Outcome run() const;

private:
    Outcome fail(const std::string &what) const;
};

Tensor tensor_of(const std::optional<Placed> &placed);  // undefined where there is none
const Placed *address_of(const std::optional<Placed> &placed);

// The places, named by `place`, for which `fault` says what should be there, in words; empty where
// there are none. And those of a convolution's output, elements in the order n, y, x, k.
std::string differences(const std::function<std::string(size_t)> &place,
                        const std::vector<double> &got,
                        const std::function<std::string(size_t)> &fault);
std::string differences(const Conv2dProblem &problem, const std::vector<double> &got,
                        const std::function<std::string(size_t)> &fault);

// What an element should be, in words; empty where the result may stand for it. And of a sum, which
// is exact but for its last rounding, or within the tolerance of its terms.
std::string fault(DataType type, double got, double value, double bound);
std::string fault_of_sum(DataType type, double got, double value, double magnitude, int64_t terms,
                         bool exact, const ActivationOptions &activation = {Activation::none});

// The first element of a packed tensor that still is poison, in words. Any byte may be a result: of
// those the comparison with the reference decides.
std::string unwritten(const Tensor &output);

}  // namespace hk::test
