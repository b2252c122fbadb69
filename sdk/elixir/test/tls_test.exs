defmodule Dormouse.TLSTest do
  use ExUnit.Case, async: true
  alias Dormouse.{Refused, Threads, Values}
  alias Dormouse.Test.Cluster

  @moduletag :tls

  defp client(options) do
    server = start_supervised!({Dormouse, Keyword.merge([endpoints: Cluster.endpoints(), token: System.fetch_env!("DORMOUSE_TOKEN")], options)}, id: make_ref())
    Dormouse.client(server)
  end

  defp trusting, do: [tls: [cacertfile: System.fetch_env!("DORMOUSE_CA")]]

  test "calls and watches go over TLS" do
    client = client(trusting())
    name = Cluster.fresh("tls")
    assert {:ok, _} = Values.put(client, name, "kept")
    assert {:ok, %{data: "kept"}} = Values.get(client, name)
    assert {:ok, _} = Threads.append(client, name, [%{id: "a"}])
    assert [%{"id" => "a"}] = client |> Threads.watch(name) |> Enum.take(1)
  end

  test "a node of another authority gets no call" do
    assert {:error, %Refused{code: "unavailable"}} = Values.get(client(timeout_ms: 500, tls: [log_level: :none]), "a")
  end

  test "a wrong token is refused" do
    assert {:error, %Refused{code: "unauthenticated"}} = Values.get(client([token: "wrong"] ++ trusting()), "a")
  end
end
