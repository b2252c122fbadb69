# Makes calls with the library for Elixir: one JSON document a line on stdin, and its outcome on stdout.
#
# A call has an id, a timeout_ms, and ops, reads, or the one call of an op or a read. Its outcome has the id, and one of
# done, refused, unknown and broken. A watch has an id and is told of in many lines, each with an event, and at its end
# with refused or broken; stop ends it.
defmodule Caller do
  alias Dormouse.{Agents, Checkpoints, Claims, Conversations, Fence, JSON, Memory, Refused, Reviews, Sessions, Threads, Unknown, Values}

  # The members of a query or a body that methods take as options.
  @options Map.new(
             ~w(ttl_ms if_revision if_incarnation on_exists expected_rev expected_head metadata create_only upsert shallow seal_ms)a,
             &{Atom.to_string(&1), &1}
           )

  @turns %{
    "claim" => &Sessions.claim/4,
    "claim_resume" => &Sessions.resume/4,
    "recover" => &Sessions.recover/4,
    "checkpoint" => &Sessions.checkpoint/4,
    "commit" => &Sessions.commit/4,
    "renew" => &Sessions.renew/4
  }

  def outcome(client, call) do
    case make(client, call) do
      {:ok, value} -> %{done: value}
      {:error, %Refused{problem: problem}} -> %{refused: problem}
      {:error, %Unknown{} = unknown} -> %{unknown: Exception.message(unknown)}
    end
  rescue
    error -> %{broken: Exception.format(:error, error, __STACKTRACE__)}
  catch
    kind, reason -> %{broken: Exception.format(kind, reason, __STACKTRACE__)}
  end

  defp make(client, %{"reads" => reads} = call), do: Dormouse.read(client, reads, options(call))
  defp make(client, %{"call" => alone} = call), do: alone(client, "#{alone["method"]} #{alone["path"]}", alone, options(call) ++ fence(call))
  defp make(client, %{"ops" => ops} = call), do: Dormouse.commit(client, ops, options(call) ++ fence(call))

  # alone makes one call with the library's method, and the others with its call of any path.
  defp alone(client, "PUT /v1/values/{key}", %{"params" => %{"key" => key}} = call, options),
    do: Values.put(client, key, data(call), own(call["query"]) ++ [content_type: call["media"]] ++ options)

  defp alone(client, "GET /v1/values/{key}", call, options) do
    with {:ok, value} <- Values.get(client, call["params"]["key"], options) do
      {:ok, %{bytes: Base.encode64(value.data), content_type: value.content_type, revision: value.revision, incarnation: value.incarnation}}
    end
  end

  defp alone(client, "DELETE /v1/values/{key}", call, options), do: Values.delete(client, call["params"]["key"], own(call["query"]), options)
  defp alone(client, "PUT /v1/checkpoints/{key}", call, options), do: Checkpoints.put(client, call["params"]["key"], call["body"], options)

  defp alone(client, "PATCH /v1/checkpoints/{key}", %{"query" => query} = call, options) when not is_map_key(query, "if_incarnation"),
    do: Checkpoints.patch(client, call["params"]["key"], call["body"], own(query) ++ options)

  defp alone(client, "GET /v1/checkpoints/{key}", call, options), do: Checkpoints.get(client, call["params"]["key"], options)
  defp alone(client, "DELETE /v1/checkpoints/{key}", call, options), do: Checkpoints.delete(client, call["params"]["key"], own(call["query"]), options)
  defp alone(client, "GET /v1/threads/{id}", call, options), do: Threads.get(client, call["params"]["id"], options)
  defp alone(client, "DELETE /v1/threads/{id}", call, options), do: Threads.delete(client, call["params"]["id"], own(call["query"]), options)

  defp alone(client, "GET /v1/threads/{id}/entries", call, options), do: Threads.entries(client, call["params"]["id"], pairs(call["query"]), options)

  defp alone(client, "POST /v1/threads/{id}/entries", %{"body" => body} = call, options),
    do: Threads.append(client, call["params"]["id"], body["entries"], own(Map.delete(body, "entries")) ++ options)

  defp alone(client, "POST /v1/threads/{id}/fork", call, options), do: Threads.fork(client, call["params"]["id"], call["body"], options)

  defp alone(client, "POST /v1/claims/{name}", %{"body" => %{"holder" => holder} = body} = call, options),
    do: Claims.take(client, call["params"]["name"], holder, own(Map.delete(body, "holder")) ++ options)

  defp alone(client, "POST /v1/claims/{name}/renew", %{"body" => %{"holder" => holder, "epoch" => epoch} = body} = call, options),
    do: Claims.renew(client, call["params"]["name"], holder, epoch, own(Map.drop(body, ["holder", "epoch"])) ++ options)

  defp alone(client, "POST /v1/claims/{name}/release", %{"body" => %{"holder" => holder, "epoch" => epoch} = body} = call, options) when map_size(body) == 2,
    do: Claims.release(client, call["params"]["name"], holder, epoch, options)

  defp alone(client, "GET /v1/claims/{name}", call, options), do: Claims.get(client, call["params"]["name"], options)
  defp alone(client, "PUT /v1/sessions/{id}", call, options), do: Sessions.put(client, call["params"]["id"], call["body"], options)
  defp alone(client, "GET /v1/sessions/{id}", call, options), do: Sessions.get(client, call["params"]["id"], options)
  defp alone(client, "DELETE /v1/sessions/{id}", call, options), do: Sessions.delete(client, call["params"]["id"], own(call["query"]), options)
  defp alone(client, "GET /v1/reviews/{review}", call, options), do: Reviews.get(client, call["params"]["review"], options)
  defp alone(client, "POST /v1/reviews/{review}/decide", call, options), do: Reviews.decide(client, call["params"]["review"], call["body"], options)

  defp alone(client, "PUT /v1/memory/{agent}/{id}", %{"params" => params} = call, options),
    do: Memory.put(client, params["agent"], params["id"], call["body"], options)

  defp alone(client, "GET /v1/memory/{agent}/{id}", %{"params" => params}, options), do: Memory.get(client, params["agent"], params["id"], options)
  defp alone(client, "DELETE /v1/memory/{agent}/{id}", %{"params" => params}, options), do: Memory.delete(client, params["agent"], params["id"], options)
  defp alone(client, "POST /v1/memory/recall", call, options), do: Memory.recall(client, call["body"], options)
  defp alone(client, "GET /v1/values", call, options), do: Values.list(client, pairs(call["query"]), options)
  defp alone(client, "GET /v1/threads", call, options), do: Threads.list(client, pairs(call["query"]), options)
  defp alone(client, "GET /v1/sessions", call, options), do: Sessions.list(client, pairs(call["query"]), options)
  defp alone(client, "GET /v1/reviews", call, options), do: Reviews.list(client, pairs(call["query"]), options)
  defp alone(client, "GET /v1/checkpoints/{key}/history", call, options), do: Checkpoints.history(client, call["params"]["key"], options)
  defp alone(client, "GET /v1/agents/{key}/thaw", call, options), do: Agents.thaw(client, call["params"]["key"], pairs(call["query"]), options)
  defp alone(client, "PUT /v1/conversations/{id}", call, options), do: Conversations.save(client, call["params"]["id"], call["body"], options)
  defp alone(client, "POST /v1/conversations/{id}/messages", call, options), do: Conversations.save_messages(client, call["params"]["id"], call["body"], options)

  defp alone(client, "POST /v1/sessions/{id}/" <> verb, call, options) do
    case @turns do
      %{^verb => turn} -> turn.(client, call["params"]["id"], call["body"], options)
      _others -> any(client, call, options)
    end
  end

  defp alone(client, _name, call, options), do: any(client, call, options)

  defp any(client, call, options) do
    sent =
      case call do
        %{"body" => body} -> [body: body, content_type: call["media"]]
        %{"data" => _data} -> [data: data(call), content_type: call["media"]]
        _none -> []
      end

    Dormouse.json(client, call["method"], call["path"], [params: pairs(call["params"]), query: pairs(call["query"])] ++ sent ++ options)
  end

  defp data(call), do: Base.decode64!(call["data"] || "")
  defp own(members), do: for({name, value} <- members, do: {Map.fetch!(@options, name), value})
  defp pairs(members), do: for({name, value} <- members, do: {String.to_atom(name), value})

  defp options(call), do: [scope: call["scope"], timeout_ms: call["timeout_ms"]]

  defp fence(%{"fence" => %{"claim" => claim, "epoch" => epoch}}), do: [fence: %Fence{claim: claim, epoch: epoch}]
  defp fence(_call), do: []

  # follow starts a process that tells of the events of a watch.
  def follow(client, %{"id" => id, "watch" => asked, "scope" => scope}) do
    spawn(fn ->
      try do
        for item <- opened(client, asked, scope: scope) do
          tell(if match?({_change, _place}, item), do: %{id: id, event: elem(item, 0), place: elem(item, 1)}, else: %{id: id, event: item})
        end

        tell(%{id: id, ended: true})
      rescue
        refused in Refused -> tell(%{id: id, refused: refused.problem})
        error -> tell(%{id: id, broken: Exception.format(:error, error, __STACKTRACE__)})
      end
    end)
  end

  defp opened(client, %{"changes" => true} = asked, options), do: Dormouse.changes(client, options ++ taken(asked, prefix: "prefix", from_index: "from", after: "after"))
  defp opened(client, %{"claim" => claim}, options), do: Claims.watch(client, claim, options)
  defp opened(client, %{"thread" => thread} = asked, options), do: Threads.watch(client, thread, options ++ taken(asked, from: "from", incarnation: "incarnation"))

  defp taken(asked, names), do: for({option, name} <- names, asked[name], do: {option, asked[name]})

  def tell(outcome) do
    {:ok, text} = JSON.encode(outcome)
    IO.binwrite(:stdio, [text, ?\n])
  end

  def decode(line) do
    {:ok, call} = JSON.decode(line)
    call
  end
end

# Bytes pass as they are.
:ok = :io.setopts(:standard_io, encoding: :latin1)
{:ok, _applications} = Application.ensure_all_started(:ssl)

tls =
  case System.get_env("CALLER_CA") do
    nil -> []
    authority -> [tls: [cacertfile: authority]]
  end

{:ok, server} =
  Dormouse.start_link(
    [endpoints: "CALLER_URLS" |> System.fetch_env!() |> String.split(","), token: System.get_env("CALLER_TOKEN"), attempt_ms: 1_500] ++ tls
  )

client = Dormouse.client(server)

# :: id → the process of a watch
Enum.reduce(IO.binstream(:stdio, :line), %{}, fn line, watches ->
  case Caller.decode(line) do
    %{"stop" => id} ->
      {pid, watches} = Map.pop(watches, id)
      if pid, do: Process.exit(pid, :kill)
      watches

    %{"watch" => _asked} = call ->
      Map.put(watches, call["id"], Caller.follow(client, call))

    call ->
      client |> Caller.outcome(call) |> Map.put(:id, call["id"]) |> Caller.tell()
      watches
  end
end)
