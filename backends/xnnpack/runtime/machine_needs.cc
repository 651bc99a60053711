// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/machine_needs.h"

#include <cstdint>

#include "runtime/core/log.h"
#include "runtime/platform/isa_level.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;

struct Need {
  Datatype datatype;
  uint32_t features;
  const char* text;
};

constexpr Need kNeeds[] = {
#if defined(__x86_64__)
    {Datatype::QBINT4, runtime::kAvx2, "weights of 4 bits in groups need AVX2"},
    {Datatype::FP16, runtime::kAvx2 | runtime::kFma3 | runtime::kF16c,
     "half precision needs AVX2, FMA3 and F16C"},
#elif defined(__aarch64__)
    {Datatype::FP16, runtime::kFp16, "half precision needs arithmetic of FP16"},
#else
    {Datatype::FP16, ~uint32_t{0}, "half precision is not there for this processor"},
#endif
};

}  // namespace

Error check_machine(const Graph& graph) {
  const runtime::IsaLevel& level = runtime::isa_level();
  for (const Value& value : graph.values) {
    for (const Need& need : kNeeds) {
      if (value.datatype != need.datatype) continue;
      if ((level.features & need.features) == need.features) continue;
      PETREL_LOG(Error, "XNNPACK payload: %s, level is %s", need.text, level.name);
      return Error::NotSupported;
    }
  }
  return Error::Ok;
}

}  // namespace petrel::backends::xnnpack
