"""What `show_versions` prints for a bug report."""

import subprocess
import sys

import numba
import numpy as np
import sklearn

import skembed


def test_versions_are_those_of_the_imported_packages(capsys):
    skembed.show_versions()
    lines = dict(line.strip().split(": ", 1) for line in capsys.readouterr().out.splitlines() if ": " in line)
    assert lines["python"].startswith(sys.version.split()[0])
    assert (lines["numpy"], lines["numba"], lines["scikit-learn"]) == (
        np.__version__,
        numba.__version__,
        sklearn.__version__,
    )


def test_a_package_that_is_not_installed_is_none_or_left_out(capsys, monkeypatch):
    from skembed._validation import messages

    monkeypatch.setattr(messages, "_PACKAGES", ("numpy", "no-such-package"))
    monkeypatch.setattr(messages, "_OPTIONAL", ("neither-this-one",))
    skembed.show_versions()
    printed = capsys.readouterr().out
    assert "no-such-package: None" in printed
    assert "neither" not in printed and "Optional" not in printed


def test_no_package_is_imported():
    imported = "print(sorted({'numba', 'numpy', 'sklearn'} & set(sys.modules)))"
    code = f"import skembed, sys; skembed.show_versions(); {imported}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
