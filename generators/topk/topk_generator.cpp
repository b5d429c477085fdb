// topk: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers: input [i, x, y] as unsigned integers of its elements' width; values [place, x, y]
// likewise; indices [word, place, x, y], as words of 32 bits: the lower one, and 0.

#include "generators/kernel_generator.h"
#include "generators/topk/topk.h"
#include "schedules/topk/topk.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TopKGenerator : public KernelGenerator<TopKGenerator> {
public:
    GeneratorParam<int> fix_values{"fix_values", 1}, fix_indices{"fix_indices", 1};
    GeneratorParam<int> fix_adjacent{"fix_adjacent", 0};

    Input<Buffer<void, 3>> input{"input"};
    Input<int> k{"k"}, chunk{"chunk"};
    Input<bool> floats{"floats"};
    Input<uint64_t> flip{"flip"}, infinity{"infinity"}, nan{"nan"};

    void configure() {
        set_types(input);
        if (fix_values) values_ = add_output<Buffer<>>("values", type.value(), 3);
        if (fix_indices) indices_ = add_output<Buffer<>>("indices", Int(32), 4);
    }

    void generate() {
        begin_at_zero(input, 3);
        if (!fix_adjacent) input.dim(0).set_stride(Expr());
        sc::TopKContext context{schedule_context()};
        context.type = type;
        context.adjacent = input.dim(0).stride() == 1;
        context.rows = input.dim(1).extent() * input.dim(2).extent();
        const TopKRow row = {input,
                             input.dim(0).extent(),
                             input.dim(1).extent(),
                             k,
                             topk_keys(type, floats, flip, infinity, nan),
                             type,
                             fix_values != 0,
                             fix_indices != 0,
                             sc::topk_lanes(context)};
        TopK stages = stages_of(row);
        define_outputs(row, stages.result);
        finish(sc::topk_schedules, stages, context);
    }

private:
    GeneratorOutput<Buffer<>> *values_ = nullptr, *indices_ = nullptr;

    TopK stages_of(const TopKRow &row) const {
        if (algorithm.value() == "chunks") return topk_chunks(row, chunk);
        if (algorithm.value() == "columns") return topk_columns(row, chunk);
        if (algorithm.value() == "whole") return topk_whole(row);
        if (algorithm.value() == "sort") return topk_sort(row);
        refuse_algorithm({"chunks", "columns", "whole", "sort"});
    }

    void define_outputs(const TopKRow &row, const Func &result) {
        const Var word("word");
        int part = 0;
        const auto next = [&]() -> Expr {
            const FuncRef all = result(place, x, y);
            return result.outputs() > 1 ? Expr(all[part++]) : Expr(all);
        };
        if (row.values) {
            (*values_)(place, x, y) = row.keys.bits(next());
            for (int d = 0; d < 3; d++) values_->dim(d).set_min(0);
            values_->dim(0).set_stride(Expr());
        }
        if (row.indices) {
            (*indices_)(word, place, x, y) = select(word == 0, next(), 0);
            for (int d = 0; d < 4; d++) indices_->dim(d).set_min(0);
        }
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TopKGenerator, topk)
