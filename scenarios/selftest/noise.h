#pragma once

/// Ways to confuse whoever listens: floods, garbage, texts that look like something else, and
/// processes that stay behind.
namespace mpsprobe::noise {

void flood_stderr();        ///< 256 MiB
void garbage_everywhere();  ///< binary on stdout, stderr and the events channel
void scribbled_recorder();  ///< overwrites the whole flight recorder
void hostile_text();     ///< markup, terminal escapes, broken UTF-8, a very long line; then aborts
void closes_channels();  ///< closes every descriptor and leaves with 0
void grandchild_in_group();        ///< a child keeps the pipes open, in the same process group
void grandchild_in_own_session();  ///< the same, out of the group's reach
void gpu_error_text();  ///< prints what LibTorch prints of a failed command buffer, and goes on
void forged_result();   ///< writes a result event, then dies of a null dereference
void slow();            ///< takes long, but gets on
void slow_teardown();   ///< starts threads that exit() joins, one every 0.2 s

// The texts that Metal, MPS and the allocators print before an abort; then aborts.
void abort_encoder_already_encoding();
void abort_uncommitted_encoder();
void abort_scheduled_after_commit();
void abort_completed_after_commit();
void abort_already_committed();
void abort_status_committed();
void abort_blit_encoder();
void abort_allocator_shutdown();
void abort_wrapped_text();  ///< an assertion broken over two lines, in the other quote style

}  // namespace mpsprobe::noise
