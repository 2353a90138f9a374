#include <fmt/format.h>

#include "reports/words/safe_text.h"
#include "reports/words/stack_words.h"
#include "reproducers/tracker/issue_text.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFramesForMlx = 16;

// The template's own words, and nothing below them: that is for a person to write.
std::string heading(std::string_view text) {
  return fmt::format("**{}**\n\n", text);
}

}  // namespace

std::string mlx_issue_text(const IssueFacts& facts, const std::string& program,
                           const std::string& language) {
  const Analysis& analysis = *facts.analysis;
  const SignatureGroup& group = group_of(facts);
  std::string text = heading("Describe the bug") + heading("To Reproduce");
  if (!program.empty()) {
    text += code_block(program, language) + files_beside(facts) + "\n" +
            code_block(facts.steps, "sh") + "\n";
    if (!facts.proof.empty()) text += escaped(facts.proof, 1000) + "\n\n";
    text += "As a cell of mpsprobe:\n\n";
  } else if (!facts.why_no_python.empty()) {
    text += escaped(facts.why_no_python, 400) + "\n\n";
  }
  text += code_block(facts.command, "sh") + "\n";
  text += runs_table(facts, facts.cell, crash_table(analysis, facts.cell, facts.signature), "MLX") +
          "\n";
  text += heading("Expected behavior");
  text += "**Desktop (please complete the following information):**\n";
  text += fmt::format(" - OS Version: {}\n", escaped(machine_fact(facts, "os")));
  for (const SignatureGroup::Where& where : group.cells) {
    const Arm& arm = analysis.arms[where.arm];
    std::string line = fmt::format(" - Version {} (build id {})\n", escaped(arm.version),
                                   arm.build_id.empty() ? "not told" : escaped(arm.build_id));
    for (const std::string& device : arm.devices) {
      line += fmt::format(" - Device {}\n", escaped(device));
    }
    if (text.find(line) == std::string::npos) text += line;
  }
  text += "\n" + heading("Additional context");
  const std::string chip = machine_fact(facts, "chip");
  if (!chip.empty()) text += code_block(chip) + "\n";
  for (const ThreadStack& stack : group.first.stacks.threads) {
    if (!stack.faulting || stack.frames.empty()) continue;
    text += code_block(facts.signature + "\n\n" +
                       stack_in_words(stack.frames, kMostFramesForMlx, Entry::fold));
    break;
  }
  text += "\n" + others_in_words(facts);
  return text;
}

}  // namespace mpsprobe
