#include "tile_registers.h"

#if HK_AMX && defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace hk::detail {

bool has_tile_registers() noexcept {
#if HK_AMX && defined(__linux__) && defined(__x86_64__)
    static const bool granted = [] {
        constexpr long request = 0x1023;  // ARCH_REQ_XCOMP_PERM
        constexpr long tiles = 18;        // XFEATURE_XTILEDATA
        return syscall(SYS_arch_prctl, request, tiles) == 0;
    }();
    return granted;
#else
    return false;
#endif
}

}  // namespace hk::detail
