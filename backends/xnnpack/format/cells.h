// SPDX-License-Identifier: Apache-2.0
//
// Small nodes that follow each other become one of XNNPACK where sizes never vary
// (third_party/xnnpack/cell): loading makes an operator of each node, in four microseconds, and a
// recurrent network has twenty of them for each step of time.
//
//   slice xh -> z                                 cell  inputs  xg, hg, h
//   slice hg -> y       none of these is a              outputs h2
//   add z, y -> a       node of XNNPACK                 add xg[128:256], hg[0:128] to scratch
//   sigmoid a -> b                                      sigmoid ...
//   ...
//   add n, d -> h2      what others read is an output
//
// Runs of an array are read where they are, so slices and reshapes that only cells read are left
// out, too. Results are the same bits. Invariant: a value that a node outside of cells reads, and
// each output of the graph, is made by a node or is an output of a cell.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_CELLS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/xnnpack/format/graph.h"
#include "third_party/xnnpack/cell/program.h"

namespace petrel::backends::xnnpack {

class Cell {
 public:
  // Ids of values.
  const std::vector<uint32_t>& inputs() const { return inputs_; }
  const std::vector<uint32_t>& outputs() const { return outputs_; }
  const std::vector<petrel_cell_step>& steps() const { return steps_; }
  size_t scratch_bytes() const { return scratch_bytes_; }
  // Refers to this cell, which stays where it is.
  petrel_cell program(const Graph& graph) const;

 private:
  friend class CellMaker;
  std::vector<uint32_t> inputs_;
  std::vector<uint32_t> outputs_;
  std::vector<petrel_cell_step> steps_;
  size_t scratch_bytes_ = 0;
};

// What becomes of a node.
inline constexpr uint32_t kStaysNode = 0xFFFFFFFF;
inline constexpr uint32_t kNoNode = 0xFFFFFFFE;  // in a cell that began before, or read by cells

struct Cells {
  std::vector<Cell> cells;
  std::vector<petrel_cell> programs;  // of the cells
  // By node: kStaysNode, kNoNode, or the cell that is in its place. Empty for no cells.
  std::vector<uint32_t> of_node;
  // How much more values need between nodes than without cells, at most.
  uint64_t more_bytes = 0;
};

// Precondition: check_graph, and that inputs have the sizes of the graph in all runs.
Cells find_cells(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_CELLS_H_
