// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/formats/problem_json.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/json/json_text.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {
namespace {

using nlohmann::ordered_json;

// Ordered: names of a file could all have one place in a hash table.
using Names = std::map<std::string, int32_t>;

template <typename... Args>
absl::Status invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// A value of a file for a message, cut where it gets long.
std::string shown(const ordered_json& json) {
  // Nesting is bounded by nothing but the size of the file.
  if (json.is_array()) return "a list";
  if (json.is_object()) return "an object";
  std::string text = json_text(json);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

// One object of the text with its place in it: "buffers[3]".
struct Object {
  const ordered_json& json;
  std::string where;

  const ordered_json* find(const char* key) const {
    const auto it = json.find(key);
    return it == json.end() || it->is_null() ? nullptr : &*it;
  }
};

absl::Status check_keys(const Object& object, std::initializer_list<const char*> allowed) {
  if (!object.json.is_object()) {
    return invalid(object.where, " is ", shown(object.json), ", must be an object");
  }
  for (const auto& [key, value] : object.json.items()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      return invalid(object.where, ": \"", key, "\" is not one of ", absl::StrJoin(allowed, ", "));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> whole(const ordered_json& json, const std::string& where) {
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return invalid(where, " is ", shown(json), ", must be below 2^63");
  }
  if (!json.is_number_integer()) {
    return invalid(where, " is ", shown(json), ", must be a whole number");
  }
  return json.get<int64_t>();
}

absl::StatusOr<std::optional<int64_t>> optional_whole(const Object& object, const char* key) {
  const ordered_json* json = object.find(key);
  if (json == nullptr) return std::optional<int64_t>();
  PETREL_ASSIGN_OR_RETURN(const int64_t value, whole(*json, absl::StrCat(object.where, ": ", key)));
  return std::optional<int64_t>(value);
}

absl::StatusOr<int64_t> required_whole(const Object& object, const char* key) {
  PETREL_ASSIGN_OR_RETURN(const std::optional<int64_t> value, optional_whole(object, key));
  if (!value.has_value()) return invalid(object.where, ": has no ", key);
  return *value;
}

absl::StatusOr<std::string> required_text(const Object& object, const char* key) {
  const ordered_json* json = object.find(key);
  if (json == nullptr) return invalid(object.where, ": has no ", key);
  if (!json->is_string() || json->get_ref<const std::string&>().empty()) {
    return invalid(object.where, ": ", key, " is ", shown(*json), ", must be a text");
  }
  return json->get<std::string>();
}

// A list of the file, empty when its key is missing. Elements are made where they are read:
// there may be as many as the file has bytes.
class Elements {
 public:
  Elements() = default;
  Elements(const ordered_json& list, std::string where) : list_(&list), where_(std::move(where)) {}
  size_t size() const { return list_ == nullptr ? 0 : list_->size(); }
  Object operator[](size_t i) const { return {(*list_)[i], absl::StrCat(where_, "[", i, "]")}; }

 private:
  const ordered_json* list_ = nullptr;
  std::string where_;
};

absl::StatusOr<Elements> elements(const Object& object, const char* key) {
  const ordered_json* json = object.find(key);
  if (json == nullptr) return Elements();
  const std::string where = object.where.empty() ? key : absl::StrCat(object.where, ".", key);
  if (!json->is_array()) {
    return invalid(where, " is ", shown(*json), ", must be a list");
  }
  return Elements(*json, where);
}

absl::StatusOr<int32_t> index_of(const ordered_json& name, const Names& names,
                                 const std::string& where, const char* what) {
  if (!name.is_string()) {
    return invalid(where, " is ", shown(name), ", must be the name of a ", what);
  }
  const auto it = names.find(name.get_ref<const std::string&>());
  if (it == names.end()) {
    return invalid(where, " is ", shown(name), ", which is not a ", what);
  }
  return it->second;
}

absl::StatusOr<Pool> parse_pool(const Object& object) {
  PETREL_RETURN_IF_ERROR(
      check_keys(object, {"name", "capacity", "preferred_capacity", "cost_per_access", "kind"}));
  Pool pool;
  PETREL_ASSIGN_OR_RETURN(pool.name, required_text(object, "name"));
  PETREL_ASSIGN_OR_RETURN(pool.capacity, optional_whole(object, "capacity"));
  PETREL_ASSIGN_OR_RETURN(pool.preferred_capacity, optional_whole(object, "preferred_capacity"));
  PETREL_ASSIGN_OR_RETURN(const std::optional<int64_t> cost,
                          optional_whole(object, "cost_per_access"));
  pool.cost_per_access = cost.value_or(0);
  if (const ordered_json* kind = object.find("kind"); kind != nullptr) {
    if (*kind != "read_write" && *kind != "read_only") {
      return invalid(object.where, ": kind is ", shown(*kind), ", must be read_write or read_only");
    }
    pool.kind = *kind == "read_only" ? PoolKind::kReadOnly : PoolKind::kReadWrite;
  }
  return pool;
}

absl::StatusOr<Gap> parse_gap(const Object& object) {
  PETREL_RETURN_IF_ERROR(check_keys(object, {"lower", "upper", "keep"}));
  Gap gap;
  PETREL_ASSIGN_OR_RETURN(gap.time.begin, required_whole(object, "lower"));
  PETREL_ASSIGN_OR_RETURN(gap.time.end, required_whole(object, "upper"));
  PETREL_ASSIGN_OR_RETURN(const Elements keep, elements(object, "keep"));
  if (keep.size() == 0) return gap;
  if (keep.size() != 2) {
    return invalid(object.where, ": keep has ", keep.size(), " numbers, must have 2");
  }
  PETREL_ASSIGN_OR_RETURN(gap.low, whole(keep[0].json, keep[0].where));
  PETREL_ASSIGN_OR_RETURN(gap.high, whole(keep[1].json, keep[1].where));
  return gap;
}

absl::StatusOr<Buffer> parse_buffer(const Object& object, const Names& pools) {
  PETREL_RETURN_IF_ERROR(
      check_keys(object, {"id", "lower", "upper", "size", "alignment", "gaps", "offset", "hint",
                          "pools", "accesses", "group", "conflicts", "partial_conflicts"}));
  Buffer buffer;
  buffer.origin = object.where;
  PETREL_ASSIGN_OR_RETURN(buffer.id, required_text(object, "id"));
  const Object named{object.json, absl::StrCat("buffer ", label(buffer))};
  PETREL_ASSIGN_OR_RETURN(buffer.lifetime.begin, required_whole(named, "lower"));
  PETREL_ASSIGN_OR_RETURN(buffer.lifetime.end, required_whole(named, "upper"));
  PETREL_ASSIGN_OR_RETURN(buffer.size, required_whole(named, "size"));
  PETREL_ASSIGN_OR_RETURN(const std::optional<int64_t> alignment,
                          optional_whole(named, "alignment"));
  buffer.alignment = alignment.value_or(1);
  PETREL_ASSIGN_OR_RETURN(buffer.offset, optional_whole(named, "offset"));
  PETREL_ASSIGN_OR_RETURN(buffer.hint, optional_whole(named, "hint"));
  PETREL_ASSIGN_OR_RETURN(const std::optional<int64_t> accesses, optional_whole(named, "accesses"));
  buffer.access_count = accesses.value_or(0);
  if (object.find("group") != nullptr) {
    PETREL_ASSIGN_OR_RETURN(buffer.group, required_text(named, "group"));
  }
  PETREL_ASSIGN_OR_RETURN(const Elements gaps, elements(named, "gaps"));
  for (size_t i = 0; i < gaps.size(); ++i) {
    const Object gap = gaps[i];
    PETREL_ASSIGN_OR_RETURN(Gap parsed, parse_gap(gap));
    buffer.gaps.push_back(parsed);
  }
  PETREL_ASSIGN_OR_RETURN(const Elements candidates, elements(named, "pools"));
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Object pool = candidates[i];
    PETREL_ASSIGN_OR_RETURN(const PoolIdx index, index_of(pool.json, pools, pool.where, "pool"));
    buffer.pools.push_back(index);
  }
  return buffer;
}

absl::StatusOr<std::vector<Pair>> parse_pairs(const Object& object, const char* key,
                                              const Names& buffers) {
  std::vector<Pair> pairs;
  PETREL_ASSIGN_OR_RETURN(const Elements list, elements(object, key));
  for (size_t i = 0; i < list.size(); ++i) {
    const Object pair = list[i];
    if (!pair.json.is_array() || pair.json.size() != 2) {
      return invalid(pair.where, " is ", shown(pair.json), ", must be two ids of buffers");
    }
    Pair parsed;
    PETREL_ASSIGN_OR_RETURN(parsed.first, index_of(pair.json[0], buffers, pair.where, "buffer"));
    PETREL_ASSIGN_OR_RETURN(parsed.second, index_of(pair.json[1], buffers, pair.where, "buffer"));
    pairs.push_back(parsed);
  }
  return pairs;
}

// What lifetimes say already.
bool always_meet(const Problem& problem, const Buffer& a, const Buffer& b) {
  return problem.non_conflicts.empty() && a.gaps.empty() && b.gaps.empty() &&
         a.lifetime.begin < b.lifetime.end && b.lifetime.begin < a.lifetime.end;
}

absl::Status add_listed_conflicts(const Elements& buffers, const Names& names, Problem* problem) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Object named{buffers[i].json, absl::StrCat("buffer ", label(problem->buffers[i]))};
    PETREL_ASSIGN_OR_RETURN(const Elements list, elements(named, "conflicts"));
    for (size_t j = 0; j < list.size(); ++j) {
      const Object other = list[j];
      PETREL_ASSIGN_OR_RETURN(const BufferIdx index,
                              index_of(other.json, names, other.where, "buffer"));
      if (problem->buffers[index].id == problem->buffers[i].id ||
          !always_meet(*problem, problem->buffers[i], problem->buffers[index])) {
        problem->conflicts.push_back({static_cast<BufferIdx>(i), index});
      }
    }
  }
  return absl::OkStatus();
}

