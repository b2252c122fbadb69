"""Makes calls with the Python library: one JSON document a line on stdin, and its outcome on stdout.

A call has an id, a timeout_ms, and either ops or reads. Its outcome has the id, and one of done, refused, unknown
and broken. With named it uses the library's calls of one value or thread where there are some, whose outcomes have no
index.
"""

import base64
import json
import os
import ssl
import sys
import traceback

from dormouse import Client, Fence, RefusedError, StandardHttp, UnknownError

authority = os.environ.get("CALLER_CA")
client = Client(
    os.environ["CALLER_URLS"].split(","),
    token=os.environ.get("CALLER_TOKEN") or None,
    attempt_ms=1_500,
    http=StandardHttp(ssl.create_default_context(cafile=authority)) if authority else None,
)


def put(op, options):
    stamp = client.values.put(op["key"], base64.b64decode(op["bytes"]), if_revision=op.get("if_revision"), **options)
    return {"index": 0, "results": [{"op": "put_value", **stamp}]}


def delete(op, options):
    client.values.delete(op["key"], **options)
    return {"index": 0, "results": [{"op": "delete_value", "existed": False}]}


def append(op, options):
    conditions = {name: op[name] for name in ("expected_rev", "expected_head") if name in op}
    stamp = client.threads.append(op["thread"], op["entries"], **conditions, **options)
    return {"index": 0, "results": [{"op": "append_thread", **stamp}]}


def make(call):
    options = {"timeout_ms": call["timeout_ms"], "scope": call["scope"]}
    if "reads" in call:
        return client.read(call["reads"], **options)
    op = call["ops"][0]
    if call.get("named") and len(call["ops"]) == 1 and "fence" not in call:
        if op["op"] == "put_value" and set(op) <= {"op", "key", "bytes", "if_revision"}:
            return put(op, options)
        if op["op"] == "delete_value" and set(op) <= {"op", "key"}:
            return delete(op, options)
        if op["op"] == "append_thread" and set(op) <= {"op", "thread", "entries", "expected_rev", "expected_head"}:
            return append(op, options)
    if "fence" in call:
        options["fence"] = Fence(call["fence"]["claim"], call["fence"]["epoch"])
    return client.commit(call["ops"], **options)


sys.stdin.reconfigure(encoding="utf-8")
sys.stdout.reconfigure(encoding="utf-8")
for line in sys.stdin:
    call = json.loads(line)
    outcome = {"id": call["id"]}
    try:
        outcome["done"] = make(call)
    except RefusedError as error:
        outcome["refused"] = dict(error.problem)
    except UnknownError as error:
        outcome["unknown"] = str(error)
    except Exception:
        outcome["broken"] = traceback.format_exc()
    print(json.dumps(outcome, ensure_ascii=False, separators=(",", ":")), flush=True)
