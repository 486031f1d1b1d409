"""Check, without a network, that every link inside a built documentation leads somewhere.

python doc/check_links.py doc/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page and the places in it that a link can name."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        self.links += [(self.getpos()[0], attrs[name]) for name in ("href", "src") if attrs.get(name)]


def broken_links(folder):
    """Lines "page:line: link" of what is not there."""
    # In _static lie templates of the theme, which are no pages.
    files = (path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts)
    pages = {path.resolve(): Page(path) for path in files}
    broken = []
    for path, page in pages.items():
        for line, link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(url.fragment)
            missing_anchor = anchor and target in pages and anchor not in pages[target].anchors
            if not target.exists() or missing_anchor:
                broken.append(f"{path.relative_to(folder.resolve())}:{line}: {link}")
    return len(pages), broken


def main():
    folder = Path(sys.argv[1])
    n_pages, broken = broken_links(folder)
    print("\n".join(broken))
    print(f"{n_pages} pages, {len(broken)} broken links")
    sys.exit(n_pages == 0 or bool(broken))


if __name__ == "__main__":
    main()
