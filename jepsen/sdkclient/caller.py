"""Makes calls with the Python library: one JSON document a line on stdin, and its outcome on stdout.

A call has an id, a timeout_ms, and ops, reads, or the one call of an op or a read. Its outcome has the id, and one of
done, refused, unknown and broken. A watch has an id and is told of in many lines, each with an event, and at its end
with refused or broken; stop ends it.
"""

import base64
import json
import os
import ssl
import sys
import threading
import traceback

from dormouse import Client, Fence, RefusedError, StandardHttp, UnknownError

authority = os.environ.get("CALLER_CA")
client = Client(
    os.environ["CALLER_URLS"].split(","),
    token=os.environ.get("CALLER_TOKEN") or None,
    attempt_ms=1_500,
    http=StandardHttp(ssl.create_default_context(cafile=authority)) if authority else None,
)

# The methods of the library: what takes the call and its options, and the members of the query or of the body that the
# method takes.
METHODS = {
    "PUT /v1/values/{key}": (lambda c, o: client.values.put(c["params"]["key"], base64.b64decode(c.get("data", "")), content_type=c["media"], **numbers(c), **o), {"ttl_ms", "if_revision", "if_incarnation"}),
    "GET /v1/values/{key}": (lambda c, o: value(client.values.get(c["params"]["key"], **o)), set()),
    "DELETE /v1/values/{key}": (lambda c, o: client.values.delete(c["params"]["key"], **numbers(c), **o), {"if_revision", "if_incarnation"}),
    "PUT /v1/checkpoints/{key}": (lambda c, o: client.checkpoints.put(c["params"]["key"], c["body"], **o), None),
    "PATCH /v1/checkpoints/{key}": (lambda c, o: client.checkpoints.patch(c["params"]["key"], c["body"], **numbers(c), **o), {"if_revision"}),
    "GET /v1/checkpoints/{key}": (lambda c, o: client.checkpoints.get(c["params"]["key"], **o), set()),
    "DELETE /v1/checkpoints/{key}": (lambda c, o: client.checkpoints.delete(c["params"]["key"], **numbers(c), **o), {"if_revision"}),
    "GET /v1/threads/{id}": (lambda c, o: client.threads.get(c["params"]["id"], **o), set()),
    "DELETE /v1/threads/{id}": (lambda c, o: client.threads.delete(c["params"]["id"], **numbers(c), **o), {"seal_ms"}),
    "POST /v1/threads/{id}/entries": (lambda c, o: client.threads.append(c["params"]["id"], **c["body"], **o), {"entries", "expected_rev", "expected_head", "metadata"}),
    "GET /v1/threads/{id}/entries": (lambda c, o: client.threads.entries(c["params"]["id"], **entries(c), **o), {"from", "to", "tail", "at_rev", "limit"}),
    "POST /v1/threads/{id}/fork": (lambda c, o: client.threads.fork(c["params"]["id"], c["body"], **o), None),
    "POST /v1/claims/{name}": (lambda c, o: client.claims.take(c["params"]["name"], **c["body"], **o), {"holder", "ttl_ms"}),
    "POST /v1/claims/{name}/renew": (lambda c, o: client.claims.renew(c["params"]["name"], **c["body"], **o), {"holder", "epoch", "ttl_ms"}),
    "POST /v1/claims/{name}/release": (lambda c, o: client.claims.release(c["params"]["name"], **c["body"], **o), {"holder", "epoch"}),
    "GET /v1/claims/{name}": (lambda c, o: client.claims.get(c["params"]["name"], **o), set()),
    "PUT /v1/sessions/{id}": (lambda c, o: client.sessions.put(c["params"]["id"], c["body"], **o), None),
    "GET /v1/sessions/{id}": (lambda c, o: client.sessions.get(c["params"]["id"], **o), set()),
    "DELETE /v1/sessions/{id}": (lambda c, o: client.sessions.delete(c["params"]["id"], **numbers(c), **o), {"if_revision"}),
    "GET /v1/reviews/{review}": (lambda c, o: client.reviews.get(c["params"]["review"], **o), set()),
    "POST /v1/reviews/{review}/decide": (lambda c, o: client.reviews.decide(c["params"]["review"], c["body"], **o), None),
    "PUT /v1/memory/{agent}/{id}": (lambda c, o: client.memory.put(c["params"]["agent"], c["params"]["id"], c["body"], **o), None),
    "GET /v1/memory/{agent}/{id}": (lambda c, o: client.memory.get(c["params"]["agent"], c["params"]["id"], **o), set()),
    "DELETE /v1/memory/{agent}/{id}": (lambda c, o: client.memory.delete(c["params"]["agent"], c["params"]["id"], **o), set()),
    "POST /v1/memory/recall": (lambda c, o: client.memory.recall(c["body"], **o), None),
    "GET /v1/values": (lambda c, o: client.values.list(**c["query"], **o), {"prefix", "after", "limit", "order"}),
    "GET /v1/threads": (lambda c, o: client.threads.list(**c["query"], **o), {"prefix", "after", "limit", "order"}),
    "GET /v1/sessions": (lambda c, o: client.sessions.list(**c["query"], **o), {"prefix", "after", "limit", "order", "status", "owner", "agent_id", "recoverable"}),
    "GET /v1/reviews": (lambda c, o: client.reviews.list(**c["query"], **o), {"after", "limit", "status", "before", "assignee", "session"}),
    "GET /v1/checkpoints/{key}/history": (lambda c, o: client.checkpoints.history(c["params"]["key"], **o), set()),
    "GET /v1/agents/{key}/thaw": (lambda c, o: client.agents.thaw(c["params"]["key"], **numbers(c), **o), {"tail"}),
}
for verb, name in {"claim": "claim", "claim_resume": "resume", "recover": "recover", "checkpoint": "checkpoint", "commit": "commit", "renew": "renew"}.items():
    METHODS[f"POST /v1/sessions/{{id}}/{verb}"] = (lambda c, o, name=name: getattr(client.sessions, name)(c["params"]["id"], c["body"], **o), None)


