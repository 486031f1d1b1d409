"""Build the documentation: ``python -m sphinx -W doc doc/_build/html``, then ``python doc/check_links.py`` on it."""

import os

from sphinx_gallery.sorting import ExplicitOrder

import skembed

project = "skembed"
author = "The skembed developers"
copyright = author
version = release = skembed.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas are set without the network, too
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_results"]  # pages include what scripts wrote into _results
default_role = "literal"
nitpicky = True  # a reference that leads nowhere is an error

# Links into other projects need the network, and a build must not fail without it.
nitpick_ignore_regex = [("py:obj", r"\w+_")]  # numpydoc makes links of fitted attributes that are properties
if not os.environ.get("SKEMBED_DOC_INTERSPHINX"):
    nitpick_ignore_regex += [("py:.*", r"(sklearn|numpy|scipy|pandas|joblib|matplotlib)\..*")]
    nitpick_ignore_regex += [("(std:)?ref", "r2_score")]  # in a docstring that comes from scikit-learn
else:
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

autosummary_generate = True
toc_object_entries_show_parents = "hide"  # or the contents at the side are too wide
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
numpydoc_show_class_members = False  # the template lists them
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": None,
    "download_all_examples": False,
    "within_subsection_order": ExplicitOrder(
        ["plot_quickstart.py", "plot_choose_method.py", "plot_grid_search.py", "*"]
    ),
}
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold functions

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "skembed"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
pages_alone = ["install", "getting_started", "extending/index", "architecture"]
html_sidebars = {page: [] for page in [*pages_alone, "whats_new"]}
