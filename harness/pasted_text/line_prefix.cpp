#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/pasted_text/pasted_text.h"
#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

constexpr size_t kLongest = 200;

/// What stands in front of a message, piece by piece.
struct Piece {
  enum class Kind : uint8_t { plain, date, behind_a_date };
  Shape shape;
  Kind kind = Kind::plain;
};

// Names of programs ("prog: ", "objc[12]: ") are parts of their messages, but for behind a date.
// A row is read as one line, or as few.
// clang-format off
const std::vector<Piece>& pieces() {
  using enum Piece::Kind;
  static const std::vector<Piece> kPieces = {
      // --- a page's quotation and list, a box's edge, pytest's mark
      {Shape(R"([>|] ?|\xe2[\x94-\x96][\x80-\xbf] ?|E   |- )")},
      // --- dates
      {Shape(R"([\[(]?\d{2,4}[-/.]\d\d[-/.]\d{2,4}[T ]\d\d:\d\d[\d.,:]*Z?(?:[+-][\d:]+)?[\])]?:? )"), date},
      {Shape(R"(\[?\d\d[ /][A-Z][a-z]{2}[ /]\d{2,4}[: ]\d\d:\d\d:\d\d[\d.,]*\]? )"), date},
      {Shape(R"([A-Z][a-z]{2}  ?\d\d? \d\d:\d\d:\d\d[\d.,]* (?:\S+ [^ :]+\[\d+\]: )?)"), date},
      {Shape(R"([\[(]?\d\d:\d\d:\d\d[.,]?\d*(?:\+\d+)?[\])]?:? )"), date},
      {Shape(R"(\[?[EWIF]\d{4,8} )"), date},
      {Shape(R"(\d+\.\d\d\.\d{3}\.\d{3} [A-Z] )"), date},
      {Shape(R"((?:default|error|info|debug|fault)\s+\d\d:\d\d:\d\d[.\d]*(?:[+-]\d+)?\s+\S+\s+)"), date},
      {Shape(R"(time=[^\n]*?\bmsg=["']?)"), date},
      // --- processes and threads
      {Shape(R"(\[\d+,\d+\]<std(?:err|out)>: ?)")},
      {Shape(R"(\[(?:rank|default)\d+\]:? |\[[a-z]+[ -]\d+\]:? )")},
      {Shape(R"(\([\w. ]*\b(?:pid|ip)=[^)\n]*\)[ :])")},
      {Shape(R"((?:std(?:err|out): |\[std(?:err|out)\]:? |\d+ std(?:err|out) ?\|? ?|[\w.-]+ +\| ))")},
      {Shape(R"([\w./-]+\[\d+[:,][\dxa-f]+\] )")},
      {Shape(R"(\[\d+:\d+/\d+[^\]\n]*?:(?:ERROR|FATAL|WARNING|INFO):[^\]\n]*?\] )")},
      {Shape(R"(\[(?:TRACE|DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\]:? )")},
      // --- behind a date: levels, modules, places in a source
      {Shape(R"([\[(|]*(?:TRACE|DEBUG|INFO|WARNING|WARN|ERROR|ERR|CRITICAL|CRIT|FATAL|NOTICE|FAULT|E|F|W|I)[\])|:]* )"), behind_a_date},
      {Shape(R"(- |[\w.-]+ - |[\w.]+:[\w<>]+:\d+ )"), behind_a_date},
      {Shape(R"(\[[\w.# -]+[:,]?\d*\]:? |[\w.-]+\[\d+[:,]?[\dxa-f]*\] )"), behind_a_date},
      {Shape(R"(\d+ [\w./-]+\.[a-z]+:\d+\] (?!Check failed))"), behind_a_date},
      {Shape(R"((?:stderr|stdout):? (?:[FP] )?|[\w-]+ [\w-]+ [EWIF] )"), behind_a_date},
  };
  return kPieces;
}
// clang-format on

}  // namespace

size_t log_prefix_length(std::string_view line) {
  line = line.substr(0, line.find_first_of("\r\n"));
  size_t end = 0;
  bool dated = false;
  while (end < std::min(line.size(), kLongest)) {
    const size_t begin = std::min(line.find_first_not_of(" \t", end), line.size());
    size_t next = begin;
    for (const Piece& piece : pieces()) {
      if (piece.kind == Piece::Kind::behind_a_date && !dated) continue;
      const auto match = piece.shape.match(line, begin);
      if (!match || match->end == begin) continue;
      next = match->end;
      dated = dated || piece.kind == Piece::Kind::date;
      break;
    }
    if (next == begin) break;
    end = next;
  }
  return end;
}

}  // namespace mpsprobe
