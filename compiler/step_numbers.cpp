#include "compiler/step_numbers.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

StepNumbers::StepNumbers(int count) : name_(unique_name("step")), count_(count) {}

Expr StepNumbers::operator[](int i) const {
    return Load::make(Int(32), name_, i, Buffer<>(), Parameter(), const_true(), ModulusRemainder());
}

Stmt StepNumbers::set(int i, const Expr &value) const {
    return Store::make(name_, value, i, Parameter(), const_true(), ModulusRemainder());
}

Stmt StepNumbers::set_all(const std::vector<std::pair<int, Expr>> &values) const {
    std::vector<std::string> names;
    std::vector<Stmt> sets;
    for (const auto &[number, value] : values) {
        names.push_back(unique_name("next"));
        sets.push_back(set(number, Variable::make(Int(32), names.back())));
    }
    Stmt result = Block::make(sets);
    for (size_t i = values.size(); i-- > 0;)
        result = LetStmt::make(names[i], values[i].second, result);
    return result;
}

Stmt StepNumbers::allocated_around(const Stmt &body) const {
    return Allocate::make(name_, Int(32), MemoryType::Register, {count_}, const_true(), body);
}

}  // namespace hk::compiler
