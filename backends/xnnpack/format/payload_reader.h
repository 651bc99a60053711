// SPDX-License-Identifier: Apache-2.0
//
// Reads payloads: those written here and those of ExecuTorch, identifiers
// "XN00" and "XN01", with and without a header.
//
//   Graph graph;
//   Problem problem = read_payload(data, size, &graph);
//   if (problem.ok()) problem = check_graph(graph);
//
// read_payload promises that the graph is well formed as far as one can tell
// without its meaning: ids exist, kinds and types are known, lists have the
// right number of entries, inline constants lie within the payload and are as
// large as their values. check_graph (graph_check.h) promises the rest.
// A value that is too new or quantised is read; it is for the caller to refuse.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_PAYLOAD_READER_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_PAYLOAD_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/problem.h"

namespace petrel::backends::xnnpack {

// Asked before the graph is built, with the bytes that it will take (structure_bytes.h): a
// payload of many small tables takes many times its own.
using MayTake = std::function<bool(uint64_t bytes)>;

// `payload` must stay while inline constants of the graph are used. What `may_take`
// denies is not read.
Problem read_payload(const uint8_t* payload, size_t size, Graph* out,
                     const MayTake& may_take = nullptr);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_PAYLOAD_READER_H_
