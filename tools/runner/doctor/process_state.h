#pragma once

namespace mpsprobe {

/// Puts right what this process inherited and cannot work with: closed standard descriptors, an
/// ignored SIGCHLD, blocked signals, a low limit of open files. Ignores SIGPIPE and SIGXFSZ, which
/// errno tells where they can be dealt with. Call first in main.
void set_up_process();

}  // namespace mpsprobe
