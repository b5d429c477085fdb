#pragma once
// What every schedule is given, and the sizes of its chooser that a caller may override: its knobs.

#include <initializer_list>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "Halide.h"

namespace hk::schedules {

// A size that a chooser has chosen, or a caller, and all that make sense.
struct Knob {
    std::string name;
    int value;
    std::vector<int> legal;  // in the order of size
};

// What a schedule uses of something that the machine has so many of: an estimate, with which a
// sweep leaves out sizes before it compiles them.
struct Estimate {
    std::string what;  // "vector registers", "bytes of shared memory"
    int64_t uses, has;
};

// What the schedule that was applied has said of itself.
struct KnobSpace {
    std::string file;  // of its chooser
    int line = 0;
    std::vector<Knob> knobs;
    std::vector<Estimate> estimates;
};

// Sizes first, first + step, … up to last.
std::vector<int> steps(int first, int last, int step = 1);
// Powers of two from first to last.
std::vector<int> powers(int first, int last);

// Registers of a CPU's vectors: 32 of AVX-512, else 16.
int vector_registers(const Halide::Target &target);

// A cycle, of 64 bytes, as Zen 4 has, whose features later cores have too.
bool one_multiply_add(const Halide::Target &target);

// A row's knobs for this target: of tile_y:2/1 tile_y:1 where the CPU has one multiply-add a cycle,
// else tile_y:2.
std::string knobs_for(const Halide::Target &target, const std::string &knobs);

// Threads that a CPU's loops run on, when the kernel is called: for the number of tasks alone.
Halide::Expr number_of_threads();

// Overrides of a chooser's sizes, written tile_x:8,tile_k:16. The chooser takes each of its sizes,
// says which are legal and what must hold between them; end() throws for a knob that it did not
// take. All throw Halide::CompileError, in a line that says what is allowed. Called with the file
// and line where it stands, the chooser, for whoever listens.
class Knobs {
public:
    explicit Knobs(const std::string &text,
                   std::source_location chooser = std::source_location::current());

    // `value`: the chooser's; what is overridden has to be one of `legal`.
    void take(const std::string &name, int &value, const std::vector<int> &legal);
    // A constraint between knobs: "threads_x divides tile_x".
    static void require(bool holds, const std::string &what);
    // Not an error where it is exceeded: an estimate errs.
    static void estimate(const std::string &what, int64_t uses, int64_t has);
    void end() const;

private:
    std::map<std::string, int> values_;
    std::vector<std::string> taken_;
};

// Hears what the schedules say that are applied in this thread while it lives. One at a time.
class KnobListener {
public:
    KnobListener();
    ~KnobListener();
    KnobListener(const KnobListener &) = delete;
    KnobListener &operator=(const KnobListener &) = delete;

    // A chooser that is asked again is heard once.
    const KnobSpace &space() const { return space_; }

private:
    friend class Knobs;
    KnobSpace space_;
};

// What every schedule is given.
struct Context {
    Halide::Target target;
    std::string schedule, knobs;
};

// The schedules of one algorithm, by the names that rows of kernels.cmake have. "root", the
// baseline without a directive, is in every table; one that has directives, or whose algorithm
// takes its sizes from knobs, stands there.
template<typename Stages, typename ContextOfFamily>
struct TableEntry {
    std::string_view name;
    void (*apply)(Stages &, const ContextOfFamily &);
};
// A constant, for which no code is made in the many sources that include it.
template<typename Stages, typename ContextOfFamily>
using Table = std::initializer_list<TableEntry<Stages, ContextOfFamily>>;

// Such a root: the algorithm has taken the knobs.
template<typename Stages, typename ContextOfFamily>
void root_of_sizes(Stages &, const ContextOfFamily &) {}

template<typename Stages, typename ContextOfFamily>
void apply(const Table<Stages, ContextOfFamily> &table, const std::string &name, Stages &stages,
           const ContextOfFamily &context) {
    const auto *found = table.begin();
    while (found != table.end() && found->name != name) ++found;
    if (found != table.end()) {
        found->apply(stages, context);
    } else if (name == "root") {
        Knobs(context.knobs).end();
    } else {
        std::string names = "root";
        for (const auto &entry : table)
            if (entry.name != "root") names.append(", ").append(entry.name);
        throw Halide::CompileError("no schedule " + name + " for this algorithm, only " + names);
    }
}

}  // namespace hk::schedules
