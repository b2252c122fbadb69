defmodule Dormouse.Answer do
  @moduledoc """
  The answer to a call. `index` is the log index of the answer, and `data` has its bytes.
  """
  alias Dormouse.{JSON, Refused}

  @enforce_keys [:status, :headers, :index, :data]
  defstruct [:status, :headers, :index, :data, :decoded]

  @type t :: %__MODULE__{
          status: pos_integer(),
          headers: %{String.t() => String.t()},
          index: non_neg_integer(),
          data: binary(),
          decoded: {:ok, term()} | nil
        }

  @doc """
  Returns the decoded JSON of an answer, nil if it has none. JSON that is broken is refused with `internal`.

  The answer of a write is decoded when it arrives: if it is broken, the client sends the write again.
  """
  @spec body(t()) :: Dormouse.result(term())
  def body(answer) do
    with {:error, error} <- decode(answer), do: {:error, Refused.new("internal", error.message)}
  end

  @doc "Returns the decoded JSON of an answer, nil if it has none."
  @spec decode(t()) :: {:ok, term()} | {:error, JSON.Error.t()}
  def decode(%__MODULE__{decoded: nil, data: data} = answer) do
    if json?(answer) do
      with {:error, error} <- JSON.decode(data), do: {:error, %{error | message: "the answer of the node is no JSON: #{error.message}"}}
    else
      {:ok, nil}
    end
  end

  def decode(%__MODULE__{decoded: decoded}), do: decoded

  @doc "Reports whether an answer says that it is JSON."
  @spec json?(t()) :: boolean()
  def json?(answer), do: String.starts_with?(answer.headers["content-type"] || "", "application/json")
end
