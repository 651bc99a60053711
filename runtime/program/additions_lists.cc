// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/additions_lists.h"

#include "schema/additions_generated.h"

namespace petrel::runtime {
namespace {

namespace add = schema::additions;
using flatbuffers::Offset;
using flatbuffers::Vector;
using flatbuffers::Verifier;
using flatbuffers::voffset_t;

// A table of which nothing counts but a list of texts, whose offsets are as good as numbers.
template <voffset_t kField>
struct Lister : private flatbuffers::Table {
  uint64_t count() const {
    const auto* const list = GetPointer<const Vector<uint32_t>*>(kField);
    return list == nullptr ? 0 : list->size();
  }
  bool Verify(Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyOffset(verifier, kField) &&
           verifier.VerifyVector(GetPointer<const Vector<uint32_t>*>(kField)) &&
           verifier.EndTable();
  }
};

struct Root : private flatbuffers::Table {
  using Methods = Vector<Offset<Lister<add::MethodAdditions::VT_NAMES>>>;
  using Weights = Vector<Offset<Lister<add::Weight::VT_MADE_OF>>>;

  const Methods* methods() const { return GetPointer<const Methods*>(add::Additions::VT_METHODS); }
  const Weights* weights() const { return GetPointer<const Weights*>(add::Additions::VT_WEIGHTS); }
  bool Verify(Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyOffset(verifier, add::Additions::VT_METHODS) &&
           verifier.VerifyVector(methods()) && verifier.VerifyVectorOfTables(methods()) &&
           VerifyOffset(verifier, add::Additions::VT_WEIGHTS) && verifier.VerifyVector(weights()) &&
           verifier.VerifyVectorOfTables(weights()) && verifier.EndTable();
  }
};

template <typename Tables>
uint64_t count(const Tables* tables) {
  uint64_t sum = 0;
  for (flatbuffers::uoffset_t i = 0; tables != nullptr && i < tables->size(); ++i) {
    sum += tables->Get(i)->count();
  }
  return sum;
}

}  // namespace

std::optional<uint64_t> count_listed_texts(Verifier& verifier, const uint8_t* bytes) {
  if (!verifier.VerifyBuffer<Root>(add::AdditionsIdentifier())) return std::nullopt;
  const Root* const root = flatbuffers::GetRoot<Root>(bytes);
  return count(root->methods()) + count(root->weights());
}

}  // namespace petrel::runtime
