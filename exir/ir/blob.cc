// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/blob.h"

#include <atomic>
#include <optional>

#include "runtime/platform/fast_sha256.h"

namespace petrel::exir {
namespace {

// Bytes that all blobs of the process keep between hashing and writing.
std::atomic<size_t> kept_bytes{0};

// Takes `size` of kMostKept; gives it back on destruction.
class Share {
 public:
  // Null when too little is left.
  static std::shared_ptr<Share> take(size_t size) {
    size_t before = kept_bytes.load();
    do {
      if (size > Blob::kMostKept - before) return nullptr;
    } while (!kept_bytes.compare_exchange_weak(before, before + size));
    return std::shared_ptr<Share>(new Share(size));
  }
  ~Share() { kept_bytes -= size_; }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

 private:
  explicit Share(size_t size) : size_(size) {}
  size_t size_;
};

}  // namespace

Sha256 sha256_of(absl::Span<const uint8_t> bytes) {
  Sha256 digest;
  static_assert(sizeof(Sha256) == runtime::kSha256Bytes, "digest size");
  runtime::fast_sha256({bytes.data(), bytes.size()}, digest.data());
  return digest;
}

Sha256 sha256_of_pieces(const FeedFn& feed) {
  runtime::Sha256 hash(runtime::fast_sha256_mixer());
  feed([&hash](absl::Span<const uint8_t> piece) { hash.update({piece.data(), piece.size()}); });
  Sha256 digest;
  hash.finish(digest.data());
  return digest;
}

std::string to_hex(const Sha256& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (uint8_t byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

struct Blob::State {
  size_t size = 0;
  absl::Span<const uint8_t> span;
  std::shared_ptr<const void> owner;
  Producer producer;  // set only for produced blobs
  std::optional<Sha256> digest;
  std::optional<Sha256> head;
  std::optional<Bytes> kept;  // by sha256(), for the next bytes()
  std::shared_ptr<Share> share;
};

Blob::Blob() : state_(std::make_shared<State>()) {}

Blob::Blob(std::shared_ptr<State> state) : state_(std::move(state)) {}

Blob Blob::owned(std::vector<uint8_t> bytes) {
  auto holder = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  const absl::Span<const uint8_t> span(holder->data(), holder->size());
  return view(span, std::move(holder));
}

Blob Blob::copy_of(absl::Span<const uint8_t> bytes) {
  return owned(std::vector<uint8_t>(bytes.begin(), bytes.end()));
}

Blob Blob::view(absl::Span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
  auto state = std::make_shared<State>();
  state->size = bytes.size();
  state->span = bytes;
  state->owner = std::move(owner);
  return Blob(std::move(state));
}

Blob Blob::produced(size_t size, Producer producer) {
  auto state = std::make_shared<State>();
  state->size = size;
  state->producer = std::move(producer);
  return Blob(std::move(state));
}

size_t Blob::size() const { return state_->size; }

Blob::Bytes Blob::bytes() const {
  if (!state_->producer) return Bytes(state_->span, state_->owner);
  if (state_->kept) {
    Bytes bytes = *std::move(state_->kept);
    state_->kept.reset();
    state_->share.reset();
    return bytes;
  }
  auto made = std::make_shared<std::vector<uint8_t>>(state_->size);
  state_->producer(absl::MakeSpan(*made));
  const absl::Span<const uint8_t> span(made->data(), made->size());
  return Bytes(span, std::move(made));
}

const Sha256& Blob::sha256() const {
  if (!state_->digest) {
    Bytes made = bytes();
    state_->digest = sha256_of(made.span());
    // Making the bytes again for their head would take as long as making all.
    if (state_->producer) state_->head = sha256_of(made.span().subspan(0, kHeadBytes));
    if (state_->producer) state_->share = Share::take(size());
    if (state_->share) state_->kept = std::move(made);
  }
  return *state_->digest;
}

const Sha256& Blob::head() const {
  if (!state_->head && is_produced()) sha256();
  if (!state_->head) state_->head = sha256_of(state_->span.subspan(0, kHeadBytes));
  return *state_->head;
}

bool Blob::is_produced() const { return state_->producer != nullptr; }

const void* Blob::identity() const { return state_.get(); }

bool Blob::equals(const Blob& other) const {
  if (state_ == other.state_) return true;
  return size() == other.size() && head() == other.head() && sha256() == other.sha256();
}

}  // namespace petrel::exir
