#include "compiler/let_values.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

class InPlace : public IRMutator {
public:
    explicit InPlace(const Lets &lets) : lets_(lets) {}

private:
    using IRMutator::visit;

    const Lets &lets_;
    Lets values_;

    Expr visit(const Variable *op) override {
        const auto let = lets_.find(op->name);
        if (let == lets_.end()) return op;
        Expr &value = values_[op->name];
        if (!value.defined()) value = mutate(let->second);
        return value;
    }
};

}  // namespace

Expr with_values(const Expr &expr, const Lets &lets) { return InPlace(lets).mutate(expr); }

}  // namespace hk::compiler
