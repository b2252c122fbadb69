defmodule Dormouse.Claims do
  @moduledoc "Names that one holder has at a time."

  alias Dormouse.{Fence, Hold, HTTP, Refused, Watch}

  @ttl_ms 30_000

  def take(client, name, holder, options \\ []) do
    {own, options} = Keyword.split(options, [:ttl_ms])
    post(client, "/v1/claims/{name}", name, [holder: holder] ++ own, options)
  end

  def renew(client, name, holder, epoch, options \\ []) do
    {own, options} = Keyword.split(options, [:ttl_ms])
    post(client, "/v1/claims/{name}/renew", name, [holder: holder, epoch: epoch] ++ own, options)
  end

  def release(client, name, holder, epoch, options \\ []), do: post(client, "/v1/claims/{name}/release", name, [holder: holder, epoch: epoch], options)

  def get(client, name, options \\ []), do: Dormouse.json(client, "GET", "/v1/claims/{name}", [params: [name: name]] ++ options)

  defp post(client, path, name, body, options), do: Dormouse.json(client, "POST", path, [params: [name: name], body: Map.new(body)] ++ options)

  @doc "Returns a stream of the holders of a claim, beginning with the current one. A renewal brings no event."
  def watch(client, name, options \\ []) do
    Watch.stream(Dormouse.client(client), "/v1/claims/{name}/watch", [params: [name: name]] ++ options, "", nil, fn
      %{event: "claim"} = event, before -> event |> Dormouse.decoded() |> unless_passed_on(before)
      _event, before -> {[], before}
    end)
  end

  # A stream begins with the current holder, also after a lost connection.
  defp unless_passed_on(claim, before) do
    epoch = if claim["holder"] in [nil, ""], do: 0, else: claim["epoch"] || 0
    {if(epoch == before, do: [], else: [claim]), epoch}
  end

  @doc """
  Takes a claim and renews it until the hold is stopped or released.

  It takes `:ttl_ms` (30,000 if absent), and with `wait: true` it waits for the holder before.
  """
  @spec hold(Dormouse.t(), String.t(), String.t(), keyword()) :: Dormouse.result(Hold.t())
  def hold(client, name, holder, options \\ []) do
    {own, options} = Keyword.split(options, [:ttl_ms, :wait])
    # A node gives the answer to the first attempt again under its key.
    {key, options} = Keyword.split(options, [:idempotency_key])
    ttl_ms = own[:ttl_ms] || @ttl_ms
    since = HTTP.now()

    case take(client, name, holder, [ttl_ms: ttl_ms] ++ key ++ options) do
      {:ok, %{"epoch" => epoch}} ->
        renew = fn -> renew(client, name, holder, epoch, Keyword.merge(options, [ttl_ms: ttl_ms] ++ Hold.limits(ttl_ms))) end

        Hold.start(%Fence{claim: name, epoch: epoch}, ttl_ms, since, fn -> Hold.renewal(client, renew) end, fn ->
          release(client, name, holder, epoch, options)
        end)

      {:error, %Refused{code: "already_claimed"}} = held ->
        if own[:wait] do
          with :ok <- free(client, name, options), do: hold(client, name, holder, own ++ options)
        else
          held
        end

      error ->
        error
    end
  end

  # Waits until no one holds a claim. A watch raises a refusal; this returns it.
  defp free(client, name, options) do
    _free = client |> watch(name, options) |> Enum.find(&(&1["holder"] in [nil, ""]))
    :ok
  rescue
    refused in Refused -> {:error, refused}
  end
end