def value(found):
    return {"bytes": base64.b64encode(found.data).decode(), "content_type": found.content_type, "revision": found.revision, "incarnation": found.incarnation}


def entries(call):
    return {"from_seq" if name == "from" else name: number for name, number in numbers(call).items()}


def numbers(call):
    return {name: int(value) for name, value in call["query"].items()}


def alone(call, options):
    """Makes one call with the library's method, or with its call of any path if the method does not take all."""
    method, takes = METHODS.get(f"{call['method']} {call['path']}", (None, None))
    members = call["body"] if "entries" in (takes or ()) or "holder" in (takes or ()) else call["query"]
    if method and (takes is None and not call["query"] or takes is not None and set(members) <= takes):
        return method(call, options)
    headers = {"Content-Type": call["media"]} if call["media"] else {}
    data = base64.b64decode(call["data"]) if "data" in call else None
    answer = client.call(call["method"], call["path"], params=call["params"], query=call["query"], headers=headers, body=call.get("body"), data=data, **options)
    return answer.body


def make(call):
    options = {"timeout_ms": call["timeout_ms"], "scope": call["scope"]}
    if "reads" in call:
        return client.read(call["reads"], **options)
    if "fence" in call:
        options["fence"] = Fence(call["fence"]["claim"], call["fence"]["epoch"])
    if "call" in call:
        return alone(call["call"], options)
    return client.commit(call["ops"], **options)


def opened(asked, scope):
    if "changes" in asked:
        return client.changes(prefix=asked.get("prefix"), from_index=asked.get("from"), after=asked.get("after", ""), scope=scope)
    if "claim" in asked:
        return client.claims.watch(asked["claim"], scope=scope)
    return client.threads.watch(asked["thread"], from_seq=asked["from"], incarnation=asked.get("incarnation"), scope=scope)


stopped = {}  # :: id → an event that ends the watch
watches = {}  # :: id → an open watch; guarded by lock
lock = threading.Lock()


def follow(number, asked, scope):
    try:
        watch = opened(asked, scope)
        with lock:
            watches[number] = watch
        if stopped[number].is_set():
            watch.close()
        for item in watch:
            tell({"id": number, "event": item.change, "place": item.place} if "changes" in asked else {"id": number, "event": item})
        tell({"id": number, "ended": True})
    except RefusedError as error:
        tell({"id": number, "refused": dict(error.problem)})
    except Exception:
        tell({"id": number, "broken": traceback.format_exc()})


def stop(number):
    stopped[number].set()
    with lock:
        watch = watches.pop(number, None)
    if watch:
        watch.close()


def outcome(call):
    try:
        return {"done": make(call)}
    except RefusedError as error:
        return {"refused": dict(error.problem)}
    except UnknownError as error:
        return {"unknown": str(error)}
    except Exception:
        return {"broken": traceback.format_exc()}


writing = threading.Lock()


def tell(line):
    with writing:
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")), flush=True)


sys.stdin.reconfigure(encoding="utf-8")
sys.stdout.reconfigure(encoding="utf-8")
for line in sys.stdin:
    call = json.loads(line)
    if "stop" in call:
        stop(call["stop"])
    elif "watch" in call:
        stopped[call["id"]] = threading.Event()
        threading.Thread(target=follow, args=(call["id"], call["watch"], call["scope"]), daemon=True).start()
    else:
        tell({"id": call["id"], **outcome(call)})
