#include "reports/html/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/input/json_text.h"
#include "reports/analysis/common_axes.h"
#include "reports/claims/comparisons.h"
#include "reports/groups/group_words.h"
#include "reports/html/chart.h"
#include "reports/html/html_assets.h"
#include "reports/html/markup.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/words/stack_words.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostShownStacks = 8;
constexpr size_t kMostShownFrames = 60;
constexpr size_t kMostShownSignatures = 200;
constexpr size_t kMostShownCharts = 200;

/// One page in the making: its parts share the analysis and the numbers of the rows.
class Page {
 public:
  Page(const Analysis& analysis, const Beside& beside)
      : analysis_(analysis), beside_(beside), prefix_(class_prefix(analysis)) {}

  std::string html() {
    head();
    html_ += first_screen_html(analysis_, prefix_) + answer_html(analysis_, prefix_);
    remarks();
    news();
    groups();
    boundaries();
    nights();
    cells();
    comparisons();
    signatures();
    left_out();
    ground();
    html_ += fmt::format("</main>\n<script>{}</script>\n</body></html>\n", kHtmlScript);
    return std::move(html_);
  }

 private:
  void head() {
    const std::string title = prefix_ + "mpsprobe: " + analysis_.header.matrix_name;
    html_ = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"generator\" content=\"mpsprobe report: html\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
        "style-src "
        "'unsafe-inline'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
        "<link rel=\"icon\" href=\"data:,\">\n<style>{}{}</style></head>\n<body>\n",
        kHtmlScriptHash, markup(title, 200), kHtmlStyle, chart_style());
    if (analysis_.simulated) {
      html_ +=
          "<div class=\"class\" role=\"note\">SIMULATED: no GPU took part in some or all of this. "
          "It "
          "shows how mpsprobe works, and nothing about Apple&#39;s software.</div>\n";
    } else if (analysis_.paravirtual) {
      html_ +=
          "<div class=\"class\" role=\"note\">PARAVIRTUAL GPU: the device of a virtual Mac. No "
          "result of a real chip.</div>\n";
    }
    html_ += fmt::format("<main>\n<h1>{}</h1>\n<p class=\"soft\">{}</p>\n", markup(title, 200),
                         markup(analysis_.header.matrix_description, 300));
  }

  void remarks() {
    html_ += fmt::format("<p>{}.{}</p>\n", markup(totals(analysis_)),
                         analysis_.complete ? ""
                                            : " <strong>Incomplete: not all that was planned "
                                              "ran.</strong>");
    if (!analysis_.warnings.empty()) heading("Warnings");
    for (const Warning& warning : analysis_.warnings) item(warning.text);
  }

  void item(const std::string& text) {
    html_ += "<p class=\"item\">" + markup(text, 4000) + "</p>\n";
  }

  void heading(std::string_view text) { html_ += fmt::format("<h2>{}{}</h2>\n", prefix_, text); }

  void news() {
    if (beside_.known) {
      heading("Known failures");
      html_ += known_html(*beside_.known);
    }
    if (beside_.baseline) {
      heading("Changes");
      html_ += baseline_html(*beside_.baseline);
    }
  }

  void groups() {
    const FailureGroups found = find_groups(analysis_);
    if (found.operations.size() < 2) return;
    heading("Which failures need the same conditions");
    for (const SaidOfFailures& said : said_of_failures(analysis_, found)) item(said.words);
    const std::string tell = what_would_tell(analysis_, found);
    if (!tell.empty()) item(tell);
  }

  void nights() {
    if (beside_.nights.empty()) return;
    heading("Nights");
    html_ += nights_html(beside_.nights, analysis_.arms.size() > 1);
  }

  void boundaries() {
    if (analysis_.boundaries.empty()) return;
    heading("Boundaries");
    std::string svg;
    size_t shown = 0;
    for (const BoundaryChart& chart : boundary_charts(analysis_)) {
      if (shown++ < kMostShownCharts) svg += drawn(chart);
    }
    html_ += "<details><summary>Rates with intervals, each by itself at 95%</summary>\n" + svg +
             "</details>\n";
  }

  size_t index_of(const CellSummary& cell) const {
    return static_cast<size_t>(&cell - analysis_.cells.data());
  }

  void cells() {
    heading("Cells");
    html_ +=
        "<div class=\"filters\" hidden><label>Filter (words, all must occur)<br><input id=\"text\" "
        "type=\"search\" size=\"40\"></label><label>Result<br><select id=\"verdict\"><option "
        "value=\"\">all</option><option value=\"u\">not as expected</option><option "
        "value=\"f\">fail</option><option value=\"i\">intermittent</option><option "
        "value=\"p\">pass</option><option value=\"n\">no result</option></select></label><output "
        "id=\"shown\" aria-live=\"polite\"></output></div>\n"
        "<div class=\"wide\"><table id=\"cells\"><thead><tr><th scope=\"col\">cell</th>";
    if (analysis_.arms.size() > 1) html_ += "<th scope=\"col\">worker</th>";
    html_ += "<th scope=\"col\">result</th><th scope=\"col\">failure rate, 95%</th>";
    if (!analysis_.signatures.empty()) html_ += "<th scope=\"col\">failures</th>";
    html_ += "</tr></thead>\n<tbody>\n";
    for (const CellSummary& cell : analysis_.cells) row(cell);
    html_ += "</tbody></table></div>\n";
  }

  static char letter(const CellSummary& cell) {
    if (cell.expected == Expected::unmet) return 'u';
    if (!cell.has_rate()) return 'n';
    if (cell.failures == 0) return 'p';
    return cell.failures == cell.counted ? 'f' : 'i';
  }

  void row(const CellSummary& cell) {
    const Standing standing = standing_of(cell);
    html_ += fmt::format("<tr id=\"c{}\" data-v=\"{}\"><td><code>{}{}</code></td>", index_of(cell),
                         letter(cell), cell.simulated ? "SIMULATED " : "", markup(cell.id));
    if (analysis_.arms.size() > 1) {
      html_ += "<td>" + markup(analysis_.arms[cell.arm].label, 60) + "</td>";
    }
    html_ += fmt::format("<td class=\"{}\">{} {}</td><td>", heat_class(cell), markup(standing.word),
                         markup(standing.rest, 200));
    if (cell.has_rate()) {
      html_ += percent_down(cell.rate.low) + " to " + percent_up(cell.rate.high);
    }
    html_ += analysis_.signatures.empty() ? "</td>" : "</td><td>";
    for (size_t i = 0; i < cell.titles.size() && i < 3; ++i) {
      const TitleCount& count = cell.titles[i];
      const std::string title = markup(analysis_.signatures[count.signature].title, 300);
      html_ += i == 0 ? "" : "<br>";
      html_ += count.signature < kMostShownSignatures
                   ? fmt::format("<a href=\"#s{}\">{}</a>", count.signature, title)
                   : title;
      html_ += fmt::format(" ({})", count.failures);
    }
    html_ += analysis_.signatures.empty() ? "</tr>\n" : "</td></tr>\n";
  }

  void comparisons() {
    if (analysis_.comparisons.empty()) return;
    heading("Layers and builds");
    html_ += "<ul>\n";
    for (const Comparison& comparison : analysis_.comparisons) {
      const CellSummary& first = analysis_.cells[comparison.first];
      const CellSummary& second = analysis_.cells[comparison.second];
      html_ += fmt::format("<li><code>{}</code> and <code>{}</code>: {}</li>\n",
                           markup(with_arm(analysis_, first.id, analysis_.arms[first.arm].label)),
                           markup(with_arm(analysis_, second.id, analysis_.arms[second.arm].label)),
                           markup(conclusion_in_words(analysis_, comparison), 1000));
    }
    html_ += "</ul>\n";
  }

  void signatures() {
    if (analysis_.signatures.empty()) return;
    heading("Failures");
    for (size_t i = 0; i < analysis_.signatures.size() && i < kMostShownSignatures; ++i) {
      const SignatureGroup& group = analysis_.signatures[i];
      html_ +=
          fmt::format("<details id=\"s{}\"{}><summary><strong>{}</strong>: {} in {}</summary>\n", i,
                      i < 3 ? " open" : "", markup(group.title),
                      counted(group.failures, "failures"), counted(group.cells.size(), "cells"));
      if (group.thin()) {
        html_ += "<p>This signature says only where the process was; it may be several bugs.</p>\n";
      }
      example(group.first);
      html_ += "</details>\n";
    }
    if (analysis_.signatures.size() > kMostShownSignatures) {
      html_ += fmt::format("<p>{} more signatures are in report.json.</p>\n",
                           analysis_.signatures.size() - kMostShownSignatures);
    }
  }

  void example(const FailureExample& example) {
    html_ += fmt::format("<p>First: <code>{}</code>, trial {}{}, {}.</p>\n",
                         markup(to_string(example.cell)), example.trial,
                         seed_in_words(example.seed), words(name_of(example.judgement.outcome)));
    for (const std::string& remark : example.remarks) {
      html_ += "<p>" + markup(remark, 1000) + "</p>\n";
    }
    const std::string cycle = lock_cycle_in_words(example.stacks);
    if (!cycle.empty()) html_ += "<p>" + markup(cycle, 2000) + "</p>\n";
    if (!example.python_stack.empty()) {
      html_ +=
          "<p>Where it crashed, in Python:</p><pre tabindex=\"0\">" +
          markup(python_stack_in_words(example.python_stack, kMostShownFrames), 8000, Lines::keep) +
          "</pre>\n";
    }
    size_t shown = 0;
    for (const auto& threads : group_stacks(example.stacks)) {
      if (shown++ == kMostShownStacks) break;
      html_ += fmt::format(
          "<p>{}{}:</p><pre tabindex=\"0\">{}</pre>\n", markup(threads_in_words(threads), 500),
          threads.front()->faulting ? ", where it crashed" : "",
          markup(stack_in_words(threads.front()->frames, kMostShownFrames), 16000, Lines::keep));
    }
    if (!example.excerpt.empty()) {
      html_ += "<p>What it said last:</p><pre tabindex=\"0\">" +
               markup(example.excerpt, 8000, Lines::keep) + "</pre>\n";
    }
  }

  void left_out() {
    if (analysis_.left_out.empty()) return;
    heading("Not tested");
    html_ += "<ul>\n";
    for (const LeftOutGroup& group : analysis_.left_out) {
      html_ += fmt::format("<li>{}: {}</li>\n", counted(group.cells.size(), "cells"),
                           markup(group.reason, 600));
    }
    html_ += "</ul>\n";
  }

  void ground() {
    heading("What ran");
    html_ += "<ul>\n";
    for (const Arm& arm : analysis_.arms) {
      std::string devices;
      for (const std::string& device : arm.devices) devices += ", on " + device;
      html_ += fmt::format("<li>{}: {}{}</li>\n", markup(arm.label), markup(library_in_words(arm)),
                           markup(devices));
    }
    html_ += fmt::format("<li>begun {}, seed {}</li>\n</ul>\n<pre tabindex=\"0\">{}</pre>\n",
                         markup(analysis_.header.started), analysis_.header.seed,
                         markup(shell_command(analysis_.header.command_line), 65536, Lines::keep));
    const nlohmann::json& machine = analysis_.header.machine;
    if (!machine.is_object()) return;
    html_ += "<pre tabindex=\"0\">" + markup(json_text(machine, 1), 8000, Lines::keep) + "</pre>\n";
  }

  const Analysis& analysis_;
  const Beside& beside_;
  std::string prefix_;
  std::string html_;
};

}  // namespace

std::string report_html(const Analysis& analysis, const Beside& beside) {
  return Page(analysis, beside).html();
}

}  // namespace mpsprobe
