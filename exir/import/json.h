// SPDX-License-Identifier: Apache-2.0
//
// The JSON of an archive, read with RapidJSON; integers are exact 64-bit. Every
// accessor gives a Status instead of a default, and every Status names the
// place: "models/model.json: graph_module.graph.nodes[12].target: is not text".
//
//   PETREL_ASSIGN_OR_RETURN(JsonDocument document,
//                           JsonDocument::parse(bytes, "models/model.json"));
//   PETREL_ASSIGN_OR_RETURN(Json graph, document.root().at("graph_module"));
//
// A Json refers into its JsonDocument, which must outlive it.
#ifndef PETREL_EXIR_IMPORT_JSON_H_
#define PETREL_EXIR_IMPORT_JSON_H_

#include <rapidjson/document.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace petrel::exir {

class Json {
 public:
  // Null at no place.
  Json();
  Json(const rapidjson::Value& value, std::string place)
      : value_(&value), place_(std::move(place)) {}

  // A member of an object; an error when there is none.
  absl::StatusOr<Json> at(const char* key) const;
  // The same, but nullopt when there is none or it is null.
  std::optional<Json> find(const char* key) const;

  bool is_null() const { return value_->IsNull(); }
  absl::StatusOr<int64_t> integer() const;
  // Also "Infinity", "-Infinity" and "NaN".
  absl::StatusOr<double> number() const;
  absl::StatusOr<bool> boolean() const;
  absl::StatusOr<std::string> text() const;
  absl::StatusOr<std::vector<Json>> items() const;
  absl::StatusOr<std::vector<std::pair<std::string, Json>>> members() const;

  // The tag and the payload of a union: an object with one member.
  absl::StatusOr<std::pair<std::string, Json>> tagged() const;

  // InvalidArgument about this place.
  absl::Status error(const std::string& what) const;
  const std::string& place() const { return place_; }

 private:
  const rapidjson::Value* value_;
  std::string place_;
};

class JsonDocument {
 public:
  // Also refuses text that nests deeper than kMaxDepth, and what is not UTF-8.
  static constexpr size_t kMaxDepth = 1024;
  static absl::StatusOr<JsonDocument> parse(absl::Span<const uint8_t> bytes,
                                            const std::string& name);

  JsonDocument() = default;
  const Json& root() const { return root_; }

 private:
  JsonDocument(std::unique_ptr<rapidjson::Document> document, std::string place)
      : document_(std::move(document)), root_(*document_, std::move(place)) {}

  std::unique_ptr<rapidjson::Document> document_;  // stays where it is when this moves
  Json root_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_JSON_H_
