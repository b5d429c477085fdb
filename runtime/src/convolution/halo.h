#pragma once
// The line of pixels with zeros around images that kernels of halos read
// (generators/conv2d/halo.h).

#include <array>
#include <cstdint>

#include "convolution/line.h"
#include "convolution/operands.h"
#include "kernel_arguments.h"

namespace hk::detail {

// Whether the kernel reads it.
inline bool takes_halo(const KernelInfo &kernel) { return takes_on_cuda(kernel, "halo_row"); }

class Halo {
public:
    // Of a convolution; of the one that the gradient of its input is.
    static Halo of_output(const Conv2dProblem &problem);
    static Halo of_input(const Conv2dProblem &problem);

    // What the windows of so many neighbouring outputs meet at most, from the first one's place to
    // the last tap's. More than any where a place is no int32.
    __int128 pixels(int64_t outputs) const;
    std::array<NamedArgument, 6> named() const;

private:
    // Rows of what is read, and of the zeros above.
    struct Source {
        int64_t rows, above;
    };
    Halo(int64_t columns, int64_t rows, Source source, const Conv2dProblem &problem);

    int64_t columns_, rows_, batch_;  // of an image's outputs; images
    int64_t reach_x_, reach_y_;       // from a window's first tap to its last
    // From a row to the next one, from an image, whose last rows of zeros are the next one's first.
    __int128 row_, image_;
};

}  // namespace hk::detail
