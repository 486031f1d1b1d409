"""The source of a package: its lines of code, its functions, and which unit imports from which."""

import ast
import io
import tokenize

SHORTEST_TABLE = 3  # a literal of as many lines or more is a table
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


class Source:
    """A file of the package: its unit is the first name below skembed, a package or a module."""

    def __init__(self, path, package):
        self.name = path.relative_to(package).as_posix()
        self.parts = path.relative_to(package).with_suffix("").parts
        self.unit = self.parts[0]
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    def code_lines(self):
        """Return the indices of the lines that hold code: no blank line, comment or docstring, a table counted once."""
        lines = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and ast.get_docstring(node, clean=False):
                lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
            elif isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)) and is_table(node):
                lines.difference_update(range(node.lineno + 1, node.end_lineno + 1))
        return lines

    def functions(self):
        """Yield (qualified name, function), methods and nested functions too."""

        def below(node, prefix):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, (ast.ClassDef, *FUNCTIONS)):
                    if isinstance(child, FUNCTIONS):
                        yield prefix + child.name, child
                    yield from below(child, f"{prefix}{child.name}.")
                else:
                    yield from below(child, prefix)

        return below(self.tree, "")

    def defined_names(self):
        """Return the names of functions and classes at the top of the file, and of its public constants and types."""
        names = {node.name for node in self.tree.body if isinstance(node, (ast.ClassDef, *FUNCTIONS))}
        for node in self.tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                parts = [part for target in targets for part in getattr(target, "elts", [target])]
                names.update(n.id for n in parts if isinstance(n, ast.Name) and not n.id.startswith("_"))
        return names

    def imported_units(self):
        """Return the units of skembed that the file imports from, at its top or inside a function."""
        package = ["skembed", *self.parts[:-1]]
        names = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*base, *([node.module] if node.module else [])])
                names.update(f"{base}.{alias.name}" for alias in node.names)
        units = {name.split(".")[1] for name in names if name.startswith("skembed.")}
        return units - {self.unit, "__version__"}


def is_table(node):
    """Whether a literal is a long list of literals."""
    literal = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
    return node.end_lineno - node.lineno >= SHORTEST_TABLE - 1 and all(isinstance(n, literal) for n in ast.walk(node))


def read_package(package):
    """Return the sources, sorted by path."""
    return [Source(path, package) for path in sorted(package.rglob("*.py"))]


def import_graph(sources):
    """Return unit -> units that it imports from, of all units but the public names of skembed itself."""
    graph = {source.unit: set() for source in sources if source.unit != "__init__"}
    for source in sources:
        if source.unit in graph:
            graph[source.unit] |= source.imported_units() & graph.keys()
    return graph


def heights_of(graph):
    """Return unit -> the length of the longest chain of imports below it."""
    heights = {}

    def height(unit):
        if unit not in heights:
            heights[unit] = 1 + max((height(other) for other in graph[unit]), default=-1)
        return heights[unit]

    for unit in graph:
        height(unit)
    return heights


def direct_imports(graph):
    """Return the graph without the imports that follow from others."""

    def below(unit):
        return graph[unit].union(*(below(other) for other in graph[unit]))

    return {unit: {o for o in others if not any(o in below(p) for p in others)} for unit, others in graph.items()}


def declared_ranks(package):
    """Return RANKS of the import test beside the package, lowest first; None where there is no test."""
    for path in package.parent.glob("tests/**/test_imports.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "RANKS":
                return ast.literal_eval(node.value)
    return None


def docstrings_of(sources):
    """Return unit -> docstring in one line."""
    return {s.unit: " ".join(ast.get_docstring(s.tree).split()) for s in sources if s.parts[1:] in ((), ("__init__",))}
