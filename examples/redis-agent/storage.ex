defmodule Storage do
  @moduledoc """
  Checkpoints and threads in the keys, terms and commands of `Jido.Storage.Redis`: GET, SET, SET with
  PX, and DEL. Only appends differ: they are the compare-and-set of `Jido.Persistence.Redis`, so that
  of two processes that append at a time one is refused.

  `command` is a function that sends one command, as `Redix.command/2` on a connection does.
  """

  @swap """
    local current = redis.call('GET', KEYS[1])
    if ARGV[1] == 'missing' then
      if current then return 0 end
    elseif current ~= ARGV[2] then
      return 0
    end
    if ARGV[4] == '' then
      redis.call('SET', KEYS[1], ARGV[3])
    else
      redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
    end
    return 1
  """

  @doc "Reads a checkpoint; nil if there is none."
  def get_checkpoint(command, key) do
    bytes = run(command, ["GET", checkpoint_key(key)])
    bytes && :erlang.binary_to_term(bytes)
  end

  @doc "Writes a checkpoint, which expires after `ttl` ms unless that is nil."
  def put_checkpoint(command, key, state, ttl \\ nil) do
    expiry = if ttl, do: ["PX", ttl], else: []
    "OK" = run(command, ["SET", checkpoint_key(key), encode(state)] ++ expiry)
    :ok
  end

  @doc "Deletes a checkpoint."
  def delete_checkpoint(command, key) do
    run(command, ["DEL", checkpoint_key(key)])
    :ok
  end

  @doc """
  Reads a thread: its term, and the bytes that hold it. A thread that does not exist has no entries,
  and no bytes.
  """
  def load_thread(command, id) do
    case run(command, ["GET", thread_key(id)]) do
      nil -> {%{rev: 0, entries: [], created_at: now(), metadata: %{}}, nil}
      bytes -> {:erlang.binary_to_term(bytes), bytes}
    end
  end

  @doc """
  Appends an entry to a thread, as it was loaded. Returns `{:ok, thread}`, or `{:error, :conflict}` if
  another process has appended since; then nothing was written.
  """
  def append_thread(command, id, {thread, bytes}, entry) do
    entry = Map.merge(entry, %{seq: thread.rev, at: now()})
    changes = %{rev: thread.rev + 1, entries: thread.entries ++ [entry], updated_at: now()}
    longer = Map.merge(thread, changes)
    mode = if bytes, do: "value", else: "missing"
    written = encode(longer)

    case run(command, ["EVAL", @swap, 1, thread_key(id), mode, bytes || "", written, ""]) do
      1 ->
        {:ok, {longer, written}}

      # The first of two attempts may have applied, and only its reply was lost.
      0 ->
        case run(command, ["GET", thread_key(id)]) do
          ^written -> {:ok, {longer, written}}
          _ -> {:error, :conflict}
        end
    end
  end

  @doc "The key of a checkpoint, as Jido makes it: of a module and an id."
  def checkpoint_key(key) do
    "jido:cp:" <> Base.url_encode64(:crypto.hash(:sha256, encode(key)), padding: false)
  end

  defp thread_key(id), do: "jido:th:" <> id

  defp run(command, words) do
    case command.(words) do
      {:ok, reply} -> reply
      {:error, reason} -> raise "#{hd(words)} failed: #{inspect(reason)}"
    end
  end

  # The default of OTP 26 and later. OTP 25 encodes atoms otherwise, and so has other keys.
  defp encode(term), do: :erlang.term_to_binary(term, minor_version: 2)

  defp now, do: System.system_time(:millisecond)
end
