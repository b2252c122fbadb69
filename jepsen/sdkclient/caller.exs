# Makes calls with the library for Elixir: one JSON document a line on stdin, and its outcome on stdout.
#
# A call has an id, a timeout_ms, and either ops or reads. Its outcome has the id, and one of done, refused, unknown
# and broken. With named it uses the library's calls of one value or thread where there are some, whose outcomes have
# no index.
defmodule Caller do
  alias Dormouse.{Fence, JSON, Refused, Threads, Unknown, Values}

  @conditions %{"expected_rev" => :expected_rev, "expected_head" => :expected_head}

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
  defp make(client, %{"named" => true, "ops" => [op]} = call) when not is_map_key(call, "fence"), do: named(client, op, call)
  defp make(client, %{"ops" => ops} = call), do: Dormouse.commit(client, ops, options(call) ++ fence(call))

  defp named(client, %{"op" => "put_value", "key" => key, "bytes" => bytes} = op, call)
       when map_size(op) == 3 or (map_size(op) == 4 and is_map_key(op, "if_revision")) do
    condition = if op["if_revision"], do: [if_revision: op["if_revision"]], else: []

    with {:ok, stamp} <- Values.put(client, key, Base.decode64!(bytes), condition ++ options(call)),
         do: {:ok, %{index: 0, results: [Map.put(stamp, "op", "put_value")]}}
  end

  defp named(client, %{"op" => "delete_value", "key" => key} = op, call) when map_size(op) == 2 do
    with {:ok, nil} <- Values.delete(client, key, [], options(call)), do: {:ok, %{index: 0, results: [%{op: "delete_value", existed: false}]}}
  end

  defp named(client, %{"op" => "append_thread", "thread" => thread, "entries" => entries} = op, call) do
    {conditions, rest} = Map.split(op, Map.keys(@conditions))
    conditions = for {name, value} <- conditions, do: {@conditions[name], value}

    if map_size(rest) == 3 do
      with {:ok, stamp} <- Threads.append(client, thread, entries, conditions ++ options(call)),
           do: {:ok, %{index: 0, results: [Map.put(stamp, "op", "append_thread")]}}
    else
      make(client, Map.delete(call, "named"))
    end
  end

  defp named(client, _op, call), do: make(client, Map.delete(call, "named"))

  defp options(call), do: [scope: call["scope"], timeout_ms: call["timeout_ms"]]

  defp fence(%{"fence" => %{"claim" => claim, "epoch" => epoch}}), do: [fence: %Fence{claim: claim, epoch: epoch}]
  defp fence(_call), do: []

  def decode(line) do
    {:ok, call} = JSON.decode(line)
    call
  end

  def encode(outcome) do
    {:ok, text} = JSON.encode(outcome)
    text
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

for line <- IO.binstream(:stdio, :line) do
  call = Caller.decode(line)
  IO.binwrite(:stdio, [client |> Caller.outcome(call) |> Map.put(:id, call["id"]) |> Caller.encode(), ?\n])
end
