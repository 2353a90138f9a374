#include "harness/journal/journal_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "harness/input/json_text.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

constexpr std::string_view kKey = ",\"sum\":\"";
constexpr std::string_view kEnd = "\"}";
constexpr size_t kDigits = 16;

std::string sum_of(std::string_view before, std::string_view run) {
  return fmt::format("{:016x}", fnv1a(before, fnv1a(run)));
}

std::string with_seal(std::string line, std::string_view run) {
  const std::string sum = sum_of(line, run);
  line += kKey;
  line += sum;
  line += kEnd;
  return line + "\n";
}

}  // namespace

uint64_t fnv1a(std::string_view text, uint64_t begin) {
  uint64_t hash = begin;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string new_run_name() {
  std::random_device device;
  const uint64_t high = device();
  return fmt::format("{:016x}", high << 32 | device());
}

std::string sealed_line(json record, uint64_t number, std::string_view run) {
  record["n"] = number;
  std::string line = json_text(record);
  line.pop_back();  // the closing brace
  return with_seal(std::move(line), run);
}

std::string sealed_line(std::string_view name, std::string_view value, uint64_t number,
                        std::string_view run) {
  return with_seal(fmt::format("{{\"n\":{},\"record\":\"{}\",\"{}\":{}", number, name, name, value),
                   run);
}

std::string_view sealed_value(std::string_view line, std::string_view name) {
  const size_t seal = kKey.size() + kDigits + kEnd.size();
  const std::string before = fmt::format(",\"record\":\"{0}\",\"{0}\":", name);
  const size_t at = line.find(',');
  const bool there = line.starts_with("{\"n\":") && line.size() > seal &&
                     line.substr(line.size() - seal, kKey.size()) == kKey &&
                     line.substr(std::min(at, line.size()), before.size()) == before;
  if (!there) return {};
  const size_t begin = at + before.size();
  return line.substr(begin, line.size() - seal - begin);
}

std::string broken_seal(std::string_view line, std::string_view run) {
  const size_t seal = kKey.size() + kDigits + kEnd.size();
  const bool sealed = line.size() > seal && line.ends_with(kEnd) &&
                      line.substr(line.size() - seal, kKey.size()) == kKey;
  if (!sealed) return "it has no checksum at its end";
  const std::string_view before = line.substr(0, line.size() - seal);
  if (line.substr(line.size() - seal + kKey.size(), kDigits) != sum_of(before, run)) {
    return "its checksum does not hold: it was changed, or is of another run";
  }
  return "";
}

}  // namespace mpsprobe
