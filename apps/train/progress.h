#pragma once
// A bar on the terminal behind stderr. Where stderr is no terminal it writes nothing.

#include <chrono>
#include <cstdint>
#include <string>

namespace hk::train {

class ProgressBar {
public:
    ProgressBar();

    // Draws the bar anew, at most 20 times a second.
    void show(const std::string &title, int64_t done, int64_t all, const std::string &text);

    void clear();

private:
    bool terminal_, shown_ = false;
    std::chrono::steady_clock::time_point next_;
};

}  // namespace hk::train
