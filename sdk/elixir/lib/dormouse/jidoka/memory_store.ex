defmodule Dormouse.Jidoka.MemoryStore do
  @moduledoc """
  The memories of Jidoka's agents, as a `Jidoka.Memory.Store`.

      store = {Dormouse.Jidoka.MemoryStore, client: MyApp.Dormouse}

  Options: `:client` (required) and `:mode`. The mode `:recent` (the default) returns the entries that
  were written last, as Jidoka's own store does, whatever the query is; `:text` ranks them by the words of
  the query, of which it uses the first 8 KiB, and is as `:recent` for a blank one. In scope `:agent` a
  request sees entries of no session and of its session, in scope `:session` those of its session only.
  """

  alias Dormouse.{Memory, Refused, Term}

  if match?({:module, _}, Code.ensure_compiled(Jidoka.Memory.Store)), do: @behaviour(Jidoka.Memory.Store)

  @entry Module.concat(["Jidoka", "Memory", "Entry"])
  @recalled Module.concat(["Jidoka", "Memory", "RecallResult"])
  @written Module.concat(["Jidoka", "Memory", "WriteResult"])

  @query_bytes_max 8192

  def recall(%{scope: :session, session_id: nil}, _opts), do: {:error, :missing_memory_session_id}

  def recall(request, opts) do
    {mode, query} = search(Keyword.get(opts, :mode, :recent), String.trim(request.query || ""))

    body =
      %{
        agent_id: request.agent_id,
        mode: Atom.to_string(mode),
        query: query,
        limit: request.limit,
        within: Atom.to_string(request.scope),
        session_id: request.session_id
      }
      |> Map.reject(fn {_name, value} -> value == nil end)

    with {:ok, %{"items" => items}} <- Memory.recall(client(opts), body, call(opts)),
         {:ok, entries} <- entries(items) do
      {:ok, Term.struct(@recalled, request: request, entries: entries, metadata: %{})}
    end
  end

  # The mode recent needs a query, which has no effect.
  defp search(mode, query) when mode == :recent or (mode == :text and query == ""), do: {:recent, "recent"}
  defp search(mode, query), do: {mode, clipped(query)}

  # The beginning of a query, in whole characters, that Dormouse takes.
  defp clipped(query) when byte_size(query) <= @query_bytes_max, do: query

  defp clipped(query) do
    case :unicode.characters_to_binary(binary_part(query, 0, @query_bytes_max)) do
      {_incomplete, whole, _rest} -> whole
      whole -> whole
    end
  end

  def write(%{entry: entry} = request, opts) do
    body = Map.reject(%{content: entry.content, session_id: entry.session_id}, fn {_name, value} -> value == nil end)
    metadata = entry.metadata || %{}
    # Metadata that JSON does not give back as it was goes along as bytes.
    kept = if Term.json?(metadata), do: %{metadata: metadata}, else: %{data: %{erlang: Base.encode64(Term.encode(metadata))}}

    with {:ok, _stamp} <- Memory.put(client(opts), entry.agent_id, entry.id, Map.merge(body, kept), call(opts)) do
      {:ok, Term.struct(@written, request: request, entry: entry, status: :ok, metadata: %{})}
    end
  end

  @doc "Lists the entries of the agent in the option `:agent_id`, oldest first."
  def list_entries(opts) do
    case opts[:agent_id] do
      nil ->
        {:error, {:missing_option, :agent_id}}

      agent ->
        with {:ok, items} <- pages(agent, nil, [], opts), do: items |> Enum.sort_by(&{&1["updated_at"], &1["revision"]}) |> entries()
    end
  end

  defp pages(agent, after_key, done, opts) do
    query = [agent_id: agent, after: after_key]

    case Dormouse.json(client(opts), "GET", "/v1/memory", [query: query] ++ call(opts)) do
      {:ok, %{"items" => items, "next" => nil}} -> {:ok, Enum.concat(Enum.reverse(done, [items]))}
      {:ok, %{"items" => items, "next" => next}} -> pages(agent, next, [items | done], opts)
      {:error, %Refused{code: "not_found"}} -> {:ok, []}
      error -> error
    end
  end

  defp entries(items) do
    Enum.reduce_while(Enum.reverse(items), {:ok, []}, fn item, {:ok, done} ->
      case metadata(item) do
        {:ok, metadata} ->
          entry = Term.struct(@entry, id: item["id"], agent_id: item["agent_id"], session_id: item["session_id"], content: item["content"], metadata: metadata)
          {:cont, {:ok, [entry | done]}}

        error ->
          {:halt, error}
      end
    end)
  end

  defp metadata(%{"data" => %{"erlang" => bytes}}), do: bytes |> Base.decode64!() |> Term.decode()
  defp metadata(item), do: {:ok, item["metadata"]}

  defp client(opts), do: opts |> Keyword.fetch!(:client) |> Dormouse.client()
  defp call(opts), do: Keyword.take(opts, [:timeout_ms, :scope, :fence])
end
