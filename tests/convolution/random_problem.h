#pragma once
// Random problems of the families that convolve, steered by the conditions of a row of the table.

#include <optional>
#include <span>
#include <string>

#include "hk/conv2d.h"
#include "tests/support/placed.h"

namespace hk::test {

enum class Data {
    integers,  // so small that every sum is exact in the type that sums
    reals,     // in -1..1
    one_nan,   // integers, and a NaN in the input
    one_infinity,
};

const char *name_of(Data data);

struct Conv2dRequest {
    DataType type = DataType::f32;
    Layout layout = Layout::nhwc;
    Data data = Data::integers;
    std::span<const Constraint> where = {};
    double operations = 1e6;  // at most, unless `where` asks for more
    int64_t tile = 1;         // channels and filters of a group count as whole ones of so many
};

// A problem without an activation; none where these draws don't meet `where`.
std::optional<Conv2dProblem> random_problem(Random &random, const Conv2dRequest &request);

// What the cases of all these families have: a problem, its data and where that lies.
struct ConvolutionCase {
    uint64_t seed = 0;
    Conv2dProblem problem;
    Data data = Data::integers;
    Placement input = Placement::packed, weight = Placement::packed, output = Placement::packed;

    // What takes other ways in kernels, for VariedCases.
    std::vector<int64_t> traits() const;
};

void make_empty(ConvolutionCase &c);  // a batch of no images
// `written`: of what an operation writes.
void draw_placements(Random &random, ConvolutionCase &c, std::span<const Constraint> where = {},
                     Placement ConvolutionCase::*written = &ConvolutionCase::output);
std::string describe_data(const ConvolutionCase &c);  // and the placements

// A case of a family for the request; none where this seed's draws don't meet `where`.
template<typename Case>
std::optional<Case> random_case(uint64_t seed, const Conv2dRequest &request);

// `count` cases of the request, less where too few draws meet it.
template<typename Case>
std::vector<Case> random_cases(int count, const Conv2dRequest &request) {
    std::vector<Case> cases;
    for (const uint64_t seed : seeds(count * 20)) {
        if (auto c = random_case<Case>(seed, request)) {
            cases.push_back(std::move(*c));
        }
        if (static_cast<int>(cases.size()) == count) {
            break;
        }
    }
    return cases;
}

// Puts a NaN somewhere into an image or a filter; or an infinity into the last channel of a group,
// which vectors of channels may repeat past it.
void spoil(Random &random, std::vector<double> &values, const Shape &shape, Layout layout,
           int64_t groups, Data data);

Shape image_shape(Layout layout, int64_t n, int64_t y, int64_t x, int64_t c);
Shape input_shape(const Conv2dProblem &problem);
Shape weight_shape(const Conv2dProblem &problem);

std::string to_string(const Conv2dProblem &problem);

// A part of an output's pixels.
struct Part {
    int64_t y, x, height, width;
};

// The convolution that makes a part of the output alone, and the pixels of the input that it reads.
struct PartProblem {
    Conv2dProblem problem;
    int64_t input_y, input_x;
};
PartProblem problem_of(const Conv2dProblem &problem, const Part &part);

// The part of an image's pixels, a view.
Tensor slice_of(const Tensor &image, Layout layout, const Part &part);

// "n 0 y 3 x 2 c 5", of an element of an image in the order n, y, x, c, and of an output's.
std::string name_of_place(int64_t height, int64_t width, int64_t channels, size_t place,
                          char channel = 'c');
std::string name_of_place(const Conv2dProblem &problem, size_t place);

}  // namespace hk::test
