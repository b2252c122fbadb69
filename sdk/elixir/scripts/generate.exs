# Writes lib/dormouse/operations.ex from the OpenAPI document: mix run --no-start scripts/generate.exs
# With --check it only compares them.
root = Path.expand("..", __DIR__)
{:ok, document} = Dormouse.JSON.decode(File.read!(Path.expand("../../server/rest/testdata/openapi.json", root)))

calls =
  for {path, item} <- document["paths"], {method, operation} <- item do
    tags = operation["tags"] || []
    names = for %{"name" => name} <- operation["parameters"] || [], do: name

    kind =
      cond do
        "Idempotency-Key" in names -> :idempotent
        method == "get" or "min_index" in names -> :read
        true -> :once
      end

    {kind, "#{String.upcase(method)} #{path}", kind == :idempotent and ("instances" in tags or "pods" in tags), names}
  end

listed = fn calls -> calls |> Enum.sort() |> Enum.map_join("", &"               #{inspect(&1)},\n") |> String.trim_trailing(",\n") end

text = """
defmodule Dormouse.Operations do
  @moduledoc false
  # Generated from the OpenAPI document by scripts/generate.exs.

  @idempotent MapSet.new([
#{listed.(for {:idempotent, call, _on_instance, _names} <- calls, do: call)}
             ])

  @on_instances MapSet.new([
#{listed.(for {_kind, call, true, _names} <- calls, do: call)}
             ])

  @reads MapSet.new([
#{listed.(for {:read, call, _on_instance, _names} <- calls, do: call)}
             ])

  @without_stale MapSet.new([
#{listed.(for {:read, call, _on_instance, names} <- calls, "stale" not in names, do: call)}
             ])

  @without_min_index MapSet.new([
#{listed.(for {:read, call, _on_instance, names} <- calls, "min_index" not in names, do: call)}
             ])

  @doc "Reports whether the call takes an Idempotency-Key: it may be sent again."
  def idempotent?(call), do: MapSet.member?(@idempotent, call)

  @doc "Reports whether the call is an idempotent one on an instance or a pod. A refusal is about one attempt: it comes before a node looks for the answer to an earlier one."
  def on_instance?(call), do: MapSet.member?(@on_instances, call)

  @doc "Reports whether the call changes nothing."
  def read?(call), do: MapSet.member?(@reads, call)

  @doc "Reports whether the call can answer from the node's own state."
  def stale?(call), do: read?(call) and not MapSet.member?(@without_stale, call)

  @doc "Reports whether the call can wait for an index."
  def min_index?(call), do: read?(call) and not MapSet.member?(@without_min_index, call)
end
"""

text = IO.iodata_to_binary([Code.format_string!(text, line_length: 160), "\n"])
file = Path.join(root, "lib/dormouse/operations.ex")

if "--check" in System.argv() do
  if File.read(file) != {:ok, text}, do: Mix.raise("lib/dormouse/operations.ex is stale: run mix run --no-start scripts/generate.exs")
else
  File.write!(file, text)
end
