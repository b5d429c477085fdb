#pragma once
// What a run did, as JSON, for plot.py and for whoever compares runs.

#include <string>
#include <vector>

#include "trainer.h"

namespace hk::train {

// Throws program::FileError.
void write_history(const std::string &file, const TrainOptions &options, const Trainer &trainer,
                   const std::vector<EpochReport> &epochs, int ranks);

}  // namespace hk::train