Names names_of(const std::vector<Buffer>& buffers) {
  Names names;
  for (size_t i = 0; i < buffers.size(); ++i) {
    names.emplace(buffers[i].id, static_cast<int32_t>(i));
  }
  return names;
}

Names names_of(const std::vector<Pool>& pools) {
  Names names;
  for (size_t i = 0; i < pools.size(); ++i) {
    names.emplace(pools[i].name, static_cast<int32_t>(i));
  }
  return names;
}

}  // namespace

absl::StatusOr<Problem> parse_problem_json(absl::string_view text) {
  PETREL_ASSIGN_OR_RETURN(const ordered_json json, parse_json(text));
  const Object root{json, ""};
  PETREL_RETURN_IF_ERROR(check_keys(
      {json, "the problem"}, {"pools", "buffers", "conflicts", "non_conflicts", "overlaps"}));
  Problem problem;
  PETREL_ASSIGN_OR_RETURN(const Elements pools, elements(root, "pools"));
  for (size_t i = 0; i < pools.size(); ++i) {
    const Object pool = pools[i];
    PETREL_ASSIGN_OR_RETURN(Pool parsed, parse_pool(pool));
    problem.pools.push_back(std::move(parsed));
  }
  if (problem.pools.empty()) {
    problem.pools.resize(1);
    problem.pools[0].name = "arena";
  }
  if (root.find("buffers") == nullptr) {
    return invalid("the problem has no buffers");
  }
  const Names pool_names = names_of(problem.pools);
  PETREL_ASSIGN_OR_RETURN(const Elements buffers, elements(root, "buffers"));
  problem.buffers.reserve(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Object buffer = buffers[i];
    PETREL_ASSIGN_OR_RETURN(Buffer parsed, parse_buffer(buffer, pool_names));
    problem.buffers.push_back(std::move(parsed));
  }
  PETREL_RETURN_IF_ERROR(check_names(problem));
  const Names names = names_of(problem.buffers);
  PETREL_ASSIGN_OR_RETURN(problem.conflicts, parse_pairs(root, "conflicts", names));
  PETREL_ASSIGN_OR_RETURN(problem.non_conflicts, parse_pairs(root, "non_conflicts", names));
  PETREL_RETURN_IF_ERROR(add_listed_conflicts(buffers, names, &problem));
  PETREL_ASSIGN_OR_RETURN(const Elements overlaps, elements(root, "overlaps"));
  for (size_t i = 0; i < overlaps.size(); ++i) {
    const Object overlap = overlaps[i];
    PETREL_RETURN_IF_ERROR(check_keys(overlap, {"lower", "upper", "bytes"}));
    PermittedOverlap parsed;
    for (const char* end : {"lower", "upper"}) {
      const ordered_json* name = overlap.find(end);
      PETREL_ASSIGN_OR_RETURN((end[0] == 'l' ? parsed.lower : parsed.upper),
                              index_of(name == nullptr ? ordered_json() : *name, names,
                                       absl::StrCat(overlap.where, ".", end), "buffer"));
    }
    PETREL_ASSIGN_OR_RETURN(parsed.bytes, required_whole(overlap, "bytes"));
    problem.overlaps.push_back(parsed);
  }
  PETREL_RETURN_IF_ERROR(check_problem(problem));
  return problem;
}

