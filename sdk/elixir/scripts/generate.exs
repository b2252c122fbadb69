# Writes lib/dormouse/operations.ex from the OpenAPI document: mix run --no-start scripts/generate.exs
# With --check it only compares them.
root = Path.expand("..", __DIR__)
{:ok, document} = Dormouse.JSON.decode(File.read!(Path.expand("../../server/rest/testdata/openapi.json", root)))

calls =
  for {path, item} <- document["paths"], {method, operation} <- item do
    names = for %{"name" => name} <- operation["parameters"] || [], do: name

    kind =
      cond do
        "Idempotency-Key" in names -> :idempotent
        method == "get" or "min_index" in names -> :read
        true -> :once
      end

    {kind, "#{String.upcase(method)} #{path}"}
  end

listed = fn kind ->
  for({^kind, call} <- calls, do: call) |> Enum.sort() |> Enum.map_join("", &"               #{inspect(&1)},\n") |> String.trim_trailing(",\n")
end

text = """
defmodule Dormouse.Operations do
  @moduledoc false
  # Generated from the OpenAPI document by scripts/generate.exs.

  @idempotent MapSet.new([
#{listed.(:idempotent)}
             ])

  @reads MapSet.new([
#{listed.(:read)}
             ])

  @doc "Reports whether the call takes an Idempotency-Key: it may be sent again."
  def idempotent?(call), do: MapSet.member?(@idempotent, call)

  @doc "Reports whether the call changes nothing."
  def read?(call), do: MapSet.member?(@reads, call)
end
"""

text = IO.iodata_to_binary([Code.format_string!(text, line_length: 160), "\n"])
file = Path.join(root, "lib/dormouse/operations.ex")

if "--check" in System.argv() do
  if File.read(file) != {:ok, text}, do: Mix.raise("lib/dormouse/operations.ex is stale: run mix run --no-start scripts/generate.exs")
else
  File.write!(file, text)
end
