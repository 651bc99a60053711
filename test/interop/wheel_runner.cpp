// SPDX-License-Identifier: Apache-2.0
//
// Runs and times a program with the C++ runtime inside the ExecuTorch wheel.
// It is compiled by build_runner against the wheel's headers and libraries and
// is the other side of every comparison that must not pay for Python.
//
//   wheel_runner PROG.pte [--data FILE.ptd]... [--method NAME]
//                [--input X.npy]... [--call METHOD:a.npy,b.npy]...
//                [--output-dir DIR] [--threads N] [--share-arenas]
//                [--load-mode file|mmap] [--bench SECONDS]
//
// Without --call one call of --method (forward) is made; inputs that are not
// given are ones. Outputs become DIR/output_I.npy, with several calls
// DIR/call_C_output_I.npy. Prints one JSON object; times are in microseconds
// and taken as `petrel bench` takes them: through the Module facade, inputs
// and outputs included. Exit status: 0 done, 1 failed, 2 wrong usage.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "executorch/extension/module/module.h"
#include "executorch/extension/tensor/tensor.h"
#include "npy_array.h"

// The library exports its pool but the wheel ships no header for it.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  bool _unsafe_reset_threadpool(uint32_t new_thread_count);
};
ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace petrel::interop {
namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::Module;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using Clock = std::chrono::steady_clock;

struct Call {
  std::string method;
  std::vector<std::string> inputs;
};

struct Options {
  std::string program;
  std::vector<std::string> data_files;
  std::vector<Call> calls;
  std::string output_dir;
  int threads = 1;
  bool share_arenas = false;
  Module::LoadMode load_mode = Module::LoadMode::Mmap;
  double bench_seconds = 0;
};

struct DtypeName {
  ScalarType type;
  const char* descr;
};
constexpr DtypeName kDtypes[] = {
    {ScalarType::Float, "<f4"}, {ScalarType::Double, "<f8"}, {ScalarType::Half, "<f2"},
    {ScalarType::Int, "<i4"},   {ScalarType::Long, "<i8"},   {ScalarType::Short, "<i2"},
    {ScalarType::Char, "|i1"},  {ScalarType::Byte, "|u1"},   {ScalarType::Bool, "|b1"},
};

const char* descr_of(ScalarType type) {
  for (const DtypeName& known : kDtypes) {
    if (known.type == type) return known.descr;
  }
  throw std::runtime_error("scalar type " + std::to_string(static_cast<int>(type)) +
                           " has no .npy dtype here");
}

void check(Error error, const std::string& what) {
  if (error != Error::Ok) {
    char code[16];
    std::snprintf(code, sizeof code, "0x%x", static_cast<unsigned>(error));
    throw std::runtime_error(what + " failed with error " + code);
  }
}

double microseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

// The elements of `tensor` row by row, whatever its dim order.
NpyArray to_array(const Tensor& tensor) {
  NpyArray array;
  array.descr = descr_of(tensor.scalar_type());
  const size_t item = static_cast<size_t>(tensor.element_size());
  const auto rank = static_cast<size_t>(tensor.dim());
  for (size_t d = 0; d < rank; ++d) array.shape.push_back(tensor.sizes()[d]);
  array.bytes.resize(static_cast<size_t>(tensor.numel()) * item);
  const char* data = static_cast<const char*>(tensor.const_data_ptr());
  std::vector<int64_t> index(rank, 0);
  for (size_t i = 0; i < static_cast<size_t>(tensor.numel()); ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < rank; ++d) from += index[d] * tensor.strides()[d];
    std::memcpy(array.bytes.data() + i * item, data + from * static_cast<int64_t>(item), item);
    for (size_t d = rank; d-- > 0 && ++index[d] == array.shape[d];) index[d] = 0;
  }
  return array;
}

// The bytes of a one; `descr` ends in the size of an element.
std::string one_of(const std::string& descr) {
  std::string bytes(static_cast<size_t>(descr.back() - '0'), 0);
  if (descr == "<f4") {
    const float one = 1;
    std::memcpy(bytes.data(), &one, sizeof(one));
  } else if (descr == "<f8") {
    const double one = 1;
    std::memcpy(bytes.data(), &one, sizeof(one));
  } else if (descr == "<f2") {
    bytes[1] = 0x3c;
  } else {
    bytes[0] = 1;
  }
  return bytes;
}

