"""The outcomes of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

#: What a node says about an error (RFC 9457): `code`, `detail`, `status`, and the members of its code.
Problem = Mapping[str, Any]


class DormouseError(Exception):
    """The base of the errors of calls."""

    outcome: Literal["refused", "unknown"]

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes copies and pickles: the arguments of an error are its text, not those of its constructor."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[DormouseError], args: tuple[Any, ...]) -> DormouseError:
    return kind.__new__(kind, *args)


class RefusedError(DormouseError):
    """A call that was refused: it was not applied.

    Two codes of pods are an exception. After `mutation_failed` the new topology is stored, and after
    `reconcile_failed` some nodes may have been started: the `report` of the problem says what was
    done. `problem` has the members of its code, such as `rev` of a conflict.
    """

    outcome: Literal["refused"] = "refused"

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem['code']}: {problem.get('detail', '')}")
        self.problem = problem
        self.code: str = problem["code"]
        self.status: int = problem.get("status", 0)


class UnknownError(DormouseError):
    """A write whose outcome is unknown: it may have been applied, and may still be.

    Send it again with the same `idempotency_key` to learn its outcome.
    """

    outcome: Literal["unknown"] = "unknown"

    def __init__(self, detail: str, idempotency_key: str | None) -> None:
        super().__init__(f"unknown outcome: {detail}")
        self.idempotency_key = idempotency_key


class LostError(Exception):
    """A lease or a claim that this process no longer holds."""


@dataclass(frozen=True)
class Done(Generic[T]):
    """The outcome of a call that was applied."""

    value: T
    outcome: Literal["done"] = "done"


@dataclass(frozen=True)
class Refused:
    """The outcome of a call that was refused."""

    error: RefusedError
    outcome: Literal["refused"] = "refused"


@dataclass(frozen=True)
class Unknown:
    """The outcome of a call that may have been applied."""

    error: UnknownError
    outcome: Literal["unknown"] = "unknown"


def settle(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Done[T] | Refused | Unknown:
    """Makes a call and returns its outcome as a value. It raises only errors of the program."""
    try:
        return Done(call(*args, **kwargs))
    except RefusedError as error:
        return Refused(error)
    except UnknownError as error:
        return Unknown(error)


def refusal(code: str, detail: str, status: int = 0, **members: Any) -> RefusedError:
    """Returns a refusal that this package makes itself."""
    return RefusedError({"type": f"urn:dormouse:problem:{code}", "title": detail, "status": status, "detail": detail, "code": code, **members})
