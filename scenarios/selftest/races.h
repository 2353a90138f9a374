#pragma once

/// What several threads do to the same objects, with a guard or without: what ThreadSanitizer must
/// report, and what it must not. In a namespace that is not the project's own, since a race of the
/// project's code is never laid to a library.
namespace planted {

// Called by each thread of a cell, with its index and how many there are.

/// A registry that is made by whoever asks first, without a guard.
void unguarded_registry(int thread, int threads);
/// The same under a lock, as are the entries in it.
void locked_registry(int thread, int threads);
/// A number that all threads add to.
void unguarded_count(int thread, int threads);
/// What one thread reads while another gives its memory back.
void released_in_use(int thread, int threads);

}  // namespace planted
