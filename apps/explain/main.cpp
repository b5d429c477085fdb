// explain: which row of the table a problem takes on each target that is built, what the row needs,
// the ladder of fallbacks, and why the others were rejected. Bad input makes the exit status 2.

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "program/program.h"
#include "report.h"

int main(int argc, char **argv) {
    hk::program::Flags flags("Which kernel takes a problem, on each target, and what it needs");
    std::vector<std::unique_ptr<hk::explain::Verb>> verbs;
    verbs.push_back(hk::explain::conv2d_verb());
    verbs.push_back(hk::explain::quantized_conv2d_verb());
    verbs.push_back(hk::explain::conv2d_backward_data_verb());
    verbs.push_back(hk::explain::conv2d_backward_weight_verb());
    verbs.push_back(hk::explain::topk_verb());
    verbs.push_back(hk::explain::tensor_product_verb());
    verbs.push_back(hk::explain::activate_verb());
    verbs.push_back(hk::explain::activate_backward_verb());
    verbs.push_back(hk::explain::sgd_verb());
    verbs.push_back(hk::explain::pool2d_verb());
    verbs.push_back(hk::explain::pool2d_backward_verb());
    verbs.push_back(hk::explain::softmax_cross_entropy_verb());
    std::vector<const hk::program::Flags *> flags_of;
    bool json = false;
    int64_t shared_limit = -1;
    for (const auto &verb : verbs) {
        hk::program::Flags &own = flags.add_verb(verb->name(), verb->description());
        verb->add_flags(own);
        flags_of.push_back(&own);
        own.add("--shared-limit", shared_limit,
                "most bytes of shared memory a block, as HK_SHARED_LIMIT")
            .check(hk::program::not_negative());
        own.add("--json", json, "print an array of objects, one a target");
    }
    return hk::program::run("explain", flags, argc, argv, [&] {
        if (shared_limit >= 0) {
            setenv("HK_SHARED_LIMIT", std::to_string(shared_limit).c_str(), 1);
        }
        for (size_t i = 0; i < verbs.size(); ++i) {
            if (!flags_of[i]->given()) continue;
            const auto &verb = verbs[i];
            verb->prepare();
            const auto choices = hk::explain::choices_of(*verb);
            if (json) {
                std::cout << hk::explain::to_json(choices).dump(1) << '\n';
            } else {
                hk::explain::print(*verb, choices);
            }
        }
        return 0;
    });
}
