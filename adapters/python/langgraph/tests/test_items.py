import unittest

from dormouse_langgraph.items import matches, texts_at


class Filters(unittest.TestCase):
    def test_a_filter_selects_as_in_langgraph(self):
        item = {"n": "10", "f": 2.5, "day": "2026-01-02", "tags": ["a", {"x": 1, "y": 2}], "meta": {"a": 1, "deep": {"b": 5}}, "none": None}
        cases = [
            ({"meta": {"a": 1}}, True),  # an object has at least the members of the filter
            ({"meta": {"a": 1, "deep": {"b": {"$gte": 5}}}}, True),
            ({"meta": {"deep": {"b": {"$gt": 5}}}}, False),
            ({"meta": {"a": 1, "c": 2}}, False),
            ({"n": {"a": 1}}, False),
            ({"tags": ["a", {"x": 1}]}, True),  # a list has as many elements, each of which is compared so
            ({"tags": ["a"]}, False),
            ({"tags": ["a", {"x": {"$lt": 1}}]}, False),
            ({"n": {"$gt": 9}}, True),  # numbers may be in strings
            ({"n": {"$gt": "9", "$lte": 10.0}}, True),
            ({"f": {"$lt": "3"}}, True),
            ({"day": {"$gt": "2026-01-01", "$lt": "2026-01-03"}}, True),
            ({"day": {"$gt": 1}}, False),
            ({"none": {"$lt": 1}}, False),
            ({"missing": {"$ne": 1}}, True),
            ({"missing": {"$gte": 0}}, False),
            ({"none": None, "missing": None}, True),
        ]
        for wanted, expected in cases:
            with self.subTest(wanted=wanted):
                self.assertEqual(matches(item, wanted), expected)
        with self.assertRaisesRegex(ValueError, "no operator"):
            matches(item, {"meta": {"a": {"$in": [1]}}})

    def test_a_path_names_texts_as_in_langgraph(self):
        item = {"title": "t", "n": 1, "on": True, "none": None, "list": [{"c": "c0"}, {"c": "c1", "d": "d1"}], "meta": {"a": "ma", "b": {"c": "mbc"}}}
        cases = {
            "title": ["t"],
            "n": ["1"],
            "on": ["True"],
            "none": [],
            "missing.a": [],
            "meta": ['{"a": "ma", "b": {"c": "mbc"}}'],
            "meta.b.c": ["mbc"],
            "list[*].c": ["c0", "c1"],
            "list.*.c": ["c0", "c1"],
            "list[-1].d": ["d1"],
            "list[9].c": [],
            "list[x].c": [],
            "title[*]": [],
            "meta.*": ["ma", '{"c": "mbc"}'],
            "meta.*.c": ["mbc"],
            "*.a": ["ma"],
            "{title,meta.b.c, missing}": ["t", "mbc"],
            "list[*].{c,d}": ["c0", "c1", "d1"],
            "{meta}.a": ['{"a": "ma", "b": {"c": "mbc"}}'],
        }
        for path, expected in cases.items():
            with self.subTest(path=path):
                self.assertEqual(list(texts_at(item, path)), expected)
        self.assertEqual([list(texts_at({"b": 1, "a": "é"}, path)) for path in ("$", "")], [['{"a": "é", "b": 1}']] * 2)
