"""Build the documentation: ``python -m sphinx -W doc doc/_build/html``, then ``python doc/check_links.py`` on it."""

import html
import json
import os
import re
import sys
import textwrap
from importlib import import_module
from pathlib import Path

from docutils import nodes
from sphinx_gallery.sorting import ExplicitOrder

import skembed

sys.path.insert(0, str(Path(__file__).parent))
import addresses

project = "skembed"
author = "The skembed developers"
copyright = author
version = release = skembed.__version__
urls = addresses.read_urls()
html_baseurl = addresses.published_at(version, urls, os.environ)

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",  # formulas are set without the network, too
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_results"]  # pages include what scripts wrote into _results
default_role = "literal"
nitpicky = True  # a reference that leads nowhere is an error

nitpick_ignore_regex = [
    ("py:obj", r"\w+_"),  # numpydoc makes links of fitted attributes that are properties
    ("(std:)?ref", "r2_score"),  # in a docstring that comes from scikit-learn
]

autosummary_generate = True
toc_object_entries_show_parents = "hide"  # or the contents at the side are too wide
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
numpydoc_show_class_members = False  # the template lists them
numpydoc_class_members_toctree = False


def larger_text(gallery_conf, fname):
    """Labels that can be read on the card of an example and on a phone."""
    from matplotlib import pyplot

    pyplot.rcParams["font.size"] = 13


sphinx_gallery_conf = {
    "reset_modules": ("matplotlib", larger_text),
    "thumbnail_size": (560, 400),
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skembed",),
    "reference_url": {"skembed": None},  # names in the code of an example lead to their page
    "download_all_examples": False,
    "ignore_pattern": r"(^|[\\/])(?!plot_)\w+\.py$",  # programs that a page shows, and that draw nothing
    "subsection_order": ExplicitOrder(
        [
            f"../examples/{task}"
            for task in ("classify", "search", "deduplicate", "cluster", "compare", "own_evidence", "research")
        ]
    ),
    "within_subsection_order": ExplicitOrder(
        ["plot_quickstart.py", "plot_few_labels.py", "plot_explain_similarity.py", "plot_paraphrases.py", "*"]
    ),
    "nested_sections": True,
}
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold functions

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "skembed"
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]  # for programs that read documentation
html_css_files = ["custom.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    **addresses.theme_options(version, html_baseurl, urls),
}
pages_alone = ["install", "getting_started", "extending/index", "extending/code", "contributing", "architecture"]
html_sidebars = {page: [] for page in [*pages_alone, "whats_new"]}


# Where other projects keep the page of a name. Unlike an inventory of intersphinx, this needs no network.
PAGES = {
    "joblib": "https://joblib.readthedocs.io/en/stable/generated/{}.html",
    "matplotlib": "https://matplotlib.org/stable/api/_as_gen/{}.html",
    "numpy": "https://numpy.org/doc/stable/reference/generated/{}.html",
    "pandas": "https://pandas.pydata.org/docs/reference/api/{}.html",
    "scipy": "https://docs.scipy.org/doc/scipy/reference/generated/{}.html",
    "sklearn": "https://scikit-learn.org/stable/modules/generated/{}.html",
}


def exists(name):
    """Whether a dotted name leads from an importable module to an object."""
    module, *path = name.split(".")
    value = import_module(module)
    for attribute in path:
        module = f"{module}.{attribute}"
        try:
            value = getattr(value, attribute)
        except AttributeError:
            try:
                value = import_module(module)
            except ImportError:
                return False
    return True


def link_to_other_project(app, env, node, content):
    """Link a name of another project to its page; a name that does not exist stays a broken reference.

    Docstrings that `skembed.research` inherits, or shares, name what stands in `skembed` as if they stood there.
    """
    name = node.get("reftarget", "")
    project = name.partition(".")[0]
    if node.get("refdomain") != "py":
        return None
    if node.get("py:module") == "skembed.research" and project not in {"skembed", *PAGES}:
        where = env, node["refdoc"], app.builder, node["reftype"]
        return env.get_domain("py").resolve_xref(*where, f"skembed.{name}", node, content)
    if project in PAGES and exists(name):
        return nodes.reference("", "", content, refuri=PAGES[project].format(name), internal=False)
    return None


def add_open_graph(app, page, template, context, doctree):
    """Describe a page to programs that show links: its title, its first paragraph and, if published, a picture."""
    if doctree is None:
        return
    paragraph = next((node.astext() for node in doctree.findall(nodes.paragraph)), "")
    description = textwrap.shorten(paragraph, 200, placeholder=" ...")
    title = html.unescape(re.sub("<[^>]+>", "", context.get("title", "")))
    tags = {"og:title": title, "og:type": "website", "og:site_name": project, "og:description": description}
    tags |= addresses.tags(app.builder.get_target_uri(page), html_baseurl)
    lines = [f'<meta property="{name}" content="{html.escape(value)}" />' for name, value in tags.items() if value]
    if description:
        lines.append(f'<meta name="description" content="{html.escape(description)}" />')
    if html_baseurl:
        lines.append('<meta name="twitter:card" content="summary_large_image" />')
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


def write_versions(app, exception):
    """Write the list that the version switcher of the theme reads."""
    if exception is None and app.builder.format == "html":
        entries = json.dumps(addresses.versions(version, html_baseurl), indent=1)
        (Path(app.outdir) / addresses.SWITCHER).write_text(entries, encoding="utf-8")


def setup(app):
    app.connect("missing-reference", link_to_other_project)
    app.connect("html-page-context", add_open_graph)
    app.connect("build-finished", write_versions)
