// conv2d_filter: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers: filter weight as generators/image_layout.h says; packed as
// generators/conv2d/conv2d_filter.h says, algorithm=winograd as generators/conv2d/winograd.h does.

#include "generators/conv2d/winograd.h"
#include "generators/convolution_parameters.h"
#include "schedules/conv2d/conv2d_filter.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class Conv2dFilterGenerator : public Conv2dParameters<Conv2dFilterGenerator> {
public:
    Input<Buffer<void, 5>> weight{"weight"};
    Output<Buffer<void, 6>> packed{"packed"};

    void configure() {
        weight.set_type(type);
        packed.set_type(pairs() ? type.value() : Float(32));
    }

    void generate() {
        constrain_filter(weight);
        const Conv2dLayout order(layout);
        const Func filter = order.filter("weight_csrkg", weight);
        const auto [dim_c, dim_s, dim_r, dim_k, dim_g] = order.filter_dims();
        const Expr channels = weight.dim(dim_c).extent(), columns = weight.dim(dim_s).extent();
        const Expr filters = weight.dim(dim_k).extent();
        if (slices_of_windows())
            build(conv2d_filter_pairs(joined_columns(filter, channels, columns), channels * columns,
                                      filters, false),
                  sc::conv2d_filter_schedules);
        else if (algorithm.value() == "slices" || (algorithm.value() == "vectors" && pairs()))
            build(conv2d_filter_pairs(filter, channels, filters, order.nhwc()),
                  sc::conv2d_filter_schedules);
        else if (algorithm.value() == "vectors")
            build(conv2d_filter(filter, filters), sc::conv2d_filter_schedules);
        else if (algorithm.value() == "winograd")
            build(conv2d_winograd_filter(filter, filters), sc::conv2d_winograd_filter_schedules);
        else
            refuse_algorithm({"vectors", "slices", "slices_of_windows", "winograd"});
    }

private:
    template<typename Stages>
    void build(Stages stages, const sc::Table<Stages, sc::Conv2dSizes> &table) {
        const std::vector<Var> arguments = stages.output.args();
        packed(arguments) = stages.output(arguments);
        stages.output = packed;
        begin_at_zero(packed, 6);
        constrain_filter_block(packed, kFilterBlock);
        if (algorithm.value() == "winograd") {
            packed.dim(2).set_extent(kWinogradPoints);
            packed.dim(3).set_extent(kWinogradPoints);
        }
        this->finish(table, stages, sizes());
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Conv2dFilterGenerator, conv2d_filter)