absl::StatusOr<std::vector<Placement>> parse_answer_json(const Problem& problem,
                                                         absl::string_view text) {
  PETREL_ASSIGN_OR_RETURN(const ordered_json json, parse_json(text));
  if (json.find("buffers") == json.end()) {  // nothing is found in what is not an object
    return invalid("the answer is ", shown(json), ", must be an object with buffers");
  }
  const Names buffers = names_of(problem.buffers);
  const Names pools = names_of(problem.pools);
  std::vector<Placement> places(problem.buffers.size());
  std::vector<char> placed(problem.buffers.size(), 0);
  PETREL_ASSIGN_OR_RETURN(const Elements list, elements({json, ""}, "buffers"));
  for (size_t i = 0; i < list.size(); ++i) {
    const Object entry = list[i];
    if (!entry.json.is_object()) {
      return invalid(entry.where, " is ", shown(entry.json), ", must be an object");
    }
    PETREL_ASSIGN_OR_RETURN(const std::string id, required_text(entry, "id"));
    PETREL_ASSIGN_OR_RETURN(const BufferIdx index,
                            index_of(entry.json["id"], buffers, entry.where + ".id", "buffer"));
    if (placed[index]) {
      return invalid("buffer ", id, " has two places");
    }
    placed[index] = 1;
    const ordered_json* pool = entry.find("pool");
    if (pool != nullptr) {
      PETREL_ASSIGN_OR_RETURN(
          places[index].pool,
          index_of(*pool, pools, absl::StrCat("buffer ", id, ": pool"), "pool"));
    } else if (problem.pools.size() > 1) {
      return invalid("buffer ", id, " has no pool");
    }
    PETREL_ASSIGN_OR_RETURN(places[index].offset,
                            required_whole({entry.json, absl::StrCat("buffer ", id)}, "offset"));
  }
  for (size_t i = 0; i < placed.size(); ++i) {
    if (!placed[i]) {
      return invalid("buffer ", problem.buffers[i].id, " has no place");
    }
  }
  return places;
}

}  // namespace petrel::exir::plan
