defmodule Dormouse.Fence do
  @moduledoc "A fence: a write applies only while the claim is at this epoch."
  @enforce_keys [:claim, :epoch]
  defstruct [:claim, :epoch]
  @type t :: %__MODULE__{claim: String.t(), epoch: non_neg_integer()}
end

defmodule Dormouse.Answer do
  @moduledoc """
  The answer to a call. `index` is the log index of the answer, and `data` has its bytes. `write` says
  whether the call was a write, and `idempotency_key` is the one that it had.
  """
  @enforce_keys [:status, :headers, :index, :data]
  defstruct [:status, :headers, :index, :data, :idempotency_key, write: false]

  @type t :: %__MODULE__{
          status: pos_integer(),
          headers: %{String.t() => String.t()},
          index: non_neg_integer(),
          data: binary(),
          idempotency_key: String.t() | nil,
          write: boolean()
        }

  @doc """
  Returns the decoded JSON of an answer, nil if it has none.

  If that is broken, a read is refused with `internal`, and the outcome of a write is unknown.
  """
  @spec body(t()) :: Dormouse.result(term())
  def body(%__MODULE__{data: data, headers: headers} = answer) do
    if String.starts_with?(headers["content-type"] || "", "application/json") do
      with {:error, error} <- Dormouse.JSON.decode(data), do: {:error, broken(answer, "the answer of the node is no JSON: #{error.message}")}
    else
      {:ok, nil}
    end
  end

  defp broken(%{write: true} = answer, detail), do: %Dormouse.Unknown{idempotency_key: answer.idempotency_key, detail: detail}
  defp broken(_answer, detail), do: Dormouse.Refused.new("internal", detail)
end
