defmodule Dormouse.Problem do
  @moduledoc false
  # What the problem of an answer says about the outcome of a call.

  alias Dormouse.{JSON, Operations, Refused}

  # Codes of nodes that are about this attempt only: an earlier one may have been applied.
  @inconclusive ~w(overloaded unavailable not_owner read_only unauthenticated forbidden quota_exceeded corrupt)

  # The type of the problem of an answer that is not of a node.
  @foreign "about:blank"

  @doc "Reports whether a refusal of a call says nothing of earlier attempts: by the call, or by itself."
  def inconclusive?(call, refused), do: Operations.on_instance?(call) or inconclusive?(refused)

  @doc "Reports whether a refusal says nothing of earlier attempts: by its code, or because it is a proxy's or this client's."
  def inconclusive?(%Refused{code: code, status: status, problem: problem}), do: code in @inconclusive or status == 0 or problem["type"] == @foreign

  @doc "Returns the problem of an answer. An answer of a proxy may have none: with 5xx it does not say whether a node had the call."
  def of(status, text) do
    case JSON.decode(text) do
      {:ok, %{"code" => code} = problem} when is_binary(code) ->
        problem

      _other ->
        code =
          cond do
            status == 429 -> "overloaded"
            status >= 500 -> "unknown"
            true -> "invalid"
          end

        %{
          "type" => @foreign,
          "title" => "The answer is not a problem document",
          "status" => status,
          "code" => code,
          "detail" => "the answer has status #{status} and no code: it is not of a node"
        }
    end
  end
end
