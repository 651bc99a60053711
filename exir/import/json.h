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
// A Json refers into its JsonDocument, which must outlive it. It knows its place as a link
// to what holds it; the text of a place is made when it is asked for, and is bounded: keys
// may be as long as the file.
#ifndef PETREL_EXIR_IMPORT_JSON_H_
#define PETREL_EXIR_IMPORT_JSON_H_

#include <rapidjson/document.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  // The same where it lies, in the document.
  absl::StatusOr<std::string_view> text_view() const;
  absl::StatusOr<std::vector<Json>> items() const;
  absl::StatusOr<std::vector<std::pair<std::string, Json>>> members() const;

  // The tag and the payload of a union: an object with one member.
  absl::StatusOr<std::pair<std::string, Json>> tagged() const;

  // InvalidArgument about this place.
  absl::Status error(const std::string& what) const;
  std::string place() const;

 private:
  friend class JsonDocument;
  // What holds others, seen from them.
  struct Holder;
  using HolderPtr = std::shared_ptr<const Holder>;

  // The member of `holder` with this key, or item `index` where the key is null. Without a
  // holder it is the document, and `key` what messages call it.
  Json(const rapidjson::Value& value, HolderPtr holder, std::string_view key, size_t index)
      : value_(&value), holder_(std::move(holder)), key_(key), index_(index) {}
  HolderPtr as_holder() const;

  const rapidjson::Value* value_;
  HolderPtr holder_;
  std::string_view key_;  // of the document, or of the code
  size_t index_ = 0;
};

class JsonDocument {
 public:
  // Also refuses text that nests deeper than kMaxDepth, that takes much more memory than it is
  // long (json_memory.h), and what is not UTF-8.
  static constexpr size_t kMaxDepth = 1024;
  static absl::StatusOr<JsonDocument> parse(absl::Span<const uint8_t> bytes,
                                            const std::string& name);

  const Json& root() const { return root_; }

 private:
  std::unique_ptr<rapidjson::Document> document_;  // stays where it is when this moves
  std::unique_ptr<const std::string> name_;
  Json root_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_JSON_H_
