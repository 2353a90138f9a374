#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// A recorded failure, or a text that is none, in the form of a file:
///
///   bug: encoder-already-encoding          the same slug for the same bug
///   kind: failure                          or negative
///   source: https://...                    where it comes from
///   signal: SIGABRT                        how it ended; or exit: 11, or hang: no_progress
///
///   --- text
///   what it printed
///   --- frames
///   AGXMetalG16X  -[AGXG16XFamilyComputeContext setComputePipelineState:] + 32
///
/// Optional lines more: address, stack pointer (hexadecimal), phase, operation, step, path, hello,
/// ready and result (yes or no), namespace (of the crash report's termination), subtype, wait
/// (cycle or owner_gone). Optional sections more: asi and reasons (one array entry a line), crash
/// report frames, last exception, failures (kind, operation and text, tabs between them). Lines of
/// other names are for other readers. Without a signal, exit or hang the text and the frames tell:
/// a shell's words, stacks of a process that hangs, else frames mean SIGSEGV, last words that abort
/// SIGABRT, anything else exit 1.
struct CorpusCase {
  std::string name;
  std::string bug;
  bool negative = false;
  std::string path;  ///< of the cell: "nograph", or empty
  ProcessRecord process;
};

/// Whether a case's text is what the process printed, or what somebody pasted of it.
enum class CaseText : uint8_t { as_printed, pasted };

/// A frame as people write it: "image  function + offset", with or without a number and an address
/// in front, or as read_written_frame() reads it.
StackFrame frame_by_hand(std::string_view line);

/// Reads one. A pasted text goes through the product's reader (pasted_process.h). Throws InputError
/// for a file that is not of this form.
CorpusCase read_corpus_case(const std::string& name, std::string_view text,
                            CaseText kind = CaseText::as_printed);

}  // namespace mpsprobe
