defmodule Dormouse.Fence do
  @moduledoc "A fence: a write applies only while the claim is at this epoch."
  @enforce_keys [:claim, :epoch]
  defstruct [:claim, :epoch]
  @type t :: %__MODULE__{claim: String.t(), epoch: non_neg_integer()}
end

defmodule Dormouse.Answer do
  @moduledoc "The answer to a call. `index` is the log index of the answer, and `data` has its bytes."
  @enforce_keys [:status, :headers, :index, :data]
  defstruct [:status, :headers, :index, :data]
  @type t :: %__MODULE__{status: pos_integer(), headers: %{String.t() => String.t()}, index: non_neg_integer(), data: binary()}

  @doc "Returns the decoded JSON of an answer, nil if it has none."
  @spec body(t()) :: Dormouse.result(term())
  def body(%__MODULE__{data: data, headers: headers}) do
    if String.starts_with?(headers["content-type"] || "", "application/json") do
      with {:error, error} <- Dormouse.JSON.decode(data), do: {:error, Dormouse.Refused.new("internal", "the answer of the node is no JSON: #{error.message}")}
    else
      {:ok, nil}
    end
  end
end
