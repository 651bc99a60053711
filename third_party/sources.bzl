# SPDX-License-Identifier: Apache-2.0
"""Libraries built from source, because Debian 12 lacks them or has them too old."""

load(":debian_sources.bzl", "debian_source", "debian_sources")

def _patches(package, names):
    return [Label("//third_party/%s:%s.patch" % (package, name)) for name in names]

# Applied in this order.
_XNNPACK_PATCHES = [
    "loop_order",
    "fourteen_rows",
    "packing",
    "workspace",
    "depthwise_pixels",
    "clamps",
    "few_columns",
    "small_operators",
    "padding",
    "instruction_set_cap",
    "clamp_fusion",
    "look_up_sizes",
    "fill",
    "replan",
    "late_data",
    "roots",
    "sigmoid",
    "zero_rows",
    "thin_outputs",
    "winograd",
    "in_place",
    "zip_rows",
    "four_rows",
    "six_rows",
    "repeated_pointers",
    "grouped",
    "read_ahead",
    "split",
    "row_alone",
    "half_made",
    "workspace_payer",
    "pack_bytes",
    "dot_taps",
    "image",
    "unpacked",
    "steps",
    "calls",
    "winograd_each_run",
    "moved_copies",
    "timeline",
    "runs",
    "operator_room",
    "group_halves",
    "rows_of_threads",
    "tile_choice",
    "shallow",
    "lanes",
    "short_sigmoid",
    "cell",
    "varying_channels",
    "short_rows",
    "functions",
    "half_pixels",
    "phases",
    "zero_taps",
    "norm",
    "attention",
]

def source_libraries():
    """Declares the repositories of all libraries built from source."""
    debian_sources(
        name = "debian_sources",
        packages = {
            "cpuinfo": [
                "0.0~git20250905.877328f-1 557ca404a3836b9f335a3a06b65ff9fe9dbaaefab7fb5c0185f53d9f33615a10",
                "0.0~git20250327.39ea79a-1 2a10028948f7f0663c56cc34405484391ee3d7ccdf09fe51d73897937b99d9d4",
            ],
            "fxdiv": [
                "0.0~git20200417.b408327-4 7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b",
            ],
            "pthreadpool": [
                "0.0~git20240616.560c60d-1 4cc3cbd933b28131d2a34edc54f76af9fb41bc490af5eae1a5bd3cd07ea90708",
            ],
            "xnnpack": [
                "0.0~git20241108.4ea82e5-2 90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99",
            ],
        },
    )
    debian_source(
        name = "cpuinfo",
        archive = Label("@debian_sources//:cpuinfo.tar.xz"),
        build_file = Label("//third_party/cpuinfo:cpuinfo.BUILD"),
    )
    debian_source(
        name = "fxdiv",
        archive = Label("@debian_sources//:fxdiv.tar.xz"),
        build_file = Label("//third_party/fxdiv:fxdiv.BUILD"),
    )
    debian_source(
        name = "pthreadpool",
        archive = Label("@debian_sources//:pthreadpool.tar.xz"),
        build_file = Label("//third_party/pthreadpool:pthreadpool.BUILD"),
        patches = _patches("pthreadpool", [
            "brief_spin",
            "late_threads",
        ]),
    )
    debian_source(
        name = "xnnpack",
        archive = Label("@debian_sources//:xnnpack.tar.xz"),
        build_file = Label("//third_party/xnnpack:xnnpack.BUILD"),
        has_top_folder = False,
        patches = _patches("xnnpack", _XNNPACK_PATCHES),
    )

def libraries_for_zig():
    """Declares what Debian has as libraries for its own machines alone; third_party/zig
    compiles them for others."""
    debian_sources(
        name = "zig_sources",
        ending = "tar.gz",
        packages = {
            "abseil": [
                "20240722.0-4 df6d1f5ef540725f3851201176a60486aab332410788465c9877910bb471c34a",
            ],
            "rapidjson": [
                "1.1.0+dfsg2-7.4 92aa6402743012e5f2c3db17def1ff5273df4f3ca7a8f8ed9f1041d392c14ce7",
                "1.1.0+dfsg2-7.6 92aa6402743012e5f2c3db17def1ff5273df4f3ca7a8f8ed9f1041d392c14ce7",
            ],
            "zlib": [
                "1:1.3.dfsg+really1.3.1-1 60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb",
                "1:1.3.dfsg+really1.3.1-1+deb13u1 60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb",
            ],
        },
    )
    debian_source(
        name = "abseil_source",
        archive = Label("@zig_sources//:abseil.tar.gz"),
        build_file = Label("//third_party/abseil:abseil.BUILD"),
        is_one_package = True,
    )
    debian_source(
        name = "rapidjson_source",
        archive = Label("@zig_sources//:rapidjson.tar.gz"),
        build_file = Label("//third_party/rapidjson:rapidjson.BUILD"),
        patches = _patches("rapidjson", ["assignment"]),
    )
    debian_source(
        name = "zlib_source",
        archive = Label("@zig_sources//:zlib.tar.gz"),
        build_file = Label("//third_party/zlib:zlib.BUILD"),
    )
