defmodule Dormouse.Test.Cases do
  @moduledoc "Runs the conformance cases of sdk/conformance."

  alias Dormouse.{Agents, Checkpoints, Claims, Fence, JSON, Memory, Refused, Reviews, Sessions, Threads, Values}

  @sdk Path.expand("../../..", __DIR__)

  @doc "Returns the cases as {name, steps}."
  def all do
    for file <- Path.wildcard(@sdk <> "/conformance/*.json") |> Enum.sort(),
        each <- decoded(file)["cases"],
        do: {"#{Path.basename(file)}: #{each["name"]}", each["steps"]}
  end

  @doc "Returns the method and path of each operation of the OpenAPI document."
  def operations do
    for {path, item} <- decoded(@sdk <> "/../server/rest/testdata/openapi.json")["paths"],
        {method, operation} <- item,
        into: %{},
        do: {operation["operationId"], {String.upcase(method), path}}
  end

  defp decoded(file) do
    {:ok, value} = file |> File.read!() |> JSON.decode()
    value
  end

  @doc "Runs a case in a scope of its own. Returns :ok or what failed."
  def run(client, scope, steps, operations) do
    run = %{client: Dormouse.with_options(client, scope: scope), scope: scope, operations: operations, saved: %{}, before: nil}

    steps
    |> Enum.with_index()
    |> Enum.reduce_while(run, fn {step, number}, run ->
      case step(run, step, System.monotonic_time(:millisecond) + (step["within_ms"] || 0)) do
        {:ok, run} -> {:cont, run}
        {:failed, what} -> {:halt, {:failed, "step #{number}, #{step["call"]}: #{what}"}}
      end
    end)
    |> case do
      {:failed, what} -> {:failed, what}
      _run -> :ok
    end
  end

  defp step(run, %{"wait_ms" => ms}, _until) do
    Process.sleep(ms)
    {:ok, run}
  end

  defp step(run, step, until) do
    case once(run, step) do
      {:failed, what} ->
        if System.monotonic_time(:millisecond) > until do
          {:failed, what}
        else
          Process.sleep(100)
          step(run, step, until)
        end

      done ->
        done
    end
  end

  defp once(run, step) do
    case {call(run, step), step} do
      {{:error, %Refused{problem: problem}}, %{"refused" => want}} -> matched(run, match("", want, problem, run.saved))
      {{:error, error}, _step} -> {:failed, Exception.message(error)}
      {{:ok, got}, %{"refused" => _}} -> {:failed, "it was not refused: #{inspect(got)}"}
      {{:ok, got}, step} -> answered(run, step, got)
    end
  end

  defp answered(run, step, got) do
    problem =
      cond do
        Map.has_key?(step, "expect_bytes") and got != step["expect_bytes"] -> "the bytes are #{inspect(got)}"
        step["same"] && got != run.before -> "#{inspect(got)} is not #{inspect(run.before)}"
        Map.has_key?(step, "expect") -> match("", step["expect"], got, run.saved)
        true -> nil
      end

    saved = for {name, "/" <> pointer} <- step["save"] || %{}, into: run.saved, do: {name, get_in(got, String.split(pointer, "/"))}
    matched(%{run | before: got, saved: saved}, problem)
  end

  defp matched(run, nil), do: {:ok, run}
  defp matched(_run, problem), do: {:failed, problem}

  defp call(run, step) do
    [params, query, body, fence] = for part <- ~w(params query body fence), do: filled(step[part] || %{}, run.saved)
    query = for {name, value} <- query, do: {String.to_atom(name), value}
    options = if step["key"], do: [idempotency_key: "#{run.scope}/#{step["key"]}"], else: []
    options = if step["fence"], do: [fence: %Fence{claim: fence["claim"], epoch: fence["epoch"]}] ++ options, else: options

    case method(run.client, step["call"], params, query, body, step, options) do
      nil ->
        {method, path} = run.operations[step["call"]]
        more = if step["body"], do: [body: body], else: []
        Dormouse.json(run.client, method, path, [params: params, query: query] ++ more ++ options)

      result ->
        result
    end
  end

  # The calls for which the client has a function of its own; all others go through call.
  defp method(c, "put-value", p, q, _b, step, o), do: Values.put(c, p["key"], step["bytes"], [content_type: step["content_type"]] ++ q ++ o)
  defp method(c, "get-value", p, _q, _b, _s, o), do: with({:ok, value} <- Values.get(c, p["key"], o), do: {:ok, value.data})
  defp method(c, "delete-value", p, q, _b, _s, o), do: Values.delete(c, p["key"], q, o)
  defp method(c, "list-values", _p, q, _b, _s, o), do: Values.list(c, q, o)
  defp method(c, "put-checkpoint", p, _q, b, _s, o), do: Checkpoints.put(c, p["key"], b, o)
  defp method(c, "patch-checkpoint", p, q, b, _s, o), do: Checkpoints.patch(c, p["key"], b, q ++ o)
  defp method(c, "get-checkpoint", p, q, _b, _s, o), do: Checkpoints.get(c, p["key"], q ++ o)
  defp method(c, "append-entries", p, _q, b, _s, o), do: Threads.append(c, p["id"], b["entries"], expected(b) ++ o)
  defp method(c, "load-entries", p, q, _b, _s, o), do: Threads.entries(c, p["id"], q, o)
  defp method(c, "get-entry", p, _q, _b, _s, o), do: Threads.entry(c, p["id"], p["entry"], o)
  defp method(c, "get-thread", p, _q, _b, _s, o), do: Threads.get(c, p["id"], o)
  defp method(c, "fork-thread", p, _q, b, _s, o), do: Threads.fork(c, p["id"], b, o)
  defp method(c, "compact-thread", p, _q, b, _s, o), do: Threads.compact(c, p["id"], b, o)
  defp method(c, "delete-thread", p, q, _b, _s, o), do: Threads.delete(c, p["id"], q, o)
  defp method(c, "list-threads", _p, q, _b, _s, o), do: Threads.list(c, q, o)
  defp method(c, "hibernate-agent", p, _q, b, _s, o), do: Agents.hibernate(c, p["key"], b, o)
  defp method(c, "thaw-agent", p, q, _b, _s, o), do: Agents.thaw(c, p["key"], q, o)
  defp method(c, "take-claim", p, _q, b, _s, o), do: Claims.take(c, p["name"], b["holder"], ttl(b) ++ o)
  defp method(c, "renew-claim", p, _q, b, _s, o), do: Claims.renew(c, p["name"], b["holder"], b["epoch"], ttl(b) ++ o)
  defp method(c, "release-claim", p, _q, b, _s, o), do: Claims.release(c, p["name"], b["holder"], b["epoch"], o)
  defp method(c, "put-session", p, _q, b, _s, o), do: Sessions.put(c, p["id"], b, o)
  defp method(c, "get-session", p, _q, _b, _s, o), do: Sessions.get(c, p["id"], o)
  defp method(c, "claim-session", p, _q, b, _s, o), do: Sessions.claim(c, p["id"], b, o)
  defp method(c, "recover-session", p, _q, b, _s, o), do: Sessions.recover(c, p["id"], b, o)
  defp method(c, "checkpoint-session", p, _q, b, _s, o), do: Sessions.checkpoint(c, p["id"], b, o)
  defp method(c, "commit-session", p, _q, b, _s, o), do: Sessions.commit(c, p["id"], b, o)
  defp method(c, "get-review", p, _q, _b, _s, o), do: Reviews.get(c, p["review"], o)
  defp method(c, "decide-review", p, _q, b, _s, o), do: Reviews.decide(c, p["review"], b, o)
  defp method(c, "put-memory", p, _q, b, _s, o), do: Memory.put(c, p["agent"], p["id"], b, o)
  defp method(c, "get-memory", p, _q, _b, _s, o), do: Memory.get(c, p["agent"], p["id"], o)
  defp method(c, "delete-memory", p, _q, _b, _s, o), do: Memory.delete(c, p["agent"], p["id"], o)
  defp method(c, "recall", _p, _q, b, _s, o), do: Memory.recall(c, b, o)
  defp method(c, "commit", _p, _q, b, _s, o), do: Dormouse.commit(c, b["ops"], o)
  defp method(c, "read", _p, _q, b, _s, o), do: Dormouse.read(c, b["reads"], o)
  defp method(_c, _name, _p, _q, _b, _s, _o), do: nil

  defp expected(body), do: if(body["expected_rev"], do: [expected_rev: body["expected_rev"]], else: [])
  defp ttl(body), do: if(body["ttl_ms"], do: [ttl_ms: body["ttl_ms"]], else: [])

  # Returns nil, or what does not match.
  defp match(at, %{"$" => name}, got, saved), do: match(at, saved[name], got, saved)
  defp match(at, %{"$above" => above}, got, _saved), do: if(is_number(got) and got > above, do: nil, else: "#{at} is #{inspect(got)}")
  defp match(at, %{"$any" => true}, got, _saved), do: if(got == nil, do: "#{at} is missing")

  defp match(at, want, got, saved) when is_map(want) and is_map(got),
    do: Enum.find_value(want, fn {name, each} -> match("#{at}/#{name}", each, got[name], saved) end)

  defp match(at, want, got, saved) when is_list(want) and is_list(got) and length(want) == length(got),
    do: want |> Enum.zip(got) |> Enum.with_index() |> Enum.find_value(fn {{want, got}, i} -> match("#{at}/#{i}", want, got, saved) end)

  defp match(at, want, got, _saved), do: if(want == got, do: nil, else: "#{at} is #{inspect(got)}, want #{inspect(want)}")

  defp filled(%{"$" => name}, saved), do: saved[name]
  defp filled(value, saved) when is_map(value), do: Map.new(value, fn {name, each} -> {name, filled(each, saved)} end)
  defp filled(value, saved) when is_list(value), do: Enum.map(value, &filled(&1, saved))
  defp filled(value, _saved), do: value
end