// Owns the bytes that its tensors point at.
struct Inputs {
  std::vector<NpyArray> arrays;
  std::vector<TensorPtr> tensors;
  std::vector<EValue> values;
};

Inputs make_inputs(Module& module, const Call& call) {
  const auto meta = module.method_meta(call.method);
  check(meta.error(), "method_meta(" + call.method + ")");
  if (call.inputs.size() > meta->num_inputs()) {
    throw std::runtime_error("method " + call.method + " has " +
                             std::to_string(meta->num_inputs()) + " inputs, " +
                             std::to_string(call.inputs.size()) + " were given");
  }
  Inputs inputs;
  inputs.arrays.resize(meta->num_inputs());
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    check(info.error(), "input_tensor_meta(" + std::to_string(i) + ")");
    NpyArray& array = inputs.arrays[i];
    if (i < call.inputs.size()) {
      array = ReadNpy(call.inputs[i]);
    } else {
      array.descr = descr_of(info->scalar_type());
      array.shape.assign(info->sizes().begin(), info->sizes().end());
      array.bytes.resize(info->nbytes());
      const std::string one = one_of(array.descr);
      for (size_t at = 0; at + one.size() <= array.bytes.size(); at += one.size()) {
        std::memcpy(array.bytes.data() + at, one.data(), one.size());
      }
    }
    if (array.descr != descr_of(info->scalar_type())) {
      throw std::runtime_error("input " + std::to_string(i) + " is " + array.descr +
                               ", the program takes " + descr_of(info->scalar_type()));
    }
    std::vector<executorch::aten::SizesType> sizes(array.shape.begin(), array.shape.end());
    inputs.tensors.push_back(executorch::extension::make_tensor_ptr(
        std::move(sizes), array.bytes.data(), info->scalar_type()));
    inputs.values.emplace_back(inputs.tensors.back());
  }
  return inputs;
}

std::string shapes_json(const std::vector<EValue>& outputs) {
  std::ostringstream json;
  json << "[";
  for (size_t i = 0; i < outputs.size(); ++i) {
    json << (i ? "," : "") << "{";
    if (outputs[i].isTensor()) {
      json << "\"dtype\":\"" << descr_of(outputs[i].toTensor().scalar_type()) << "\",\"shape\":[";
      const auto sizes = outputs[i].toTensor().sizes();
      for (size_t d = 0; d < sizes.size(); ++d) json << (d ? "," : "") << sizes[d];
      json << "]";
    }
    json << "}";
  }
  json << "]";
  return json.str();
}

void write_outputs(const std::vector<EValue>& outputs, const std::string& prefix) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].isTensor()) {
      WriteNpy(prefix + "output_" + std::to_string(i) + ".npy", to_array(outputs[i].toTensor()));
    }
  }
}

// Of this program alone: getrusage would count the process that started it.
long peak_rss_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::atol(line.c_str() + 6);
  }
  return 0;
}

// Pages that this process shares with nobody.
long private_kb() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  long sum = 0;
  for (std::string line; std::getline(rollup, line);) {
    for (const char* key : {"Private_Clean:", "Private_Dirty:"}) {
      if (line.rfind(key, 0) == 0) sum += std::atol(line.c_str() + std::strlen(key));
    }
  }
  return sum;
}

// A tenth of the time to warm up, then the runs that count.
std::string bench(Module& module, const Call& call, double seconds) {
  Inputs inputs = make_inputs(module, call);
  // A program may plan its other values into the memory of an input.
  const std::vector<NpyArray> given = inputs.arrays;
  std::vector<double> times;
  const auto once = [&] {
    for (size_t i = 0; i < given.size(); ++i) {
      std::copy(given[i].bytes.begin(), given[i].bytes.end(), inputs.arrays[i].bytes.begin());
    }
    const auto from = Clock::now();
    const auto outputs = module.execute(call.method, inputs.values);
    times.push_back(microseconds(from, Clock::now()));
    check(outputs.error(), "execute(" + call.method + ")");
  };
  const auto warm = Clock::now();
  while (times.size() < 3 || microseconds(warm, Clock::now()) < seconds * 1e5) once();
  times.clear();
  const std::clock_t processor = std::clock();
  const auto start = Clock::now();
  while (times.size() < 30 || microseconds(start, Clock::now()) < seconds * 1e6) once();
  const double processor_each = static_cast<double>(std::clock() - processor) * 1e6 /
                                CLOCKS_PER_SEC / static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::ostringstream json;
  json << ",\"steady\":{\"runs\":" << times.size() << ",\"min\":" << at(0) << ",\"p50\":" << at(0.5)
       << ",\"p90\":" << at(0.9) << ",\"p99\":" << at(0.99)
       << ",\"processor\":" << processor_each << "}";
  return json.str();
}

