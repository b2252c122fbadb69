import copy
import pickle
import unittest
from collections.abc import Callable

from dormouse import DormouseError, RefusedError, UnknownError


class Deleted(RefusedError):
    def __init__(self, key: str) -> None:
        super().__init__({"code": "deleted", "status": 410, "detail": f"{key} is deleted"})
        self.key = key


class Undecided(UnknownError):
    def __init__(self) -> None:
        super().__init__("undecided", None)


#: What gives another process or another part of a program an error.
COPIES: list[Callable[[DormouseError], DormouseError]] = [copy.copy, copy.deepcopy]
COPIES += [lambda error, protocol=each: pickle.loads(pickle.dumps(error, protocol)) for each in range(pickle.HIGHEST_PROTOCOL + 1)]  # type: ignore[misc]


class Copies(unittest.TestCase):
    def test_an_error_is_the_same_after_it_was_copied_or_went_to_another_process(self) -> None:
        noted = UnknownError("the connection was lost", "key-1")
        noted.add_note("step 3")
        refused = RefusedError({"code": "conflict", "status": 409, "detail": "rev is 7", "rev": 7})
        for error in (refused, noted, UnknownError("no key", None), Deleted("k"), Undecided()):
            for each in COPIES:
                again = each(error)
                self.assertIs(type(again), type(error))
                self.assertEqual((str(again), again.outcome, vars(again)), (str(error), error.outcome, vars(error)))
