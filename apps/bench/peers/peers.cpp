#include <iostream>

#include "peers/peer.h"

namespace hk::bench {

bool is_right(const Peer &peer, const Check &check) {
    return check.failure.empty() || check.max_error <= peer.tolerance();
}

std::vector<Contestant> right_ones(Peers peers,
                                   const std::function<Check(const Outputs &)> &check) {
    std::vector<Contestant> result;
    for (auto &made : peers) {
        std::shared_ptr<Peer> peer = std::move(made);
        peer->run();
        if (!is_right(*peer, check(peer->outputs()))) {
            std::cerr << "bench: " << peer->name() << " (" << peer->variant()
                      << ") is wrong here and takes no part\n";
            continue;
        }
        const auto work = [raw = peer.get()](int count) { return raw->repeat(count); };
        result.push_back({peer->name(), peer->variant(), peer->same_task(), work, peer});
    }
    return result;
}

}  // namespace hk::bench
