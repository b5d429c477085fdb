// explorer: change a schedule, see what came out, measure it, keep the winner.
//
// Exit status: 2 for bad input, 1 where something failed.

#include <cstdlib>
#include <vector>

#include "compiler/setup.h"
#include "program/program.h"
#include "verb.h"

bool hk::explorer::Verb::chosen() const { return command_->given(); }

int main(int argc, char **argv) {
    hk::program::Flags flags("Change a schedule, see what came out, measure it, keep the winner");
    std::vector<std::unique_ptr<hk::explorer::Verb>> verbs;
    verbs.push_back(hk::explorer::list_verb());
    verbs.push_back(hk::explorer::show_verb());
    verbs.push_back(hk::explorer::diff_verb());
    verbs.push_back(hk::explorer::run_verb());
    verbs.push_back(hk::explorer::sweep_verb());
    for (const auto &verb : verbs) verb->add_to(flags);
    return hk::program::run("explorer", flags, argc, argv, [&] {
        // The tools that the build found, unless the user names others.
        setenv("HK_PTXAS", HK_PTXAS, 0);
        setenv("HK_FATBINARY", HK_FATBINARY, 0);
        hk::compiler::set_up_halide();
        for (const auto &verb : verbs)
            if (verb->chosen()) return verb->run();
        return 0;
    });
}
