#pragma once
// Generators of the families that convolve, compiled in this process for this CPU.

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "Halide.h"
#include "hk/conv2d.h"

namespace hk::test {

// An algorithm of generators/FAMILY.h and the problems that it takes.
struct JitAlgorithm {
    std::string name;
    std::map<std::string, std::string> parameters;  // of the generator
    std::vector<Constraint> where;
};

inline void PrintTo(const JitAlgorithm &algorithm, std::ostream *out) { *out << algorithm.name; }

// All algorithms, and some with sizes that the compiler knows. `dot_channels`: of which dot wants
// a multiple.
std::vector<JitAlgorithm> jit_algorithms(int64_t dot_channels);

// Halide's errors are no std::exception, whose messages alone GoogleTest prints: they become
// std::runtime_error.
Halide::Callable jit_compile(const std::string &family, const JitAlgorithm &algorithm,
                             const std::string &schedule, const std::string &knobs, DataType type,
                             Layout layout);

template<typename... Arguments>
void jit_call(const Halide::Callable &function, const std::string &problem,
              Arguments &&...arguments) {
    try {
        function(std::forward<Arguments>(arguments)...);
    } catch (const Halide::Error &error) {
        throw std::runtime_error(problem + ": " + error.what());
    }
}

// An activation as generators/activation.h takes it.
struct JitActivation {
    float slope = 1;
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
    int32_t smooth = 0;
};
JitActivation jit_activation(const Conv2dOptions &options);

// A packed host tensor as a generator sees it, dimensions innermost first.
Halide::Buffer<> buffer_of(const Tensor &tensor, const std::vector<int64_t> &extents);

// The dimensions of such buffers: of an image with `channels` channels a group, and of the weight.
std::vector<int64_t> image_extents(const Conv2dProblem &problem, int64_t channels, int64_t width,
                                   int64_t height);
std::vector<int64_t> filter_extents(const Conv2dProblem &problem);

}  // namespace hk::test
