"""Text-based stubs of libraries (.tbd, version 4): which library each document stands for, and what it exports."""
import re

# "key: [ a, b ]", the list over as many lines as it takes
_LIST = re.compile(r"^\s*(?:- )?([a-z-]+):\s*\[(.*?)\]", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"^install-name:\s*(.+)$", re.MULTILINE)


def read(path):
    """{install name: (exported symbols, re-exported libraries)}, one entry a document. Symbols of all
    architectures: stubs that come with zig name the same for each."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    stubs = {}
    for document in re.split(r"^--- .*$", text, flags=re.MULTILINE):
        name = _NAME.search(document)
        if not name:
            continue
        symbols, libraries = stubs.setdefault(_unquoted(name.group(1)), (set(), []))
        for key, values in _LIST.findall(document):
            values = [_unquoted(value) for value in values.split(",") if value.strip()]
            if key in ("symbols", "weak-symbols", "thread-local-symbols"):
                symbols.update(values)
            elif key == "objc-classes":
                for value in values:
                    symbols.update((f"_OBJC_CLASS_$_{value}", f"_OBJC_METACLASS_$_{value}"))
            elif key == "objc-eh-types":
                symbols.update(f"_OBJC_EHTYPE_$_{value}" for value in values)
            elif key == "objc-ivars":
                symbols.update(f"_OBJC_IVAR_$_{value}" for value in values)
            elif key == "libraries":
                libraries.extend(values)
    return stubs


def _unquoted(value):
    return value.strip().strip("'\"")
