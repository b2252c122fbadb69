"""What a query finds of an item, and which items a filter selects, by the rules of LangGraph."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]

_STEP = re.compile(r"\[[^\]]*\]|\{[^}]*\}|[^.\[\]{}]+")


def texts_at(value: Any, path: str) -> Iterator[str]:
    """Yields the texts at a path such as title, chapters[*].content, authors[0], {title,meta.author}, *.text or $, the whole value."""
    found = [value] if path in ("", "$") else _at(value, _STEP.findall(path))
    for each in found:
        if isinstance(each, (dict, list)):
            yield json.dumps(each, ensure_ascii=False, sort_keys=True)
        elif each is not None and each != "":
            yield str(each)


def _at(value: Any, steps: Sequence[str]) -> list[Any]:
    if not steps:
        return [value]
    step, rest = steps[0], steps[1:]
    if step.startswith("{"):
        # The members end the path: LangGraph ignores what follows.
        return [each for field in step[1:-1].split(",") if field.strip() for each in _at(value, _STEP.findall(field.strip()))]
    return [each for child in _children(value, step) for each in _at(child, rest)]


def _children(value: Any, step: str) -> list[Any]:
    if isinstance(value, list):
        if step in ("*", "[*]"):
            return value
        index = re.fullmatch(r"\[\s*(-?\d+)\s*\]", step)
        return [value[int(index[1])]] if index and -len(value) <= int(index[1]) < len(value) else []
    if not isinstance(value, dict):
        return []
    return list(value.values()) if step == "*" else [value[step]] if step in value else []


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Compares numbers, which may be in strings, and other strings by their characters. Other values match nothing."""

    def operator(got: Any, operand: Any) -> bool:
        try:
            return compare(float(got), float(operand))
        except (TypeError, ValueError, OverflowError):
            return isinstance(got, str) and isinstance(operand, str) and compare(got, operand)

    return operator


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: bool(a == b),
    "$ne": lambda a, b: bool(a != b),
    "$gt": _ordered(lambda a, b: bool(a > b)),
    "$gte": _ordered(lambda a, b: bool(a >= b)),
    "$lt": _ordered(lambda a, b: bool(a < b)),
    "$lte": _ordered(lambda a, b: bool(a <= b)),
}


def matches(value: Json, wanted: Mapping[str, Any] | None) -> bool:
    """Reports whether an item has each member of a filter."""
    return all(_has(value.get(name), want) for name, want in (wanted or {}).items())


def _has(got: Any, want: Any) -> bool:
    if isinstance(want, Mapping):
        if any(name.startswith("$") for name in want):
            return all(_compare(operator, got, operand) for operator, operand in want.items())
        return isinstance(got, dict) and matches(got, want)
    if isinstance(want, (list, tuple)):
        return isinstance(got, list) and len(got) == len(want) and all(map(_has, got, want))
    return bool(got == want)


def _compare(operator: str, got: Any, operand: Any) -> bool:
    if operator not in _OPERATORS:
        raise ValueError(f"there is no operator {operator}: use one of {', '.join(_OPERATORS)}")
    return _OPERATORS[operator](got, operand)


def fits(namespace: Sequence[str], match_type: str, path: Sequence[str]) -> bool:
    """Reports whether a namespace begins or ends with a path, in which * is any label."""
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(want in ("*", label) for label, want in zip(part, path, strict=True))
