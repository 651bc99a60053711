/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/steps/steps.h"

#include "third_party/xnnpack/image/flag.h"
#include "third_party/xnnpack/split/flag.h"
#include "third_party/xnnpack/unpacked/flag.h"
#include "third_party/xnnpack/winograd/flag.h"
#include "xnnpack/microkernel-type.h"
#include "xnnpack/operator-type.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"

static _Thread_local const struct petrel_observer* observer_of_thread = NULL;

void petrel_observe(const struct petrel_observer* observer) { observer_of_thread = observer; }

const struct petrel_observer* petrel_observer_of_thread(void) { return observer_of_thread; }

size_t petrel_num_steps(xnn_runtime_t runtime) {
  return runtime->num_ops * XNN_MAX_OPERATOR_OBJECTS;
}

static bool is_product(enum xnn_operator_type type) {
  switch (type) {
    case xnn_operator_type_fully_connected_nc_f32:
    case xnn_operator_type_convolution_nhwc_f32:
      return true;
    default:
      return false;
  }
}

/* Flags of ours mean nothing in operators of other kinds. */
static const char* find_kernel(xnn_operator_t op) {
  if (is_product(op->type)) {
    if (op->flags & XNN_FLAG_WINOGRAD) return "Winograd";
    if (op->flags & XNN_FLAG_UNPACKED) return "Unpacked";
    if (op->flags & XNN_FLAG_SPLIT) return "Split";
  }
  const enum xnn_microkernel_type type = xnn_operator_microkernel_type(op);
  if (type == xnn_microkernel_type_igemm && (op->flags & XNN_FLAG_IMAGE) != 0) return "Image";
  return type == xnn_microkernel_type_default ? "" : xnn_microkernel_type_to_string(type);
}

static struct petrel_shape shape_of(xnn_runtime_t runtime, uint32_t count, const uint32_t* ids) {
  struct petrel_shape shape = {0, NULL};
  if (count == 0 || ids[0] >= runtime->num_values) return shape;
  const struct xnn_shape* of = &runtime->values[ids[0]].shape;
  shape.rank = of->num_dims;
  shape.sizes = of->dim;
  return shape;
}

bool petrel_describe_step(xnn_runtime_t runtime, size_t index, struct petrel_step* step) {
  const struct xnn_operator_data* data = &runtime->opdata[index / XNN_MAX_OPERATOR_OBJECTS];
  xnn_operator_t op = data->operator_objects[index % XNN_MAX_OPERATOR_OBJECTS];
  if (op == NULL) return false;
  *step = (struct petrel_step){
      .name = xnn_operator_type_to_string(op->type),
      .kernel = find_kernel(op),
      .input = shape_of(runtime, data->num_inputs, data->inputs),
      .output = shape_of(runtime, data->num_outputs, data->outputs),
  };
  const enum xnn_microkernel_type type = xnn_operator_microkernel_type(op);
  if (type == xnn_microkernel_type_gemm) {
    step->tile_rows = op->ukernel.gemm.mr;
    step->tile_columns = op->ukernel.gemm.nr;
  } else if (type == xnn_microkernel_type_igemm) {
    step->tile_rows = op->ukernel.igemm.mr;
    step->tile_columns = op->ukernel.igemm.nr;
  }
  return true;
}
