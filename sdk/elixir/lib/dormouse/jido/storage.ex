defmodule Dormouse.Jido.Storage do
  @moduledoc """
  Checkpoints and threads of Jido 2, as a `Jido.Storage`.

      use Jido, otp_app: :my_app, storage: {Dormouse.Jido.Storage, client: MyApp.Dormouse}

  Options: `:client` (required), `:prefix` of all keys (`"jido"`), and of those of a call `:timeout_ms`,
  `:scope` and `:fence`. With a fence an agent that lost its claim cannot write.

  Appends are checked by the cluster, not by the VM: of writers with the same `:expected_rev` on
  several nodes exactly one succeeds. An entry whose kind is no atom, or whose payload or refs is no
  map, is refused, as `{:error, {:invalid_entry, field, value}}`. An entry id is used once in a thread.
  A write may also return `{:error, %Dormouse.Unknown{}}`: it may have been applied.
  """

  alias Dormouse.{Refused, Term, Threads, Unknown, Values}

  if match?({:module, _}, Code.ensure_compiled(Jido.Storage)), do: @behaviour(Jido.Storage)

  @entry Module.concat(["Jido", "Thread", "Entry"])
  @thread Module.concat(["Jido", "Thread"])

  # The member of a thread's metadata that has a term as bytes.
  @term "erlang_external_term"

  # Entries that one read of a long thread returns at most.
  @page 1000

  def get_checkpoint(key, opts) do
    case Values.get(client(opts), checkpoint_key(key, opts), call(opts)) do
      {:ok, value} -> Term.decode(value.data)
      {:error, %Refused{code: "not_found"}} -> :not_found
      error -> error
    end
  end

  def put_checkpoint(key, data, opts) do
    options = Keyword.take(opts, [:ttl_ms]) ++ [content_type: Term.content_type()] ++ call(opts)
    with {:ok, _stamp} <- Values.put(client(opts), checkpoint_key(key, opts), Term.encode(data), options), do: :ok
  end

  def delete_checkpoint(key, opts) do
    with {:ok, _none} <- Values.delete(client(opts), checkpoint_key(key, opts), [], call(opts)), do: :ok
  end

  def load_thread(thread_id, opts) do
    case Threads.get(client(opts), thread_key(thread_id, opts), call(opts)) do
      {:ok, thread} -> loaded(thread_id, thread, opts)
      {:error, %Refused{code: "not_found"}} -> :not_found
      error -> error
    end
  end

  def append_thread(thread_id, entries, opts) do
    with {:ok, expected} <- expected(opts[:expected_rev]),
         {:ok, drafts} <- drafts(entries),
         metadata = opts[:metadata] || %{},
         options = expected ++ if(metadata == %{}, do: [], else: [metadata: kept(metadata)]),
         {:ok, _stamp} <- Threads.append(client(opts), thread_key(thread_id, opts), drafts, options ++ call(opts)) do
      appended(load_thread(thread_id, opts))
    else
      {:error, %Refused{code: "conflict"}} -> {:error, :conflict}
      error -> error
    end
  end

  # The entries are in the log, so no failure of the read after them is a refusal.
  defp appended(:not_found), do: {:error, :conflict}
  defp appended({:error, cause}), do: {:error, %Unknown{detail: "the entries were appended, and the thread cannot be read: #{inspect(cause)}", cause: cause}}
  defp appended(loaded), do: loaded

  def delete_thread(thread_id, opts) do
    with {:ok, _none} <- Threads.delete(client(opts), thread_key(thread_id, opts), [], call(opts)), do: :ok
  end

  defp client(opts), do: opts |> Keyword.fetch!(:client) |> Dormouse.client()

  # An append has a key of its own: a key in the options of all calls would make each call the first.
  defp call(opts), do: Keyword.take(opts, [:timeout_ms, :scope, :fence])

  defp checkpoint_key(key, opts), do: "#{prefix(opts)}/checkpoints/#{Term.name(key)}"
  defp thread_key(thread_id, opts), do: "#{prefix(opts)}/threads/#{thread_id}"
  defp prefix(opts), do: Keyword.get(opts, :prefix, "jido")

  defp expected(nil), do: {:ok, []}
  defp expected(rev) when is_integer(rev) and rev >= 0, do: {:ok, [expected_rev: rev]}
  defp expected(_never_equal), do: {:error, :conflict}

  defp drafts(entries) do
    now = System.system_time(:millisecond)

    entries
    |> List.wrap()
    |> Enum.reduce_while({:ok, []}, fn entry, {:ok, done} ->
      case draft(entry, now) do
        {:ok, draft} -> {:cont, {:ok, [draft | done]}}
        error -> {:halt, error}
      end
    end)
    |> case do
      {:ok, drafts} -> {:ok, Enum.reverse(drafts)}
      error -> error
    end
  end

  defp draft(entry, now) when is_map(entry) do
    kind = field(entry, :kind, :note)
    payload = field(entry, :payload, %{})
    refs = field(entry, :refs, %{})

    cond do
      not is_atom(kind) -> {:error, {:invalid_entry, :kind, kind}}
      not is_map(payload) -> {:error, {:invalid_entry, :payload, payload}}
      not is_map(refs) -> {:error, {:invalid_entry, :refs, refs}}
      true -> {:ok, Map.merge(%{id: field(entry, :id, id()), at: field(entry, :at, now), kind: Atom.to_string(kind)}, stored(payload, refs))}
    end
  end

  defp draft(entry, _now), do: {:error, {:invalid_entry, :entry, entry}}

  # nil and false take the default, as in Jido.
  defp field(entry, name, default), do: Map.get(entry, name) || Map.get(entry, Atom.to_string(name)) || default

  defp id, do: "entry_" <> Base.encode32(<<System.system_time(:microsecond)::64, :crypto.strong_rand_bytes(8)::binary>>, case: :lower, padding: false)

  # Maps that JSON gives back as they were are stored so, and others as bytes.
  defp stored(payload, refs) do
    if Term.json?(payload) and Term.json?(refs),
      do: %{payload: payload, refs: refs},
      else: %{bytes: Base.encode64(Term.encode({payload, refs})), content_type: Term.content_type()}
  end

  # Metadata that is read as it was is stored as JSON, and other as one member with its bytes.
  defp kept(metadata) do
    with {:ok, text} <- Dormouse.JSON.encode(metadata, :refuse),
         {:ok, %{} = stored} <- Dormouse.JSON.decode(text),
         {:ok, ^metadata} <- metadata(stored) do
      metadata
    else
      _other -> %{@term => Base.encode64(Term.encode(metadata))}
    end
  end

  # A thread that is deleted, created again or compacted between two pages is read from the start, so
  # that all entries are of one thread.
  defp loaded(thread_id, thread, opts) do
    with {:ok, metadata} <- metadata(thread["metadata"]),
         {:ok, entries} <- pages(thread_id, thread, thread["floor"], [], opts) do
      {:ok,
       Term.struct(@thread,
         id: thread_id,
         rev: thread["rev"],
         entries: entries,
         created_at: thread["created_at"],
         updated_at: thread["updated_at"],
         metadata: metadata,
         stats: %{entry_count: length(entries)}
       )}
    else
      :replaced -> load_thread(thread_id, opts)
      error -> error
    end
  end

  # Metadata of a thread has atoms as keys in Jido; JSON has strings. Known atoms become atoms again.
  defp metadata(%{@term => text} = metadata) when map_size(metadata) == 1 do
    case Base.decode64(text) do
      {:ok, bytes} -> Term.decode(bytes)
      :error -> {:error, :invalid_term}
    end
  end

  defp metadata(metadata), do: {:ok, Map.new(metadata || %{}, fn {name, value} -> {known(name), value} end)}

  defp known(name) do
    String.to_existing_atom(name)
  rescue
    ArgumentError -> name
  end

  defp pages(_thread_id, %{"rev" => rev}, from, done, _opts) when from >= rev, do: {:ok, Enum.concat(Enum.reverse(done))}

  defp pages(thread_id, thread, from, done, opts) do
    with {:ok, page} <- page(thread_id, thread, from, opts),
         {:ok, entries} <- entries(page["items"]) do
      pages(thread_id, thread, page["next"] || thread["rev"], [entries | done], opts)
    end
  end

  # Returns a page of the thread, or :replaced if the thread is another now, or lacks entries of the page.
  defp page(thread_id, %{"incarnation" => incarnation, "rev" => rev}, from, opts) do
    query = [from: from, at_rev: rev, limit: @page]

    case Threads.entries(client(opts), thread_key(thread_id, opts), query, call(opts)) do
      {:ok, %{"incarnation" => ^incarnation} = page} -> {:ok, page}
      {:ok, _page_of_another} -> :replaced
      {:error, %Refused{code: code}} when code in ["not_found", "conflict", "compacted"] -> :replaced
      error -> error
    end
  end

  defp entries(items) do
    Enum.reduce_while(Enum.reverse(items), {:ok, []}, fn item, {:ok, done} ->
      case entry(item) do
        {:ok, entry} -> {:cont, {:ok, [entry | done]}}
        error -> {:halt, error}
      end
    end)
  end

  defp entry(item) do
    with {:ok, {payload, refs}} <- content(item) do
      {:ok, Term.struct(@entry, id: item["id"], seq: item["seq"], at: item["at"], kind: String.to_existing_atom(item["kind"]), payload: payload, refs: refs)}
    end
  rescue
    ArgumentError -> {:error, :invalid_term}
  end

  defp content(%{"bytes" => bytes}), do: bytes |> Base.decode64!() |> Term.decode()
  defp content(item), do: {:ok, {item["payload"], item["refs"]}}
end
