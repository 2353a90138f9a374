#include "scenarios/threads/meeting.h"

namespace mpsprobe {
namespace {

thread_local Meeting* tl_stages = nullptr;

}  // namespace

Meeting::Stages::Stages(Meeting& meeting) {
  tl_stages = &meeting;
}

Meeting::Stages::~Stages() {
  tl_stages = nullptr;
}

void end_of_stage() {
  if (tl_stages != nullptr) tl_stages->wait();
}

}  // namespace mpsprobe
