"""Writes dormouse/operations.py from the OpenAPI document. With --check it only compares them."""

import json
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent.parent
document = json.loads((here / "../../server/rest/testdata/openapi.json").read_text())
idempotent, on_instances, reads = [], [], []
without: dict[str, list[str]] = {"stale": [], "min_index": []}
for path, item in document["paths"].items():
    for method, operation in item.items():
        names = {parameter["name"] for parameter in operation.get("parameters", []) if "name" in parameter}
        if "Idempotency-Key" in names and {"instances", "pods"} & set(operation.get("tags", [])):
            on_instances.append(f"{method.upper()} {path}")
        if "Idempotency-Key" in names:
            idempotent.append(f"{method.upper()} {path}")
        elif method == "get" or "min_index" in names:
            reads.append(f"{method.upper()} {path}")
            for name in set(without) - names:
                without[name].append(f"{method.upper()} {path}")


def listed(name: str, doc: str, calls: list[str]) -> str:
    lines = "".join(f'        "{call}",\n' for call in sorted(calls))
    return f"#: {doc}\n{name}: frozenset[str] = frozenset(\n    {{\n{lines}    }}\n)\n"


text = '"""Generated from the OpenAPI document by scripts/generate.py."""\n\n'
text += listed("IDEMPOTENT", "The calls that take an Idempotency-Key: they may be sent again.", idempotent) + "\n"
text += (
    listed(
        "ON_INSTANCES",
        "The idempotent calls on instances and pods. A refusal is about one attempt: it comes before a node looks for the answer to an earlier one.",
        on_instances,
    )
    + "\n"
)
text += listed("READS", "The calls that change nothing.", reads) + "\n"
text += listed("WITHOUT_STALE", "The reads that do not take stale.", without["stale"]) + "\n"
text += listed("WITHOUT_MIN_INDEX", "The reads that do not take min_index.", without["min_index"])
file = here / "dormouse/operations.py"
if "--check" in sys.argv:
    if not file.exists() or file.read_text() != text:
        sys.exit(f"{file.name} is stale: run python3 sdk/python/scripts/generate.py")
else:
    file.write_text(text)
