#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/sample_journal.h"

namespace mpsprobe {

/// What a dying or malicious worker may print; put into every text that comes from one.
inline std::vector<std::string> hostile_texts() {
  return {
      "<script>alert(1)</script><img src=x onerror=alert(2)>",
      "</details></summary><h1>pwned</h1>",
      "```\n# heading\n````\n| a | b |\n",
      "a | b | c `d` ``e`` *f* _g_ [h](javascript:x) ![i](j) \\",
      "@everyone #1 https://example.invalid",
      "\x1b[2J\x1b]0;title\x07\x9b"
      "31m\r\b\x7f",
      "\xc2\x9b"
      "31m \xc2\x85 \xe2\x80\xa8",
      "\xe2\x80\xae"
      "evil \xe2\x81\xa6 \xe2\x80\x8f",
      "\xff\xfe\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80",
      std::string("nul\0nul", 7),
      std::string(20000, 'A'),
      std::string(5000, '`'),
  };
}

/// Stacks with `text` in every name, of two threads that wait for one another.
inline StackEvidence hostile_stacks(const std::string& text) {
  StackEvidence stacks;
  for (uint64_t id : {1, 2}) {
    ThreadStack stack;
    stack.thread_id = id;
    stack.name = text;
    stack.faulting = id == 1;
    stack.wait = {Wait::Kind::lock, id, 3 - id, false};
    stack.frames = {{text, text, id, text, text, false}, {text, text, id, "", "", false}};
    stacks.threads.push_back(stack);
  }
  stacks.lock_cycle = {1, 2};
  return stacks;
}

inline CrashReport hostile_crash_report(const std::string& text) {
  CrashReport report;
  for (std::string* field :
       {&report.file, &report.incident, &report.bug_type, &report.process, &report.os_version,
        &report.model, &report.exception, &report.signal, &report.subtype,
        &report.termination_namespace, &report.termination_indicator}) {
    *field = text;
  }
  report.termination_reasons = {text, text};
  report.application_info = {text, text};
  report.threads = hostile_stacks(text).threads;
  report.last_exception = report.threads[0].frames;
  return report;
}

/// A journal in which a failed trial carries `text` wherever a worker could have put it.
inline Journal journal_with(const std::string& text) {
  SampleJournal sample;
  sample.block(text).plan("sim/linear/nograph/threads=3").ran(2, 1);
  Journal& journal = sample.journal;
  journal.header.matrix_name = text;
  journal.header.matrix_description = text;
  journal.header.command_line.push_back(text);
  journal.header.environment = {"A=" + text};
  journal.header.machine[text] = text;
  journal.header.left_out.push_back({text, text});
  journal.provenances["build-a"]["torch"]["version"] = text;
  journal.provenances["build-a"]["torch"]["git_hash"] = text;
  journal.provenances["build-a"]["torch"]["path"] = text;
  journal.provenances["build-a"]["device"] = text;
  journal.ends = {{text, text, text}};
  for (TrialRecord& trial : journal.trials) {
    trial.worker = journal.header.workers[0].name = text;
    trial.before = text;
    trial.path_probe = PathProbe{text, text, text};
    ProcessRecord& process = trial.processes[0];
    process.err.head = process.out.head = text;
    process.err.noticed = {text};
    process.err.bytes = process.out.bytes = text.size();
    process.failures = {FailureEvent{text, text, text, 0, 0, text}};
    process.setup_problem = text;
    if (process.result) process.result->observed_path = text;
    for (ThreadPlace& place : process.recorder.threads) place.operation = text;
    for (FrameAddress& frame : process.recorder.crash.frames) frame.path = text;
    process.stacks = hostile_stacks(text);
    process.recorder.images = {{text, text}};
    process.image_set = text;
    process.crash_report = hostile_crash_report(text);
    process.gpu_events = {{text, text, text, 1, text}};
    if (!is_failure(trial.judgement.outcome)) continue;
    trial.judgement.signature = text;
    trial.judgement.detail = text;
    trial.judgement.also = {{text, false}};
  }
  journal.image_sets[text] = {{text, text}};
  return journal;
}

/// True where `text` is valid UTF-8 and holds nothing that acts on a terminal or hides text, line
/// ends apart.
inline bool is_harmless(std::string_view text) {
  for (std::string_view unseen : {"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f", "\xe2\x80\xa8"}) {
    if (text.find(unseen) != std::string_view::npos) return false;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f || byte == 0xff || byte == 0xfe) return false;
    // C1 controls are C2 80 to C2 9F.
    const bool more = i + 1 < text.size();
    if (byte == 0xC2 && more && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
  }
  return true;
}

}  // namespace mpsprobe
