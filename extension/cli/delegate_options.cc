// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/delegate_options.h"

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::extension {

using runtime::Error;

void DelegateOptions::add_to(CLI::App& verb) {
  CLI::Option* const file =
      verb.add_option("--packed-weights", file_,
                      "file that caches XNNPACK's packed weights;\n"
                      "created when missing, replaced when it does not match");
  verb.add_option("--verify-packed", verify_,
                  "check digests of packed weights at their first use, or never (default: first)")
      ->check(CLI::IsMember({"first", "never"}))
      ->needs(file);
  verb.add_option("--winograd", winograd_,
                  "off: XNNPACK computes all convolutions directly (default: on)")
      ->check(CLI::IsMember({"on", "off"}));
  verb.add_option("--math", math_,
                  "fast: XNNPACK's products leave out the last bits of floats on processors\n"
                  "where that is faster (default: exact)")
      ->check(CLI::IsMember({"exact", "fast"}));
  verb.add_option("--huge-pages", huge_pages_,
                  "whether XNNPACK's packed weights lie in huge pages; auto (default): where\n"
                  "those take no longer to get than small ones")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  verb.add_option("--tiles", tiles_,
                  "in which tile XNNPACK computes products of floats: rule (default), by\n"
                  "instruction sets; trial: measured for 20 ms, and kept beside packed weights;\n"
                  "or a file that `petrel tune -o` wrote")
      ->type_name("rule|trial|FILE")
      ->check([](const std::string& tiles) { return tiles.empty() ? "is empty" : std::string(); });
}

absl::Status DelegateOptions::set_path(const char* flag, const char* option,
                                       const std::string& path) {
  if (path.empty() || options_.set_option(option, path.c_str()) == Error::Ok) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " is a path of ", path.size(), " bytes, at most ",
                   runtime::kMaxOptionValueLength - 1, " are possible"));
}

absl::StatusOr<const runtime::LoadBackendOptionsMap*> DelegateOptions::make() {
  const bool is_usual = winograd_ == "on" && math_ == "exact" && huge_pages_ == "auto";
  if (file_.empty() && tiles_.empty() && is_usual) return nullptr;
  PETREL_RETURN_IF_ERROR(set_path("--packed-weights", "packed_weights_file", file_));
  PETREL_RETURN_IF_ERROR(set_path("--tiles", "tiles", tiles_));
  const bool is_kept =
      (file_.empty() || options_.set_option("verify_packed", verify_.c_str()) == Error::Ok) &&
      options_.set_option("winograd", winograd_ == "on") == Error::Ok &&
      options_.set_option("math", math_.c_str()) == Error::Ok &&
      options_.set_option("huge_pages", huge_pages_.c_str()) == Error::Ok &&
      map_.set_options("XnnpackBackend", options_.view()) == Error::Ok;
  if (!is_kept) return absl::InternalError("options of XnnpackBackend cannot be kept");
  return &map_;
}

}  // namespace petrel::extension
