#pragma once
// What the generators of all families have: the parameters that a row of kernels.cmake gives them,
// and the schedule by its name.

#include "compiler/in_place.h"
#include "compiler/lowering.h"
#include "schedules/schedule.h"

namespace hk::generators {

template<typename T>
class KernelGenerator : public Halide::Generator<T>, public compiler::InPlace {
public:
    Halide::GeneratorParam<Halide::Type> type{"type", Halide::Float(32)};
    Halide::GeneratorParam<std::string> algorithm{"algorithm", ""};
    Halide::GeneratorParam<std::string> schedule_name{"schedule", "root"};
    Halide::GeneratorParam<std::string> knobs{"knobs", ""};

protected:
    schedules::Context schedule_context() const {
        const Halide::Target target = this->get_target();
        return {.target = target,
                .schedule = schedule_name,
                .knobs = schedules::knobs_for(target, knobs)};
    }

    // Buffers of the row's type.
    template<typename... Buffers>
    void set_types(Buffers &...buffers) {
        (buffers.set_type(type), ...);
    }

    // The least index of every dimension is 0.
    template<typename Buffer>
    static void begin_at_zero(Buffer &buffer, int dimensions) {
        for (int d = 0; d < dimensions; d++) buffer.dim(d).set_min(0);
    }

    void check_algorithm(const std::vector<std::string> &names) const {
        for (const std::string &name : names) {
            if (algorithm.value() == name) return;
        }
        refuse_algorithm(names);
    }

    [[noreturn]] void refuse_algorithm(const std::vector<std::string> &names) const {
        std::string all;
        for (const std::string &name : names) {
            all += &name == &names.front() ? "" : &name == &names.back() ? " or " : ", ";
            all += name;
        }
        throw Halide::CompileError("algorithm is " + algorithm.value() + ", not " + all);
    }

    // Applies the schedule that the row names. Last in generate().
    template<typename Stages, typename ContextOfFamily>
    void finish(const schedules::Table<Stages, ContextOfFamily> &table, Stages &stages,
                const ContextOfFamily &of_family) {
        schedules::apply(table, schedule_name.value(), stages, of_family);
        compiler::add_lowering_passes(this->get_pipeline(), this->get_target());
    }
};

}  // namespace hk::generators
