defmodule Dormouse.Refused do
  @moduledoc """
  A call that was refused: it was not applied.

  `problem` has the members of its code, such as `"rev"` of a conflict.
  """
  @type t :: %__MODULE__{code: String.t(), status: non_neg_integer(), problem: map()}
  defexception [:code, :status, :problem]

  @impl true
  def message(refused), do: "#{refused.code}: #{refused.problem["detail"]}"

  @doc "Returns a refusal that has this problem."
  @spec new(map()) :: t()
  def new(problem), do: %__MODULE__{code: problem["code"], status: problem["status"] || 0, problem: problem}

  @doc "Returns a refusal that this package makes itself."
  @spec new(String.t(), String.t(), map()) :: t()
  def new(code, detail, members \\ %{}) do
    %{"type" => "urn:dormouse:problem:" <> code, "title" => detail, "detail" => detail, "status" => 0, "code" => code}
    |> Map.merge(members)
    |> new()
  end
end

defmodule Dormouse.Unknown do
  @moduledoc """
  A write whose outcome is unknown: it may have been applied, and may still be.

  Send it again with the same `idempotency_key` to learn its outcome.
  """
  @type t :: %__MODULE__{idempotency_key: String.t() | nil, detail: String.t(), cause: term()}
  defexception [:idempotency_key, :detail, :cause]

  @impl true
  def message(unknown), do: "unknown outcome: #{unknown.detail}"
end
