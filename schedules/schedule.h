#pragma once
// What every schedule is given, and the tile sizes that a caller may override.

#include <map>
#include <string>

#include "Halide.h"

namespace hk::schedules {

// Overrides of a chooser's sizes, written tile_x:8,tile_k:16. A schedule takes the ones that it
// knows; end() throws Halide::CompileError for the others.
class Knobs {
public:
    explicit Knobs(const std::string &text);
    void take(const std::string &name, int &value);
    void end() const;

private:
    std::map<std::string, int> values_;
};

// A schedule of one algorithm, found by its name.
template<typename Stages, typename Context>
using Table = std::map<std::string, void (*)(Stages &, const Context &)>;

template<typename Stages, typename Context>
void apply(const Table<Stages, Context> &table, const std::string &name, Stages &stages, const Context &context) {
    const auto found = table.find(name);
    if (found == table.end()) {
        std::string names;
        for (const auto &entry : table) names += (names.empty() ? "" : ", ") + entry.first;
        throw Halide::CompileError("no schedule " + name + " for this algorithm, only " + names);
    }
    found->second(stages, context);
}

}  // namespace hk::schedules
