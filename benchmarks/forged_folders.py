"""Saved folders with another content, whose digests fit it: what somebody could send who means harm."""

import json

from safetensors.numpy import load_file, save_file

from skembed._storage.array_files import digest_of_array
from skembed._storage.folders import digest_of


def header_file(folder):
    """Path of the header of a saved folder."""
    return next(folder.glob("*.json"))


def array_file(folder, name="arrays"):
    """Path of the file of an array that has one of its own, or of all others."""
    return next(folder.glob(f"{name}-*.safetensors"))


def read_arrays(folder):
    """All arrays of a saved folder, by name."""
    return {name: array for file in folder.glob("*.safetensors") for name, array in load_file(file).items()}


def forge(folder, change_header=lambda header: None, change_arrays=lambda arrays: None):
    """Change a header and a mapping of arrays in place, and write both."""
    arrays = read_arrays(folder)
    change_arrays(arrays)
    rest = dict(arrays)
    for file in sorted(folder.glob("*.safetensors"), key=lambda file: file.name.startswith("arrays-")):
        names = rest if file.name.startswith("arrays-") else load_file(file)
        save_file({name: rest.pop(name) for name in list(names) if name in rest}, file)
    header = json.loads(header_file(folder).read_text())
    header["arrays"] = {name: digest_of_array(array) for name, array in arrays.items()}
    change_header(header)
    write_header(folder, header)


def write_header(folder, header):
    """Write a header whose own digest fits."""
    header["digest"] = digest_of(header)
    header_file(folder).write_text(json.dumps(header))
