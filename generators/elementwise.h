#pragma once
// Families that work element by element: their dimensions, their generators' parameters, and the
// layout of their buffers.
//
// Buffers: [x, y, z] each, with any strides. adjacent: elements along x lie next to each other in
// all of them. packed: and there is one run of them, so that y and z have one element.

#include "schedules/elementwise.h"

namespace hk::generators {

inline const Halide::Var x("x"), y("y"), z("z");

template<typename T>
class ElementwiseGenerator : public Halide::Generator<T> {
public:
    Halide::GeneratorParam<Halide::Type> type{"type", Halide::Float(32)};
    Halide::GeneratorParam<std::string> algorithm{"algorithm", ""};
    Halide::GeneratorParam<std::string> schedule_name{"schedule", "root"};
    Halide::GeneratorParam<std::string> knobs{"knobs", ""};
    Halide::GeneratorParam<int> fix_adjacent{"fix_adjacent", 0}, fix_packed{"fix_packed", 0};

protected:
    template<typename Buffer>
    void constrain(Buffer &buffer) const {
        for (int d = 0; d < 3; d++) buffer.dim(d).set_min(0);
        for (int d = 1; d < 3 && fix_packed; d++) buffer.dim(d).set_extent(1);
        constrain_strides(buffer);
    }

    // Enough for the second buffer of an output with two: it has the first one's sizes.
    template<typename Buffer>
    void constrain_strides(Buffer &buffer) const {
        if (!fix_adjacent && !fix_packed) buffer.dim(0).set_stride(Halide::Expr());
    }

    void check_algorithm(const std::vector<std::string> &names) const {
        std::string all;
        for (const std::string &name : names) {
            if (algorithm.value() == name) return;
            all += (all.empty() ? "" : " or ") + name;
        }
        throw Halide::CompileError("algorithm is " + algorithm.value() + ", not " + all);
    }

    // Of an output's dimensions. `cases`: conditions on arguments, each of which selects a part of
    // the algorithm.
    schedules::ElementwiseContext context(const Halide::OutputImageParam &output,
                                          std::vector<Halide::Expr> cases) const {
        return {this->get_target(),
                schedule_name,
                knobs,
                output.dim(0).extent(),
                output.dim(1).extent(),
                output.dim(0).extent() * output.dim(1).extent() * output.dim(2).extent(),
                std::move(cases)};
    }
};

}  // namespace hk::generators
