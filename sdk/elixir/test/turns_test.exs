defmodule Dormouse.TurnsTest do
  use ExUnit.Case, async: true
  import Dormouse.Test.Node, only: [answer: 1, problem: 2, problem: 3, scripted: 1]
  alias Dormouse.{Fence, Hold, HTTP, Refused, Sessions}

  defp turn(lease), do: %{"lease" => Map.merge(%{"lease_id" => "l", "owner_id" => "w", "epoch" => 4}, lease)}

  test "a turn is kept: its lease is renewed at once, with the ttl of its claim" do
    claimed = turn(%{"acquired_at" => 1000, "expires_at" => 6000})

    for {turned, given, ttl} <- [{claimed, nil, 5000}, {turn(%{}), nil, 30_000}, {claimed, 7000, 7000}] do
      {client, got} = scripted([answer(%{})])
      assert {:ok, hold} = Sessions.keep(client, "s", turned, given)
      assert Hold.stop(hold) == :ok
      assert hold.fence == %Fence{claim: "session:s", epoch: 4}
      assert [%{target: "/v1/sessions/s/renew", body: body, headers: headers}] = got.()
      # A silent node leaves time for others.
      assert headers["dormouse-timeout-ms"] == Integer.to_string(div(ttl, 6))
      assert {:ok, %{"lease_id" => "l", "owner_id" => "w", "ttl_ms" => ttl}} == Dormouse.JSON.decode(body)
    end
  end

  test "a turn that is no longer held, or queued, is not kept" do
    {client, _got} = scripted([problem("fenced", 409)])
    assert {:error, %Refused{code: "fenced"}} = Sessions.keep(client, "s", turn(%{}))
    assert {:error, %Refused{code: "invalid"}} = Sessions.keep(client, "s", %{})
  end

  test "a turn is held since its renewal was sent" do
    {client, _got} = scripted([problem("overloaded", 429, %{retry_after_ms: 500}), answer(%{})])
    since = HTTP.now()
    assert {:ok, hold} = Sessions.keep(client, "s", turn(%{"acquired_at" => 1000, "expires_at" => 61_000}))
    assert HTTP.now() - since >= 500
    assert (:sys.get_state(hold.pid).until - since) in 60_000..60_400
  end
end
