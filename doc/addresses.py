"""Where the documentation is published: what the pages, their tags and the version switcher know of it.

`[project.urls]` of pyproject.toml is the one place that says it: "Documentation" is the address of the stable pages,
"Source" that of the repository. An address that ends in "/stable/" has the pages of the development version beside it,
in "/latest/". Read the Docs sets READTHEDOCS_CANONICAL_URL to the address of the pages that it builds, which comes
first. Without an address no page names one, and the version switcher shows the version alone.
"""

import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
CARD = "_static/card.png"  # 1200 x 630 pixels, shown beside a link to a page
SWITCHER = "_static/switcher.json"


def read_urls(path=PYPROJECT):
    """The table `[project.urls]`, with names in lower case; an entry that is no address is an error."""
    urls = tomllib.loads(path.read_text(encoding="utf-8"))["project"].get("urls", {})
    for name, address in urls.items():
        check(address, f"{name} in [project.urls]")
    return {name.lower(): address for name, address in urls.items()}


def check(address, where):
    if not address.startswith(("https://", "http://")):
        raise ValueError(f"{where} must begin with https://, got {address!r}")


def is_development(version):
    return "dev" in version


def of_version(address, folder):
    """The address of the "stable" or the "latest" pages, from that of either; others have no pages beside them."""
    root, _, last = address.rstrip("/").rpartition("/")
    return f"{root}/{folder}/" if last in ("stable", "latest") else address


def published_at(version, urls, environment):
    """The address of the pages of this version, with a slash at the end; empty if there is none."""
    address = environment.get("READTHEDOCS_CANONICAL_URL", "")
    if address:
        check(address, "READTHEDOCS_CANONICAL_URL")
        return address.rstrip("/") + "/"
    address = urls.get("documentation", "")
    return of_version(address.rstrip("/") + "/", "latest" if is_development(version) else "stable") if address else ""


def versions(version, address):
    """Entries of the version switcher. An empty url leads to the page itself."""
    stable, latest = of_version(address, "stable"), of_version(address, "latest")
    if stable == latest:
        return [{"name": version, "version": matched(version), "url": address, "preferred": True}]
    if is_development(version):  # which does not know the number of the last release
        release = {"name": "stable", "version": "stable"}
    else:
        release = {"name": f"{version} (stable)", "version": version}
    return [
        release | {"url": stable, "preferred": True},
        {"name": "development", "version": "development", "url": latest},
    ]


def matched(version):
    """The entry of the switcher that is this version."""
    return "development" if is_development(version) else version


def theme_options(version, address, urls):
    """Options of pydata-sphinx-theme that depend on the addresses."""
    options = {
        # The list of the stable pages counts for all: pages of an old release learn of a new one.
        "switcher": {"json_url": of_version(address, "stable") + SWITCHER, "version_match": matched(version)},
        "check_switcher": False,  # it would be downloaded
        "show_version_warning_banner": bool(address),
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    }
    if "source" in urls:
        options["icon_links"] = [{"name": "Source", "url": urls["source"], "icon": "fa-solid fa-code-branch"}]
    return options


def tags(page, address):
    """Open Graph's properties of a page that need an address."""
    if not address:
        return {}
    return {
        "og:url": address + page,
        "og:image": address + CARD,
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": "Accuracy over sentences a second: TextVectorizer beside tf-idf, wordllama and MiniLM",
    }
