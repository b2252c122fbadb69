defmodule Dormouse.Test.Cluster do
  @moduledoc "The cluster that internal/withcluster started."

  @doc "Returns the base URLs of its nodes."
  def endpoints, do: "DORMOUSE_URLS" |> System.fetch_env!() |> String.split(",")

  @doc "Starts a client and returns it, in a scope that has never been used."
  def client(scope, endpoints \\ endpoints()) do
    server = ExUnit.Callbacks.start_supervised!({Dormouse, endpoints: endpoints, token: System.get_env("DORMOUSE_TOKEN"), timeout_ms: 60_000}, id: make_ref())
    Dormouse.with_options(Dormouse.client(server), scope: fresh(scope))
  end

  @doc "Returns a name that no run has had."
  def fresh(name), do: "ex-#{System.os_time()}-#{System.unique_integer([:positive])}-#{name}"

  @doc "Kills the leader; it starts again after two seconds."
  def kill do
    uri = URI.parse(System.fetch_env!("DORMOUSE_CONTROL"))
    {:ok, connection} = Dormouse.HTTP.connect(uri, 10_000, [])
    {:ok, %{status: 200}} = Dormouse.HTTP.request(connection, "POST", "/leader/kill", [], "", {10_000, :infinity})
    Dormouse.HTTP.close(connection)
  end
end
