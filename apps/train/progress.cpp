#include "progress.h"

#include <unistd.h>

#include <cstdio>

namespace hk::train {
namespace {

constexpr int kWidth = 30;

}

ProgressBar::ProgressBar() : terminal_(isatty(STDERR_FILENO)) {}

void ProgressBar::show(const std::string &title, int64_t done, int64_t all,
                       const std::string &text) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    const auto full = static_cast<size_t>(kWidth * done / all);
    const std::string bar = std::string(full, '#') + std::string(kWidth - full, '.');
    std::fprintf(stderr, "\r%s [%s] %3lld %%  %s\033[K", title.c_str(), bar.c_str(),
                 static_cast<long long>(100 * done / all), text.c_str());
    shown_ = true;
}

void ProgressBar::clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

}  // namespace hk::train
