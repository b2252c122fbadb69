defmodule Dormouse.Threads do
  @moduledoc "Journals of entries."

  alias Dormouse.Watch

  @path "/v1/threads/{id}"

  def create(client, body \\ %{}, options \\ []), do: Dormouse.json(client, "POST", "/v1/threads", [body: body] ++ options)

  @doc "Appends entries. It takes `:expected_rev`, `:expected_head`, `:metadata` and `:if_incarnation` too."
  def append(client, id, entries, options \\ []) do
    {own, options} = Keyword.split(options, [:expected_rev, :expected_head, :metadata, :create_only, :if_incarnation, :on_exists])
    Dormouse.json(client, "POST", @path <> "/entries", [params: [id: id], body: Map.new([entries: entries] ++ own)] ++ options)
  end

  @doc "Appends one entry that has bytes, up to 4 MiB, as they are. It takes `:content_type`, `:entry` (its id), `:kind` and `:expected_rev` too."
  def append_bytes(client, id, data, options \\ []) do
    {own, options} = Keyword.split(options, [:entry, :kind, :expected_rev])
    query = [entry: own[:entry], entry_kind: own[:kind], expected_rev: own[:expected_rev]]
    Dormouse.json(client, "POST", @path <> "/bytes", [params: [id: id], query: query, data: data] ++ options)
  end

  def get(client, id, options \\ []), do: Dormouse.json(client, "GET", @path, [params: [id: id]] ++ options)

  @doc "Reads entries. The query has `:from`, `:to`, `:tail`, `:kind`, `:at_rev`, `:limit` and `:order`."
  def entries(client, id, query \\ [], options \\ []), do: Dormouse.json(client, "GET", @path <> "/entries", [params: [id: id], query: query] ++ options)

  def entry(client, id, entry, options \\ []), do: Dormouse.json(client, "GET", @path <> "/entries/{entry}", [params: [id: id, entry: entry]] ++ options)

  def entry_bytes(client, id, entry, options \\ []) do
    with {:ok, answer} <- Dormouse.call(client, "GET", @path <> "/entries/{entry}/bytes", [params: [id: id, entry: entry]] ++ options), do: {:ok, answer.data}
  end

  def fork(client, id, body, options \\ []), do: Dormouse.json(client, "POST", @path <> "/fork", [params: [id: id], body: body] ++ options)
  def compact(client, id, body, options \\ []), do: Dormouse.json(client, "POST", @path <> "/compact", [params: [id: id], body: body] ++ options)
  def delete(client, id, query \\ [], options \\ []), do: Dormouse.json(client, "DELETE", @path, [params: [id: id], query: query] ++ options)
  def list(client, query \\ [], options \\ []), do: Dormouse.json(client, "GET", "/v1/threads", [query: query] ++ options)

  @doc """
  Returns a stream of the entries of a thread from the seq `:from` on, each once.

  It raises a refusal `deleted` or `compacted` when the thread is so. To continue in another process it takes
  `:incarnation` too, that of the thread; absent, it is the current one.
  """
  @spec watch(Dormouse.t(), String.t(), keyword()) :: Enumerable.t()
  def watch(client, id, options \\ []) do
    client = Dormouse.client(client)
    {from, options} = Keyword.pop(options, :from, 0)
    {known, options} = Keyword.pop(options, :incarnation)

    # The incarnation tells a thread of the same id that was created later.
    begin = fn ->
      incarnation = known || Dormouse.ok!(get(client, id, Keyword.put(options, :stale, false)))["incarnation"]
      [query: [from: from, incarnation: incarnation], params: [id: id]] ++ options
    end

    Stream.resource(begin, fn request -> if request, do: {[request], nil}, else: {:halt, nil} end, fn _ -> :ok end)
    |> Stream.flat_map(&Watch.stream(client, @path <> "/watch", &1, "", from, fn event, next -> watched(id, event, next) end))
  end

  defp watched(id, %{event: ending} = event, _next) when ending in ["compacted", "deleted"], do: {:ends, Watch.ended(event, "the thread #{id} is #{ending}")}

  defp watched(_id, %{event: "entry"} = event, next) do
    entry = Dormouse.decoded(event)
    if entry["seq"] < next, do: {[], next}, else: {[entry], entry["seq"] + 1}
  end

  defp watched(_id, _event, next), do: {[], next}
end
