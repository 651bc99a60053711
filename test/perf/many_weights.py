#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How export time grows with the number of operators that have a weight each.

  ./bazelw build //extension/cli:petrel
  test/perf/many_weights.py [--petrel BINARY] [--counts 1000,20000,100000] [--instructions]

Writes archives of a chain of aten.linear, each with a weight of its own and a
relu behind it, and exports them with and without XNNPACK. Prints the processor's
time per operator, the best of three exports, and how long each phase took: a time
per operator that grows by a factor each time the count does is not linear. It does
grow once, where the graph no longer fits the caches: --instructions counts
instructions in place of time, which caches do not change. Needs no torch;
--instructions needs valgrind.
"""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import zipfile

WIDTH = 8
PETREL = "bazel-bin/extension/cli/petrel"


def tensor(*sizes):
    strides = [1]
    for size in sizes[:0:-1]:
        strides.insert(0, strides[0] * size)
    return {"dtype": 7, "sizes": [{"as_int": n} for n in sizes], "requires_grad": False,
            "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": n} for n in strides], "storage_offset": {"as_int": 0},
            "layout": 7}


def ref(name):
    return {"as_tensor": {"name": name}}


def node(target, inputs, output, line):
    return {"target": f"torch.ops.aten.{target}.default", "name": output,
            "inputs": [{"name": key, "arg": ref(name), "kind": 1} for key, name in inputs.items()],
            "outputs": [ref(output)], "is_hop_single_tensor_return": None,
            "metadata": {"stack_trace": f'File "model.py", line {line}, in forward\\n'}}


def write_archive(path, count):
    """As torch.export.save writes one."""
    nodes, weights, values, previous = [], {}, {"x": tensor(1, WIDTH)}, "x"
    for i in range(count):
        weights[f"layers.{i}.weight"] = {"path_name": f"weight_{i}", "is_param": True,
                                         "use_pickle": False,
                                         "tensor_meta": tensor(WIDTH, WIDTH)}
        values[f"p_layers_{i}_weight"] = tensor(WIDTH, WIDTH)
        nodes.append(node("linear", {"input": previous, "weight": f"p_layers_{i}_weight"},
                          f"linear_{i}", i))
        nodes.append(node("relu", {"self": f"linear_{i}"}, f"relu_{i}", i))
        previous = f"relu_{i}"
        values[f"linear_{i}"] = values[previous] = tensor(1, WIDTH)
    specs = [{"parameter": {"arg": {"name": f"p_layers_{i}_weight"},
                            "parameter_name": f"layers.{i}.weight"}} for i in range(count)]
    graph = {"inputs": [ref(f"p_layers_{i}_weight") for i in range(count)] + [ref("x")],
             "outputs": [ref(previous)], "nodes": nodes, "tensor_values": values,
             "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {},
             "custom_obj_values": {}, "is_single_tensor_return": False}
    signature = {"input_specs": specs + [{"user_input": {"arg": ref("x")}}],
                 "output_specs": [{"user_output": {"arg": ref(previous)}}]}
    model = {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": [],
                              "metadata": {}, "treespec_namedtuple_fields": {}},
             "opset_version": {"aten": 10}, "range_constraints": {},
             "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"],
             "torch_version": "2.13.0", "guards_code": []}
    with zipfile.ZipFile(path, "w") as archive:
        files = {"models/model.json": json.dumps(model),
                 "data/weights/model_weights_config.json": json.dumps({"config": weights}),
                 "data/constants/model_constants_config.json": '{"config": {}}',
                 "archive_format": "pt2", "archive_version": "0", "byteorder": "little"}
        for name, text in files.items():
            archive.writestr(f"m/{name}", text)
        for i in range(count):
            # Weights that differ, so that each is one of its own.
            archive.writestr(f"m/data/weights/weight_{i}",
                             (i + 1).to_bytes(4, "little") * (WIDTH * WIDTH))


def export(petrel, archive, output, backend):
    """The processor's seconds, and the seconds of each phase by name."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    done = subprocess.run([petrel, "export", archive, "-o", output, "--backend", backend, "--json"],
                          text=True, stdout=subprocess.PIPE, check=True)
    return used() - before, json.loads(done.stdout)["seconds"]


def count_instructions(petrel, archive, output, backend, scratch):
    """Instructions that an export executes."""
    done = subprocess.run(["valgrind", "--tool=callgrind",
                           f"--callgrind-out-file={scratch}/callgrind.out", petrel, "export",
                           archive, "-o", output, "--backend", backend],
                          text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def print_time(backend, count, taken):
    phases = ", ".join(f"{name} {time:.3f}" for name, time in taken[1].items())
    print(f"{backend:8s}{count:7d} operators {taken[0]:7.3f} s of the processor, "
          f"{1e6 * taken[0] / count:6.1f} us each: {phases}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--petrel", default=PETREL, help=f"the command (default {PETREL})")
    parser.add_argument("--counts", default="1000,4000,20000,50000,100000",
                        help="operators with a weight (default %(default)s)")
    parser.add_argument("--instructions", action="store_true",
                        help="count instructions in place of time")
    parser.add_argument("--keep", help="folder to leave the archives in")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(args.keep or scratch)
        counts = [int(count) for count in args.counts.split(",")]
        for count in counts:
            write_archive(work / f"{count}.pt2", count)
        for backend in ("none", "xnnpack"):
            for count in counts:
                archive, output = work / f"{count}.pt2", f"{scratch}/m.pte"
                if args.instructions:
                    total = count_instructions(args.petrel, archive, output, backend, scratch)
                    print(f"{backend:8s}{count:7d} operators {total:14d} instructions, "
                          f"{total / count:9.0f} each", flush=True)
                    continue
                print_time(backend, count,
                           min((export(args.petrel, archive, output, backend) for _ in range(3)),
                               key=lambda taken: taken[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
