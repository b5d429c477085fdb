#include "log.h"

#include <cstdio>
#include <cstdlib>

namespace hk::detail {

bool log_enabled(const char *topic) {
    const char *value = std::getenv("HK_LOG");
    std::string_view rest = value ? value : "";
    while (!rest.empty()) {
        const size_t comma = rest.find(',');
        if (rest.substr(0, comma) == topic) return true;
        rest.remove_prefix(comma == rest.npos ? rest.size() : comma + 1);
    }
    return false;
}

bool warnings_enabled() { return !log_enabled("off"); }

std::string describe(const Selection &selection, const std::string &problem) {
    std::string text = "hk select: " + problem + ": ";
    text += selection.kernel ? selection.kernel->name : "no kernel";
    for (const Rejection &rejection : selection.rejected) {
        text +=
            std::string("\nhk select:   not ") + rejection.kernel->name + ": " + rejection.reason;
    }
    return text + "\n";
}

std::string fallback_warning(const Selection &selection, const char *family, Device device,
                             const std::string &problem) {
    const Rung &preferred = selection.ladder.front();
    return std::string("hk warn: ") + family + " on " + device.name() + ": row " +
           preferred.kernel->row + " " + preferred.shortage + "; taking " + selection.kernel->row +
           ": " + problem + "\n";
}

void log_line(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace hk::detail
