#include "reports/analysis/failures/titles.h"

namespace mpsprobe {

std::map<std::pair<size_t, std::string>, std::vector<TitleCount>> titles_by_cell(
    const Analysis& analysis) {
  std::map<std::pair<size_t, std::string>, std::vector<TitleCount>> titles;
  for (size_t i = 0; i < analysis.signatures.size(); ++i) {
    for (const SignatureGroup::Where& where : analysis.signatures[i].cells) {
      titles[{where.arm, where.cell}].push_back({i, where.failures});
    }
  }
  return titles;
}

}  // namespace mpsprobe
