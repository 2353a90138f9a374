#include "reports/expectations/entry_json.h"

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

void add(ordered_json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

ordered_json range_json(const VersionRange& range) {
  ordered_json json = ordered_json::object();
  add(json, "from", range.from);
  add(json, "before", range.before);
  return json;
}

ordered_json where_json(const KnownWhere& where) {
  ordered_json json = ordered_json::object();
  if (!where.cells.empty()) json["cells"] = where.cells;
  if (!where.axes.where.empty()) json["axes"] = where.axes.where;
  add(json, "matrix", where.matrix);
  add(json, "worker", where.worker);
  add(json, "chip", where.chip);
  add(json, "os", where.os);
  if (!where.os_build.open()) json["os_build"] = range_json(where.os_build);
  if (!where.library.empty()) {
    json["library"] = {{"name", where.library}};
    json["library"].update(range_json(where.versions));
  }
  if (where.simulated) json["simulated"] = true;
  if (where.paravirtual) json["paravirtual"] = *where.paravirtual;
  return json;
}

std::string one_line(const ordered_json& json) {
  return json.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace

ordered_json entry_json(const KnownFailure& known) {
  ordered_json json = {{"where", where_json(known.where)}};
  if (known.signature.empty()) {
    json["outcome"] = known.outcome ? name_of(*known.outcome) : "any";
  } else {
    json["signature"] = known.signature;
  }
  if (known.seen.trials > 0) {
    json["failures"] = known.seen.failures;
    json["trials"] = known.seen.trials;
  }
  add(json, "first_seen", known.first_seen);
  add(json, "last_seen", known.last_seen);
  add(json, "until", known.until);
  add(json, "issue", known.issue);
  add(json, "review_by", known.review_by);
  add(json, "owner", known.owner);
  return json;
}

std::string identity_of(const KnownFailure& known) {
  return one_line({where_json(known.where), known.signature,
                   known.outcome ? ordered_json(name_of(*known.outcome)) : ordered_json()});
}

}  // namespace mpsprobe
