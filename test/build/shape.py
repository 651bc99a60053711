# SPDX-License-Identifier: Apache-2.0
"""How long functions and files are.

    shape.functions("a.cc", text)   [(name, first line, number of lines), ...]
    shape.violations(root)          one line for each that is too long

Columns count in C and C++ only, where clang-format cannot break a comment. A
function counts from the line of its name to its closing brace (C and C++) or
its last statement (Python and Starlark). The tree is formatted, so that lines
mean the same everywhere.
"""
import ast
import os
import re

import tree

MAX_FUNCTION_LINES = 80
MAX_FILE_LINES = 500
MAX_COLUMNS = 100

# "path name": why this one is better whole. Empty is best.
LONG_FUNCTIONS = {
    "third_party/system_libraries.bzl system_libraries": "a list of declarations",
}

_CPP = (".c", ".cc", ".h")
_PYTHON = (".bzl", ".py")
_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE)
_TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:class|struct|union|enum|namespace|extern)\b",
                   re.DOTALL)
_ACCESS = re.compile(r"\s*(?:public|private|protected)\s*:(?!:)")
_NAME = re.compile(r"([\w:~]+|operator\W+)\s*\(")


def _blank(match):
    """Spaces in place of what is not code; lines stay where they are."""
    return re.sub(r"[^\n]", " ", match.group())


def _cpp_functions(text):
    code = re.sub(_NOT_CODE, _blank, text)
    found, stack = [], []  # the stack holds (start of a function or None, name)
    head = 0
    for position in re.finditer(r"[{};]", code):
        at, sign = position.start(), position.group()
        inside_function = any(start is not None for start, _ in stack)
        if sign == "{":
            label = _ACCESS.match(code, head, at)
            head = label.end() if label else head
            before = code[head:at].strip()
            name = _NAME.search(before)
            is_function = (not inside_function and name and not _TYPE.match(before) and
                           not before.endswith("="))
            start = head + len(code[head:at]) - len(code[head:at].lstrip())
            stack.append((start if is_function else None, name.group(1) if name else ""))
        elif sign == "}" and stack:
            start, name = stack.pop()
            if start is not None:
                first = code.count("\n", 0, start) + 1
                found.append((name.strip(), first, code.count("\n", start, at) + 1))
        head = at + 1
    return found


def _python_functions(text):
    return [(node.name, node.lineno, node.end_lineno - node.lineno + 1)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def functions(path, text):
    """The functions of a file: (name, first line, number of lines)."""
    return (_python_functions if path.endswith(_PYTHON) else _cpp_functions)(text)


def violations(root, allowed=None):
    """(functions measured, one line for each function, file or line that is too long).

    `allowed` holds the long functions that stay, with the reason.
    """
    allowed = LONG_FUNCTIONS if allowed is None else allowed
    measured, lines = 0, []
    used = set()
    for path in tree.sources(root, _CPP + _PYTHON):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        length = text.count("\n")
        if length > MAX_FILE_LINES:
            lines.append("%s: %d lines, at most %d" % (path, length, MAX_FILE_LINES))
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > MAX_COLUMNS and path.endswith(_CPP) and 'R"(' not in line:
                lines.append("%s:%d: %d columns, at most %d" % (
                    path, number, len(line), MAX_COLUMNS))
        for name, first, size in functions(path, text):
            measured += 1
            key = "%s %s" % (path, name)
            if size > MAX_FUNCTION_LINES and key not in allowed:
                lines.append("%s:%d: %s has %d lines, at most %d" % (
                    path, first, name, size, MAX_FUNCTION_LINES))
            elif size > MAX_FUNCTION_LINES:
                used.add(key)
    lines += ["%s is not a long function any more" % key
              for key in sorted(set(allowed) - used)]
    return measured, lines
