#pragma once
// The flags of every verb that convolves: shapes, layout and options.

#include <string>

#include "hk/conv2d.h"

#include "program/flags.h"

namespace hk::explain {

class ConvFlags {
public:
    void add_to(program::Flags &flags);

    // These read the flags; they throw InvalidArgument.
    Conv2dOptions options() const;
    Shape input() const;
    Shape weight() const;

    // "f32 nhwc: input [1, 8, 8, 3], weight [4, 3, 3, 3], output [1, 6, 6, 4]", after `types`.
    std::string words(const std::string &types, const Conv2dProblem &problem) const;

private:
    std::string layout_ = "nhwc", input_, weight_, stride_ = "1", padding_ = "0", dilation_ = "1";
    int64_t groups_ = 1;
};

}  // namespace hk::explain
