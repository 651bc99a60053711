# SPDX-License-Identifier: Apache-2.0
"""Seeds of the fuzz target pt2: pt2_seeds.py FOLDER ARCHIVE...

The JSON of each archive as pt2_fuzzer.cc reads it, without what nothing reads but
as text. What is longer than inputs of a campaign (campaign.py) is left out.
"""
import json
import os
import sys
import zipfile

SEPARATOR = "\x1e"
MOST = 8192


def without_metadata(value):
    """The same JSON with every "metadata" empty."""
    if isinstance(value, dict):
        return {key: {} if key == "metadata" else without_metadata(item)
                for key, item in value.items()}
    if isinstance(value, list):
        return [without_metadata(item) for item in value]
    return value


def seed(path):
    """The three members of an archive, joined."""
    with zipfile.ZipFile(path) as archive:
        members = {name.split("/", 1)[1]: name for name in archive.namelist()}
        models = [name for name in members if name.startswith("models/")]
        if len(models) != 1 or models[0] != "models/model.json":
            name = models[0][len("models/"):-len(".json")]
        else:
            name = "model"
        wanted = ["models/%s.json" % name,
                  "data/weights/%s_weights_config.json" % name,
                  "data/constants/%s_constants_config.json" % name]
        return SEPARATOR.join(
            json.dumps(without_metadata(json.loads(archive.read(members[member]))),
                       separators=(",", ":")) for member in wanted)


def main(folder, archives):
    os.makedirs(folder, exist_ok=True)
    # Of several versions of torch the last one's.
    for path in sorted(a for a in archives if a.endswith(".pt2")):
        text = seed(path)
        if len(text) > MOST:
            continue
        name = os.path.splitext(os.path.basename(path))[0]
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
