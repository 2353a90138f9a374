#pragma once

#include <cstdint>

namespace mpsprobe::observer {

/// The rules that are watched, in the order of their rows.
enum class RuleId : uint8_t {
  second_encoder,
  commit_open_encoder,
  double_commit,
  encoder_after_commit,
  scheduled_handler_after_commit,
  completed_handler_after_commit,
  wait_before_commit,
  encode_after_end,
  end_twice,
  release_without_end,
  foreign_encoder,
  no_function,
  dispatch_without_pipeline,
  unbound_buffer,
  dispatch_after_end,
  shared_encoder,
  shared_command_buffer,
  foreign_command_buffer,
  shared_kernel,
  fill_beyond_buffer,
  copy_beyond_buffer,
  array_beyond_buffer,
  unfed_placeholder,
  handed_over_encoder,
  off_queue,
  borrowed_buffer,
  own_encoder,
  shared_allocator,
  reset_while_recording,
  commit_while_recording,
  shared_commit_options,
};

/// One rule, for whoever broke it. Static storage.
struct RuleText {
  const char* name;
  const char* broken;  ///< what the caller did
  const char* rule;    ///< what Apple says, in our words
  const char* remedy;
  const char* address;  ///< where Apple says it
  bool proof;           ///< false: a suspicion, which no run fails for
};

const RuleText& text_of(RuleId rule);

}  // namespace mpsprobe::observer
