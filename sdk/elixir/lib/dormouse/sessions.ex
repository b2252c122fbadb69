defmodule Dormouse.Sessions do
  @moduledoc "Conversations whose turns run under a lease."

  alias Dormouse.{Fence, Hold, HTTP, Refused}

  def create(client, body, options \\ []), do: Dormouse.json(client, "POST", "/v1/sessions", [body: body] ++ options)
  def put(client, id, body, options \\ []), do: Dormouse.json(client, "PUT", "/v1/sessions/{id}", [params: [id: id], body: body] ++ options)
  def get(client, id, options \\ []), do: Dormouse.json(client, "GET", "/v1/sessions/{id}", [params: [id: id]] ++ options)
  def list(client, query \\ [], options \\ []), do: Dormouse.json(client, "GET", "/v1/sessions", [query: query] ++ options)
  def claim(client, id, body, options \\ []), do: turned(client, id, "claim", body, options)
  def resume(client, id, body, options \\ []), do: turned(client, id, "claim_resume", body, options)
  def recover(client, id, body, options \\ []), do: turned(client, id, "recover", body, options)
  def checkpoint(client, id, body, options \\ []), do: turned(client, id, "checkpoint", body, options)
  def commit(client, id, body, options \\ []), do: turned(client, id, "commit", body, options)
  def renew(client, id, body, options \\ []), do: turned(client, id, "renew", body, options)
  def cancel(client, id, body \\ %{}, options \\ []), do: turned(client, id, "cancel", body, options)
  def delete(client, id, query \\ [], options \\ []), do: Dormouse.json(client, "DELETE", "/v1/sessions/{id}", [params: [id: id], query: query] ++ options)

  @doc """
  Renews the lease of a turn, at once and until the hold is stopped.

  If the ttl is absent, it is that of the claim: give it for a turn that was renewed before.
  """
  @spec keep(Dormouse.t(), String.t(), map(), pos_integer() | nil) :: Dormouse.result(Hold.t())
  def keep(client, id, turned, ttl_ms \\ nil)

  def keep(client, id, %{"lease" => %{"lease_id" => lease_id, "owner_id" => owner, "epoch" => epoch} = lease}, ttl_ms) do
    ttl_ms = ttl_ms || ttl_of(lease)
    body = %{lease_id: lease_id, owner_id: owner, ttl_ms: ttl_ms}
    renew = fn -> renew(client, id, body, Hold.limits(ttl_ms)) end
    # How old the lease is, only the cluster knows: it is held since its renewal was sent.
    since = HTTP.now()

    with {:ok, _turned} <- renew.(),
         do: Hold.start(%Fence{claim: "session:" <> id, epoch: epoch}, ttl_ms, since, fn -> Hold.renewal(client, renew) end, fn -> {:ok, nil} end)
  end

  def keep(_client, id, _turned, _ttl_ms), do: {:error, Refused.new("invalid", "the turn of session #{id} has no lease: it is queued")}

  # Returns the ttl in ms with which a lease was claimed, or 30,000 if it does not say.
  defp ttl_of(%{"acquired_at" => since, "expires_at" => until}) when is_integer(since) and is_integer(until) and until > since, do: until - since
  defp ttl_of(_lease), do: 30_000

  defp turned(client, id, verb, body, options), do: Dormouse.json(client, "POST", "/v1/sessions/{id}/" <> verb, [params: [id: id], body: body] ++ options)
end

defmodule Dormouse.Reviews do
  @moduledoc "What waits for a person's decision."

  def get(client, review, options \\ []), do: Dormouse.json(client, "GET", "/v1/reviews/{review}", [params: [review: review]] ++ options)
  def list(client, query \\ [], options \\ []), do: Dormouse.json(client, "GET", "/v1/reviews", [query: query] ++ options)

  def decide(client, review, body, options \\ []),
    do: Dormouse.json(client, "POST", "/v1/reviews/{review}/decide", [params: [review: review], body: body] ++ options)
end
