#pragma once
// Families that work element by element: their dimensions, their generators' parameters, and the
// layout of their buffers.
//
// Buffers: [x, y, z] each, with any strides. adjacent: elements along x lie next to each other in
// all of them. packed: and there is one run of them, so that y and z have one element. aligned: and
// all begin at a multiple of kAlignment bytes.

#include "generators/kernel_generator.h"
#include "generators/letters.h"
#include "schedules/elementwise.h"

namespace hk::generators {

template<typename T>
class ElementwiseGenerator : public KernelGenerator<T> {
public:
    Halide::GeneratorParam<int> fix_adjacent{"fix_adjacent", 0}, fix_packed{"fix_packed", 0},
        fix_aligned{"fix_aligned", 0};

protected:
    template<typename Buffer>
    void constrain(Buffer &buffer) const {
        this->begin_at_zero(buffer, 3);
        for (int d = 1; d < 3 && fix_packed; d++) buffer.dim(d).set_extent(1);
        constrain_strides(buffer);
    }

    static constexpr int kAlignment = 16;  // bytes, as runtime/src/elementwise/elementwise.h has it

    // Enough for the second buffer of an output with two: it has the first one's sizes.
    template<typename Buffer>
    void constrain_strides(Buffer &buffer) const {
        if (!fix_adjacent && !fix_packed) buffer.dim(0).set_stride(Halide::Expr());
        if (fix_aligned) buffer.set_host_alignment(kAlignment);
    }

    // Of an output's dimensions. `cases`: conditions on arguments, each of which selects a part of
    // the algorithm.
    schedules::ElementwiseContext context(const Halide::OutputImageParam &output,
                                          std::vector<Halide::Expr> cases) const {
        schedules::ElementwiseContext context{this->schedule_context()};
        context.packed = fix_packed != 0;
        context.length = output.dim(0).extent();
        context.runs = output.dim(1).extent();
        context.elements = context.length * context.runs * output.dim(2).extent();
        context.cases = std::move(cases);
        return context;
    }
};

}  // namespace hk::generators
