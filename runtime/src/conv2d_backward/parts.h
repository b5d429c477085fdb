#pragma once
// The gradient of a filter over more pixels than f32 adds up: in parts of the output.
//
// A row of a CPU adds tiles of pixels one after the other, one of a GPU a thread's pixels. A part
// is so small that those are less than 2^13 additions, for an error of at most 2^-11 of the sum of
// the terms' magnitudes. Parts are added up by the sum of the bias' gradient, which keeps what
// its additions lose. Tensor cores cut off twice as much an addition: of a part of 14336 pixels,
// 13056 of TF32, an error of 2^-9. Rejected: such sums in the kernels, with which dense rows have
// 0.78 to 0.99 of the speed on a CPU (bench --family conv2d_backward_weight --list resnet50) and
// 128 registers for 72 on a GPU, on problems of any size.

#include "convolution/operands.h"

namespace hk::detail {

// The parts of a kernel that takes_parts(), which its blocks sum over
// (generators/conv2d_backward/conv2d_backward_weight_products.h): of at least 128 pixels, with sums
// of 16 MB at most, or eight times the gradient, and short enough for the error. Of those whose
// blocks are on at least half of a GPU's multiprocessors, as many as take least time: fewer leave
// the fullest multiprocessor more to do, more have more sums to pass through memory.
struct LineParts {
    LineParts(const KernelInfo &kernel, const Conv2dProblem &problem)
        : LineParts(kernel, problem, problem.batch, problem.output_height(),
                    problem.output_width()) {}
    LineParts(const KernelInfo &kernel, const Conv2dProblem &problem, int64_t images, int64_t rows,
              int64_t columns);

    int64_t pixels = 0;            // of a step, which has a slice of 32 or several
    int64_t steps = 0, parts = 0;  // of a part; of the line
};

class WeightParts {
public:
    // `problem`: normalised. One part where it is short enough, as those of networks are: 32 images
    // of 112 x 112 on a CPU.
    WeightParts(const KernelInfo &kernel, const Conv2dProblem &problem);

    int64_t count() const { return images_.count() * rows_.count() * columns_.count(); }

    // Makes the operands of the whole, normalised, those of part i: some of its images, or rows of
    // one, or columns of one row, and what they reach of the input.
    void cut(int64_t i, Conv2dOperands &operands) const;

private:
    struct Axis {
        int64_t size, length;  // of all, of a part

        int64_t count() const { return (size + length - 1) / length; }
    };

    Axis images_, rows_, columns_;
};

// How many parts, of which each may be many, are added up at once: their memory is at most 16 MB,
// or eight times the gradient.
int64_t weight_parts_at_once(int64_t gradient_bytes);

}  // namespace hk::detail
