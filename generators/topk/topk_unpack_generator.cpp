// topk_unpack: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers, innermost first, with any strides: algorithm=values: keys and output [place, x, y];
// algorithm=indices: indices [place, x, y], output [word, place, x, y].

#include "generators/kernel_generator.h"
#include "generators/topk/topk_unpack.h"
#include "schedules/topk/topk_unpack.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TopKUnpackGenerator : public KernelGenerator<TopKUnpackGenerator> {
public:
    Input<Buffer<void, 3>> items{"items"};
    Input<bool> floats{"floats"};
    Input<uint64_t> flip{"flip"}, infinity{"infinity"}, nan{"nan"};
    GeneratorOutput<Buffer<>> *output = nullptr;

    void configure() {
        check_algorithm({"values", "indices"});
        items.set_type(values() ? topk_key_type(type) : Int(32));
        output = values() ? add_output<Buffer<>>("output", type.value(), 3)
                          : add_output<Buffer<>>("output", Int(32), 4);
    }

    void generate() {
        begin_at_zero(items, 3);
        items.dim(0).set_stride(Expr());
        TopKUnpack stages =
            values() ? topk_unpack_values(items, type, topk_keys(type, floats, flip, infinity, nan))
                     : topk_unpack_indices(items);
        const std::vector<Var> dims = stages.output.args();
        (*output)(dims) = stages.output(dims);
        stages.output = *output;
        for (size_t d = 0; d < dims.size(); d++)
            stages.output.output_buffer().dim(static_cast<int>(d)).set_min(0);
        stages.output.output_buffer().dim(0).set_stride(Expr());
        const sc::Context context = schedule_context();
        finish(sc::topk_unpack_schedules, stages, context);
    }

private:
    bool values() const { return algorithm.value() == "values"; }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TopKUnpackGenerator, topk_unpack)
