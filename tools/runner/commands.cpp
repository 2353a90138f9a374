#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "reproducers/bundle/evidence.h"
#include "tools/runner/bisect/bisect_command.h"
#include "tools/runner/command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/help/help.h"
#include "tools/runner/option_check.h"
#include "tools/runner/repro/repro_command.h"
#include "tools/runner/run/finish_report.h"
#include "tools/runner/run/own_code.h"
#include "tools/runner/run/run_command.h"
#include "tools/runner/run/run_options.h"
#include "tools/runner/say.h"
#include "tools/runner/verify/verify_command.h"

namespace mpsprobe {

constexpr const char* kAllExitCodes =
    "Exit codes: 0 complete (a boundary found is a result), 1 what --fail-on names was found, 2 "
    "wrong usage, 3 the harness or the machine could not do it, 4 nothing selected or nothing "
    "could run, 5 the report could not be written, 6 incomplete: what was planned was not done, "
    "130 interrupted.";

const char* const kExitCodes = kAllExitCodes;

const char* const kDescription =
    "Finds where a GPU software stack stops being thread-safe: runs cells of a matrix (threads x "
    "operation x path x processes) in isolated processes and writes a boundary report.";

namespace {

constexpr std::string_view kRunAndLook = "Run and look";
constexpr std::string_view kResults = "With a run's results";
constexpr std::string_view kShell = "For the shell";

RunCommand add_run(CLI::App& app, const Called& called) {
  const auto options = std::make_shared<RunOptions>();
  options->command_line = called.words;
  options->command = called.command;
  add_run_options(app, *options);
  // What a real run found lies in its folder, whether somebody listens or not.
  return [options] {
    use_own_code(*options);
    const int code = run_command_line(*options);
    return options->dry_run ? printed(code) : code;
  };
}

/// A command with options of `run`, which keeps what was called.
template <typename Options, auto Add, auto Run>
RunCommand like_run(CLI::App& app, const Called& called) {
  Options begin;
  begin.command_line = called.words;
  begin.command = called.command;
  return bound<Options>(app, Add, Run, begin);
}

RunCommand add_show(CLI::App& app, const Called& /*called*/) {
  const auto folder = std::make_shared<std::string>();
  app.add_option("run", *folder, "folder of a run, or its report.json")
      ->required()
      ->type_name("FOLDER|report.json");
  return [folder] { return printed(show_run(folder_of_run(*folder))); };
}

RunCommand add_completions(CLI::App& app, const Called& called) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  return [shell, program = called.program, words = called.command] {
    say(stdout, "{}",
        words.empty() ? completion_script(*shell) : completions_of(words, commands_of(*program)));
    return printed(kExitOk);
  };
}

RunCommand add_man(CLI::App& /*app*/, const Called& called) {
  return [program = called.program] {
    say(stdout, "{}", man_page(kDescription, kExitCodes, commands_of(*program)));
    return printed(kExitOk);
  };
}

const std::array kCommands{
    Command{
        "run", kRunAndLook, "run a matrix, single cells or your own command, and write the report",
        "Examples:\n"
        "  mpsprobe run --matrix                      the default matrix on the best backend here\n"
        "  mpsprobe run --matrix quick --backend cpu\n"
        "  mpsprobe run --op linear --path nograph,graph --threads 1-8 --trials 30\n"
        "  mpsprobe run --cell sim/linear/nograph/threads=3 --trials 30\n"
        "  mpsprobe run --threads 1-8 -- python train.py --workers {threads}\n"
        "  mpsprobe run --resume mpsprobe-out/2026-01-31T12-34-56Z-default",
        kAllExitCodes, add_run, true},
    Command{"repro", kResults,
            "reduce a failing cell to its minimal form, and show what is necessary for it",
            "Examples:\n"
            "  mpsprobe repro sim/linear/nograph/threads=8/iterations=50\n"
            "  mpsprobe repro mpsprobe-out/2026-01-31T12-34-56Z-default/report.json\n"
            "  mpsprobe repro mpsprobe-out/2026-01-31T12-34-56Z-default --signature 'uncommitted "
            "encoder'",
            "Exit codes: 0 reduced, or the budget used up, 2 wrong usage, 3 the harness or the "
            "machine could not do it, 4 the cell does not fail here or cannot run, 5 the result "
            "could not be written; its trials are kept, 130 interrupted.",
            like_run<ReproOptions, add_repro_options, repro_command_line>},
    Command{"debug", kResults, "run a failing cell under gdb or lldb until it fails",
            "Examples:\n"
            "  mpsprobe debug mpsprobe-out/2026-01-31T12-34-56Z-default --signature 'eval_impl'\n"
            "  mpsprobe debug sim/linear/nograph/threads=3 --debugger lldb",
            "Exit codes: 0 it failed, and you were at the prompt, 2 wrong usage, 3 the harness or "
            "the machine could not do it, 4 none of the attempts crashed or hung.",
            add_debug},
    Command{"list", kRunAndLook, "show what there is to run", "", "", add_list},
    Command{"doctor", kRunAndLook,
            "check workers, libraries, limits and environment, and say what to do", "",
            "Exit codes: 0 nothing failed, 2 wrong usage, 3 a check failed.", add_doctor},
    Command{"report", kResults, "write the report again from a journal, in any format", "", "",
            add_report},
    Command{"show", kRunAndLook, "print what a run came to, and write nothing", "", "", add_show},
    Command{"merge", kResults, "put the shards of a run together, and write their report",
            "Examples:\n"
            "  mpsprobe run --matrix --shard 1/3 --out shards/1        on the first machine\n"
            "  mpsprobe merge shards --out night --format html,json",
            "Exit codes: 0 merged and complete, 2 wrong usage, other plans or unlike machines, 3 a "
            "journal cannot be read or written, 5 the report could not be written, 6 incomplete: "
            "what is missing is listed.",
            add_merge},
    Command{"diff", kResults,
            "compare two runs: what is new, not seen any more, or fails more or less often",
            "Examples:\n"
            "  mpsprobe diff yesterday today --fail-on new,worse\n"
            "  mpsprobe diff torch-2.14 torch-2.15 --across library --json",
            "Exit codes: 0 compared, 1 what --fail-on names was found, 2 wrong usage, or runs that "
            "are unlike, 3 a journal cannot be read, 4 no cell has results in both, 6 a run is "
            "incomplete.",
            add_diff},
    Command{
        "expect", kResults, "known failures: judge runs by them, and record new ones",
        "Examples:\n"
        "  mpsprobe expect update --from night\n"
        "  mpsprobe expect check night --db history.ndjson\n"
        "  mpsprobe run --matrix default --expectations expectations.json",
        "Exit codes: 0 as known, 1 what --fail-on names was found, 2 wrong usage, 3 a journal or "
        "the history cannot be read, 4 no trial counts, 5 the file could not be written, 6 a run "
        "is incomplete.",
        add_expect},
    Command{"history", kResults, "keep counts of runs, and say since which night a rate changed",
            "Examples:\n"
            "  mpsprobe history add night\n"
            "  mpsprobe history trend --cell 'mps/linear/*'",
            "Exit codes: 0 done, 2 wrong usage, 3 the history or a journal cannot be read or "
            "written, 4 nothing like this is in it.",
            add_history},
    Command{"observe", kRunAndLook,
            "watch how a program calls Metal, and say which of its rules it breaks",
            "Examples:\n"
            "  mpsprobe observe -- ./my-program --its-option\n"
            "  mpsprobe observe --json -- python3 my_test.py > observed.json",
            "Exit codes: 0 no rule was broken, 1 one was, 2 wrong usage, 3 the program could not "
            "be started, 4 nothing was observed. The program's own end is said.",
            add_observe},
    Command{
        "bisect", kRunAndLook, "find the build at which a failure began or ended",
        "Examples:\n"
        "  mpsprobe bisect CELL --builds "
        "a=a/mpsprobe-worker,b=b/mpsprobe-worker,c=c/mpsprobe-worker\n"
        "  mpsprobe bisect mlx/chain/default/threads=4/stream=per-thread --builds releases.txt \\\n"
        "      --make 'tools/build-worker mlx=={}' --confirm 30",
        "Exit codes: 0 settled, whatever the answer is, 2 wrong usage, 3 the harness or the "
        "machine could not do it, 4 fewer than two builds can run the cell, 5 the result could not "
        "be written, 6 not settled, 130 interrupted.",
        like_run<BisectOptions, add_bisect_options, bisect_command_line>, true},
    Command{"read", kRunAndLook,
            "say what failed, of a log, a crash report or a pasted issue, and what to run",
            "Examples:\n"
            "  mpsprobe read ~/Library/Logs/DiagnosticReports/python3.12-2026-08-12-091140.ips\n"
            "  pbpaste | mpsprobe read - --json",
            "Exit codes: 0 read, 2 wrong usage, or no text, 3 a journal cannot be read, 4 nothing "
            "of a failure found.",
            add_read},
    Command{
        "feedback", kResults,
        "make of a run what can be filed: a folder and an archive for each failure",
        "Examples:\n"
        "  mpsprobe feedback mpsprobe-out/2026-01-31T12-34-56Z-default/report.json\n"
        "  mpsprobe feedback mpsprobe-out/2026-01-31T12-34-56Z-default --signature 'commit call'\n"
        "  mpsprobe feedback RUN --for pytorch --redact 'name of a project'\n\n"
        "A text is in it only if the software under test contains it, unless --no-redact is given; "
        "its README.md says how much was left out. What `mpsprobe repro` made of the same run is "
        "taken into it.",
        "Exit codes: 0 written, 2 wrong usage, or evidence that is simulated, 3 it could not be "
        "written.",
        add_feedback},
    Command{
        "verify", kResults,
        "run the cells of a bundle again, and say whether what it is about still fails",
        "Examples:\n"
        "  mpsprobe verify BUNDLE                     does it still fail here and now?\n"
        "  mpsprobe verify BUNDLE --worker old=PATH --worker stock=PATH    is it seen no more?",
        "Exit codes: 0 the verdict is written, whatever it is, 1 what --fail-on names was found, "
        "2 wrong usage, 3 the harness or the machine could not do it, 4 nothing could run, 5 the "
        "verdict could not be written, 130 interrupted.",
        like_run<VerifyOptions, add_verify_options, verify_command_line>},
    Command{"new", kRunAndLook, "write a worker for your own library, to begin with",
            "Example: mpsprobe new worker my-worker",
            "Exit codes: 0 written, 2 wrong usage, or a folder that holds files, 3 it could not be "
            "written.",
            add_new},
    Command{"completions", kShell, "print what a shell completes commands and options with",
            "Example: eval \"$(mpsprobe completions bash)\"\n\n"
            "Behind `--` stand the words of a command line so far: then what the last one may "
            "become is printed.",
            "", add_completions, true},
    Command{"man", kShell, "print the manual page, for `man -l -`", "", "", add_man},
};

}  // namespace

int printed(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno == EPIPE) return code;  // whoever reads has seen enough: `| head`
  say(stderr, "mpsprobe: standard output could not be written{}{}\n", errno == 0 ? "" : ": ",
      errno == 0 ? "" : std::strerror(errno));
  return code == kExitOk ? static_cast<int>(kExitMachine) : code;
}

std::span<const Command> commands() {
  return kCommands;
}

}  // namespace mpsprobe