int run(const Options& options) {
  executorch::extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(
      static_cast<uint32_t>(options.threads));

  const auto begin = Clock::now();
  Module module(options.program, options.data_files, options.load_mode, nullptr, nullptr, nullptr,
                options.share_arenas);
  check(module.load(), "loading " + options.program);
  const long private_before = private_kb();
  for (const Call& call : options.calls) {
    check(module.load_method(call.method), "load_method(" + call.method + ")");
  }
  const auto loaded = Clock::now();

  double first_run = 0;
  std::vector<EValue> outputs;
  for (size_t c = 0; c < options.calls.size(); ++c) {
    const Inputs inputs = make_inputs(module, options.calls[c]);
    const auto from = Clock::now();
    auto result = module.execute(options.calls[c].method, inputs.values);
    const auto to = Clock::now();
    check(result.error(), "execute(" + options.calls[c].method + ")");
    if (c == 0) first_run = microseconds(from, to);
    outputs = *result;
    if (!options.output_dir.empty()) {
      const bool single = options.calls.size() == 1;
      write_outputs(outputs, options.output_dir + "/" +
                                 (single ? "" : "call_" + std::to_string(c) + "_"));
    }
  }

  std::ostringstream json;
  json << "{\"load\":" << microseconds(begin, loaded) << ",\"first_run\":" << first_run
       << ",\"outputs\":" << shapes_json(outputs);
  if (options.bench_seconds > 0) {
    json << bench(module, options.calls.back(), options.bench_seconds);
  }
  json << ",\"peak_rss_kb\":" << peak_rss_kb() << ",\"private_kb_before\":" << private_before
       << ",\"private_kb\":" << private_kb() << "}";
  std::puts(json.str().c_str());
  return 0;
}

Call parse_call(const std::string& text) {
  const size_t colon = text.find(':');
  Call call{text.substr(0, colon), {}};
  if (colon != std::string::npos) {
    std::istringstream list(text.substr(colon + 1));
    for (std::string item; std::getline(list, item, ',');) call.inputs.push_back(item);
  }
  return call;
}

bool parse(int argc, char** argv, Options& options) {
  Call single{"forward", {}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--share-arenas") {
      options.share_arenas = true;
    } else if (word.rfind("--", 0) != 0) {
      if (!options.program.empty()) return false;
      options.program = word;
    } else if (i + 1 >= argc) {
      return false;
    } else {
      const std::string value = argv[++i];
      if (word == "--data") {
        options.data_files.push_back(value);
      } else if (word == "--method") {
        single.method = value;
      } else if (word == "--input") {
        single.inputs.push_back(value);
      } else if (word == "--call") {
        options.calls.push_back(parse_call(value));
      } else if (word == "--output-dir") {
        options.output_dir = value;
      } else if (word == "--threads") {
        options.threads = std::atoi(value.c_str());
      } else if (word == "--bench") {
        options.bench_seconds = std::atof(value.c_str());
      } else if (word == "--load-mode" && (value == "file" || value == "mmap")) {
        options.load_mode = value == "file" ? Module::LoadMode::File : Module::LoadMode::Mmap;
      } else {
        return false;
      }
    }
  }
  if (options.calls.empty()) options.calls.push_back(single);
  return !options.program.empty() && options.threads >= 1;
}

}  // namespace
}  // namespace petrel::interop

int main(int argc, char** argv) {
  petrel::interop::Options options;
  if (!petrel::interop::parse(argc, argv, options)) {
    std::fputs("usage: wheel_runner PROG.pte [options], see wheel_runner.cpp\n", stderr);
    return 2;
  }
  try {
    return petrel::interop::run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "wheel_runner: %s\n", e.what());
    return 1;
  }
}
