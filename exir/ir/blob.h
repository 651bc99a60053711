// SPDX-License-Identifier: Apache-2.0
//
// Immutable bytes that may not be in memory yet: a slice of a mapped file, an
// owned buffer, or bytes that a function produces on demand (a weight in
// another layout). Copies share. Weights travel through the compiler as Blobs,
// so that export memory stays at the largest tensor plus a fixed overhead.
//
//   Blob raw = Blob::view(span_of_mapping, mapping);
//   Blob ohwi = Blob::produced(raw.size(), [raw](absl::Span<uint8_t> out) {
//     permute(raw.bytes().span(), out);
//   });
//   store.add_named_blob(to_hex(ohwi.sha256()), ohwi, 16, "");   // hashed once
//   Blob::Bytes pinned = ohwi.bytes();                           // produced here
//
// Invariant: every call of bytes() yields the same size() bytes. The digest is
// computed on first use and kept. Thread-compatible: one thread may ask for the
// digest of a blob that is not produced while another reads its bytes.
//
// A produced weight is hashed first and written later. What hashing made is
// kept for that one later use while all blobs of the process together keep no
// more than kMostKept bytes; beyond it the bytes are made again.
#ifndef PETREL_EXIR_IR_BLOB_H_
#define PETREL_EXIR_IR_BLOB_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace petrel::exir {

using Sha256 = std::array<uint8_t, 32>;

// SHA-256 of `bytes`.
Sha256 sha256_of(absl::Span<const uint8_t> bytes);
// The same of all that `feed` hands over, piece by piece.
using FeedFn = std::function<void(const std::function<void(absl::Span<const uint8_t>)>& take)>;
Sha256 sha256_of_pieces(const FeedFn& feed);

// Lower-case hexadecimal text, 64 characters.
std::string to_hex(const Sha256& digest);

class Blob {
 public:
  using Producer = std::function<void(absl::Span<uint8_t> out)>;
  static constexpr size_t kMostKept = size_t{64} << 20;
  static constexpr size_t kHeadBytes = 4096;

  // Bytes held in memory while this object lives.
  class Bytes {
   public:
    absl::Span<const uint8_t> span() const { return span_; }
    const uint8_t* data() const { return span_.data(); }
    size_t size() const { return span_.size(); }

   private:
    friend class Blob;
    Bytes(absl::Span<const uint8_t> span, std::shared_ptr<const void> owner)
        : span_(span), owner_(std::move(owner)) {}
    absl::Span<const uint8_t> span_;
    std::shared_ptr<const void> owner_;
  };

  Blob();  // empty

  static Blob owned(std::vector<uint8_t> bytes);
  static Blob copy_of(absl::Span<const uint8_t> bytes);
  static Blob view(absl::Span<const uint8_t> bytes, std::shared_ptr<const void> owner);
  // `producer` writes all `size` bytes; each bytes() calls it anew, but for the
  // first one after sha256().
  static Blob produced(size_t size, Producer producer);

  size_t size() const;
  Bytes bytes() const;
  const Sha256& sha256() const;
  // The digest of the first kHeadBytes bytes, or of all where there are fewer. Most blobs differ in
  // them, so that weights of gigabytes can be told apart unread. What is produced is hashed whole.
  const Sha256& head() const;
  // Whether bytes() makes them, and may change what is kept.
  bool is_produced() const;
  // The same for copies, and for no other blob while one of them lives.
  const void* identity() const;

  // Same size and same bytes.
  bool equals(const Blob& other) const;

 private:
  struct State;
  explicit Blob(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_BLOB_H_
