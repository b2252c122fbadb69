defmodule Dormouse.Keys do
  @moduledoc false
  # Which calls have an Idempotency-Key.

  alias Dormouse.Operations

  @create_token "POST /v1/tokens"

  @doc """
  Reports whether a call has an Idempotency-Key, and so may be sent again.

  To create a token without a hash has none, unless the caller gives one: the node makes the secret
  and does not keep it, so another attempt would make another token.
  """
  def takes?(@create_token, body, nil), do: hash(body) not in [nil, ""]
  def takes?(call, _body, _given), do: Operations.idempotent?(call)

  defp hash(%{hash: hash}), do: hash
  defp hash(%{"hash" => hash}), do: hash
  defp hash(_body), do: nil
end
