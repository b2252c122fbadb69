"""A checkpointer and a store of LangGraph on Dormouse."""

from .saver import DormouseSaver
from .store import DormouseStore

__all__ = ["DormouseSaver", "DormouseStore"]
