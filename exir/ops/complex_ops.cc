// SPDX-License-Identifier: Apache-2.0
//
// Operators of complex numbers. They have no rule: the importer reads them as operators of
// real ones (exir/import/complex_rules.h), and no graph holds them.
#include "exir/ops/families.h"

namespace petrel::exir::rules {
namespace {

const OpRow kRows[] = {
    {"aten::view_as_complex(Tensor(a) self) -> Tensor(a)", "", kPure, nullptr},
    {"aten::view_as_real(Tensor(a) self) -> Tensor(a)", "", kPure, nullptr},
    {"aten::complex(Tensor real, Tensor imag) -> Tensor", "", kPure, nullptr},
    {"aten::polar(Tensor abs, Tensor angle) -> Tensor", "", kPure, nullptr},
    {"aten::imag(Tensor(a) self) -> Tensor(a)", "", kPure, nullptr},
    {"aten::angle(Tensor self) -> Tensor", "", kPure, nullptr},
    {"aten::_conj(Tensor(a) self) -> Tensor(a)", "", kPure, nullptr},
    {"aten::_conj_physical(Tensor self) -> Tensor", "", kPure, nullptr},
    {"aten::conj_physical(Tensor self) -> Tensor", "", kPure, nullptr},
    {"aten::fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", "", kPure,
     nullptr},
    {"aten::fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", "", kPure,
     nullptr},
    {"aten::fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", "", kPure,
     nullptr},
    {"aten::fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", "",
     kPure, nullptr},
    {"aten::fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     "", kPure, nullptr},
    {"aten::fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     "", kPure, nullptr},
    {"aten::fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     "", kPure, nullptr},
    {"aten::fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     "", kPure, nullptr},
    {"aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     "", kPure, nullptr},
    {"aten::fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     "", kPure, nullptr},
    {"aten::fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     "", kPure, nullptr},
    {"aten::fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     "", kPure, nullptr},
    {"aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", "",
     kPure, nullptr},
    {"aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor", "",
     kPure, nullptr},
    {"aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
     "", kPure, nullptr},
    {"aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", "", kPure, nullptr},
    {"aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", "", kPure, nullptr},
    {"aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
     "window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
     "align_to_window=None) -> Tensor",
     "", kPure, nullptr},
    {"aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
     "window=None, bool center=True, bool normalized=False, bool? onesided=None, int? "
     "length=None, bool return_complex=False) -> Tensor",
     "", kPure, nullptr},
};

}  // namespace

absl::Span<const OpRow> complex_ops() { return kRows; }

}  // namespace petrel::exir::rules
