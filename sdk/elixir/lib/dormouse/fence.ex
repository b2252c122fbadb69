defmodule Dormouse.Fence do
  @moduledoc "A fence: a write applies only while the claim is at this epoch."
  @enforce_keys [:claim, :epoch]
  defstruct [:claim, :epoch]
  @type t :: %__MODULE__{claim: String.t(), epoch: non_neg_integer()}
end
