#include "history.h"

#include <nlohmann/json.hpp>

#include "program/file.h"

namespace hk::train {
namespace {

using nlohmann::json;

json json_of(const Score &score) {
    return {{"loss", score.loss}, {"top1", score.top1}, {"top3", score.top3}};
}

json json_of(const Memory &memory) {
    return {{"live", memory.live},
            {"peak", memory.peak},
            {"reserved", memory.reserved},
            {"resident", memory.resident}};
}

}  // namespace

void write_history(const std::string &file, const TrainOptions &options, const Trainer &trainer,
                   const std::vector<EpochReport> &epochs, int ranks) {
    json history;
    history["options"] = {{"type", name_of(options.type)},
                          {"device", options.device.name()},
                          {"ranks", ranks},
                          {"epochs", options.epochs},
                          {"batch", options.batch},
                          {"seed", options.seed},
                          {"learning_rate", options.learning_rate},
                          {"momentum", options.momentum},
                          {"weight_decay", options.weight_decay}};
    history["digits"] = {{"train", trainer.digits().train.count()},
                         {"test", trainer.digits().test.count()}};
    history["parameters"] = trainer.network().parameter_count();
    history["fingerprint"] = trainer.fingerprint();
    for (const EpochReport &epoch : epochs) {
        history["epochs"].push_back({{"train", json_of(epoch.train)},
                                     {"test", json_of(epoch.test)},
                                     {"seconds", epoch.seconds},
                                     {"learning_rate", epoch.learning_rate},
                                     {"memory", json_of(epoch.memory)}});
    }
    for (const StepReport &step : trainer.steps()) {
        history["steps"].push_back({{"loss", step.loss}, {"memory", json_of(step.memory)}});
    }
    program::write_file(file, history.dump(1) + '\n');
}

}  // namespace hk::train
