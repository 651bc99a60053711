# SPDX-License-Identifier: Apache-2.0
"""Every operator of generated C is in a program that some test compares with the interpreter bit
for bit; docs/portable_c_requirements.md names those programs."""

import json
import pathlib
import re
import tempfile
import unittest

from command import PETREL, QUICK_PLAN, done

HERE = pathlib.Path("test/portable_c")
# Archives by the test that compares them: a folder, or the names that the test has.
FOLDERS = {"layers_test": "test/models/layers", "operators_test": "test/models/operators"}
# Of tests that generate with more options.
OPTIONS = {"int8_test": ["--int8", "integer"]}
# Float archives beside their records.
RECORDS = {"int8_test": ("test/quantized/floats", "both encoder groups stream unet")}
NAMES = {
    "branches_test": ("test/models/varying", "cond cond_nested cond_numbers cond_sizes map_rows "
                      "map_varying scan_rows scan_varying while_bound"),
    "digits_test": ("examples/quickstart", "digits"),
    "int8_test": ("test/quantized/integer", "autoencoder keywords many"),
    "levels_test": ("test/models/levels", "groups tables tensors"),
    "narrow_test": ("test/models/narrow", "casts_bf16 casts_f16 functions_bf16 functions_f16 "
                    "moves_bf16 moves_f16 promotions_bf16 promotions_f16 windows_bf16 windows_f16"),
    "odd_models_test": ("test/models/portable",
                        "bits from_one from_ten known_numbers large_integers nothing_reduced "
                        "repeated words"),
    "quantized_test": ("test/quantized/programs",
                       "filters_dynamic groups_2bit groups_4bit groups_dynamic_4bit image_channel "
                       "image_tensor mixed rows rows_4bit rows_8bit rows_dynamic rows_dynamic_4bit "
                       "rows_dynamic_8bit rows_dynamic_tensor tokens_dynamic"),
    "varying_test": ("test/models/varying",
                     "cnn_batch cnn_image cond_varying encoder few_rows found_limits found_places "
                     "found_rows found_scales found_start mask_rows masked_places mlp numbers "
                     "powers prefill resamples resizes returned_numbers selected sizes vocoder "
                     "windows"),
    "vectors_test": ("test/models/portable", "channels planes products windows"),
}
# Rows that none of them reaches: export folds them, makes views of them, or writes others for
# what torch calls so.
UNREACHED = set("""
    aten::_native_batch_norm_legit_no_training.out aten::alias_copy.out aten::copy.out
    aten::detach_copy.out aten::empty.out aten::fill.Scalar_out
    aten::full_like.out aten::glu.out aten::lift_fresh_copy.out aten::linear.out
    aten::mean.dtype_out aten::ones.out aten::rsub.Scalar_out
    aten::scalar_tensor.out aten::split_copy.Tensor_out
    aten::split_with_sizes_copy.out aten::squeeze_copy.dim_out aten::squeeze_copy.dims_out
    aten::stack.out aten::t_copy.out aten::transpose_copy.int_out aten::unbind_copy.int_out
    aten::var_mean.correction_out aten::zeros.out
    dim_order_ops::_clone_dim_order.out dim_order_ops::_to_dim_order_copy.out""".split())
# Of rows of loops, and of numbers that steps find: no rows of the page, which has operators.
BESIDES = {"executorch_prim::et_copy_index.tensor", "aten::_local_scalar_dense"}
# Writes state; //test/portable_c:state_test compares that with eager torch.
UNREACHED.add("aten::index_put_")


def programs():
    """[(test, archive)]"""
    rows = [(test, archive) for test, folder in FOLDERS.items()
            for archive in sorted(pathlib.Path(folder).glob("*.pt2"))]
    return rows + [(test, pathlib.Path(folder) / f"{name}.pt2") for listed in (NAMES, RECORDS)
                   for test, (folder, names) in listed.items() for name in names.split()]


def options(test, archive):
    record = archive.with_suffix(".q.json").absolute()
    return [*OPTIONS.get(test, []), *(["--quantize", record] if record.exists() else [])]


class CoverageTest(unittest.TestCase):
    def test_each_operator_is_in_a_compared_program(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        covered = set()
        for test, archive in programs():
            done([PETREL, "gen-c", archive.absolute(), "-o", "c", "--name", "kws",
                  *QUICK_PLAN, *options(test, archive)], folder)
            covered.update(json.loads((folder / "c/manifest.json").read_text())["operators"])
        page = pathlib.Path("docs/portable_c_operators.md").read_text()
        rows = set(re.findall(r"^\| `([^`]+)` \| (?:yes|fixed sizes) \|", page, re.MULTILINE))
        self.assertGreater(len(rows), 180)
        self.assertEqual(covered - rows, BESIDES)
        self.assertEqual(rows - covered, UNREACHED)

    def test_tests_name_the_programs_that_they_compare(self):
        for test, (_, names) in [*NAMES.items(), *RECORDS.items()]:
            text = (HERE / f"{test}.py").read_text()
            for name in names.split():
                self.assertRegex(text, rf'"{name}"|{name}\.pt2', test)

    def test_page_names_the_programs(self):
        page = pathlib.Path("docs/portable_c_requirements.md").read_text()
        section = page.partition("## Programs")[2].partition("\n## ")[0]
        all_programs = programs()
        self.assertGreaterEqual(len(all_programs), 60)
        self.assertEqual(int(re.search(r"These (\d+) programs", section).group(1)),
                         len(all_programs))
        for test in {**FOLDERS, **NAMES}:
            line = re.search(rf"^\| `//test/portable_c:{test}` \| (.*) \|$", section, re.MULTILINE)
            self.assertEqual(re.findall(r"`(\w+)`", line.group(1)),
                             [a.stem for t, a in all_programs if t == test], test)


if __name__ == "__main__":
    unittest.main()
