defmodule Dormouse.RefusalsTest do
  use ExUnit.Case, async: true
  import Dormouse.Test.Node, only: [answer: 1, answer: 2, problem: 2, scripted: 1, scripted: 2]
  alias Dormouse.{Checkpoints, Refused, Test, Unknown, Values}

  @stamp %{key: "k", revision: 1}

  test "a proxy does not say that an earlier attempt was not applied" do
    for status <- [404, 500] do
      {client, _got} = scripted([:lost, {status, "text/html", [], "<html>"}], timeout_ms: 300)
      assert {:error, %Unknown{}} = Checkpoints.put(client, "k", %{state: %{}})
    end

    for status <- [500, 503] do
      {client, _got} = scripted([{status, "text/html", [], "<html>"}])
      touch = [params: [manager: "m", key: "k"], body: %{}]
      assert {:error, %Unknown{}} = Dormouse.call(client, "POST", "/v1/managers/{manager}/instances/{key}/touch", touch)
    end

    {client, _got} = scripted([{404, "text/html", [], "<html>"}])
    assert {:error, %Refused{}} = Checkpoints.put(client, "k", %{state: %{}})
  end

  test "a proxy that says 503 may have passed the write on" do
    {client, _got} = scripted([{503, "text/html", [], "<html>"}], timeout_ms: 300)
    assert {:error, %Unknown{}} = Checkpoints.put(client, "k", %{state: %{}})
    assert {:error, %Refused{code: "unavailable"}} = Checkpoints.get(client, "k")
  end

  test "a refusal of a call on an instance or a pod says nothing of an earlier attempt" do
    {instance, pod} = {"/v1/managers/{manager}/instances/{key}", "/v1/pods/{manager}/{key}"}
    request = [params: [manager: "m", key: "k", timer: "t"], body: %{}]

    for {method, path} <- [{"POST", instance <> "/signals"}, {"PATCH", instance <> "/cron"}, {"POST", pod <> "/mutate"}, {"POST", pod <> "/fork"}],
        {code, status} <- [{"not_found", 404}, {"thaw_failed", 409}] do
      {client, got} = scripted([:lost, problem(code, status)])
      assert {:error, %Unknown{idempotency_key: key}} = Dormouse.call(client, method, path, request)
      assert key == Enum.at(got.(), 1).headers["idempotency-key"]
      {client, _got} = scripted([problem(code, status)])
      assert {:error, %Refused{code: ^code}} = Dormouse.call(client, method, path, request)
    end

    {client, _got} = scripted([:lost, problem("fenced", 409)])
    assert {:error, %Refused{code: "fenced"}} = Dormouse.call(client, "DELETE", instance <> "/timers/{timer}", request)
  end

  test "a token is asked for at each attempt; without it, nothing is sent" do
    {:ok, tokens} = Agent.start_link(fn -> ["one", "two"] end)
    token = fn -> Agent.get_and_update(tokens, &List.pop_at(&1, 0)) || raise "no token" end
    {client, got} = scripted([:lost, answer(@stamp, 201), :lost], token: token)
    assert {:ok, _stamp} = Checkpoints.put(client, "k", %{state: %{}})
    assert Enum.map(got.(), & &1.headers["authorization"]) == ["Bearer one", "Bearer two"]
    assert {:error, %Refused{code: "unauthenticated"} = refused} = Checkpoints.put(client, "k", %{state: %{}})
    assert Exception.message(refused) =~ "no token"
    assert_raise Refused, ~r/no token/, fn -> client |> Dormouse.changes() |> Enum.take(1) end
    Agent.update(tokens, fn [] -> ["three"] end)
    assert {:error, %Unknown{}} = Checkpoints.put(client, "k", %{state: %{}})
    assert length(got.()) == 3
  end

  test "a token with a line break is refused and not shown, and neither state nor specification has it" do
    {client, got} = scripted([answer(@stamp)], token: "secret\nline")
    assert {:error, %Refused{code: "invalid"} = refused} = Checkpoints.put(client, "k", %{state: %{}})
    shown = inspect({refused, :sys.get_state(client.server), Dormouse.child_spec(endpoints: "http://a", token: "secret")})
    refute shown =~ "secret"
    assert got.() == []
  end

  test "options that a call does not take are refused by name, and nothing is sent" do
    {client, got} = scripted([answer(@stamp)])
    assert {:error, %Refused{code: "invalid"} = refused} = Values.put(client, "k", "v", if_revison: 3, timeout: 5)
    assert Exception.message(refused) =~ ":if_revison, :timeout"
    assert {:error, %Refused{code: "invalid"}} = client |> Dormouse.with_options(scpoe: "t") |> Checkpoints.get("k")
    assert_raise Refused, ~r/:prefx/, fn -> client |> Dormouse.changes(prefx: "a") |> Enum.take(1) end
    assert got.() == []
  end

  test "a checkpoint is written under the revision of the options" do
    {client, got} = scripted([answer(@stamp)])
    assert {:ok, _stamp} = Checkpoints.put(client, "k", %{state: %{}}, if_revision: 3)
    assert [%{body: ~s({"if_revision":3,"state":{}})}] = got.()
  end

  test "an empty value has its content type" do
    {client, got} = scripted([answer(@stamp)])
    assert {:ok, _stamp} = Values.put(client, "k", "", content_type: "text/plain")
    assert [%{headers: %{"content-type" => "text/plain", "content-length" => "0"}}] = got.()
  end

  test "a page of a proxy does not say that a write was applied" do
    page = {200, "text/html", [], "<html>"}
    {client, got} = scripted([page, answer(@stamp), {204, "text/plain", [], ""}])
    assert {:ok, %{"revision" => 1}} = Checkpoints.put(client, "k", %{state: %{}})
    assert {:ok, nil} = Checkpoints.delete(client, "k")
    assert length(got.()) == 3
    {client, _got} = scripted([page], timeout_ms: 300)
    assert {:error, %Unknown{}} = Checkpoints.delete(client, "k")
  end

  test "idle connections are dropped once one is lost" do
    {[url], _got} = Test.Node.start([answer(@stamp), :lost, answer(@stamp)])
    server = start_supervised!({Dormouse, endpoints: url}, id: make_ref())
    client = Dormouse.client(server)
    assert {:ok, _answer} = Checkpoints.get(client, "k")

    for _ <- 1..2 do
      {:ok, spare} = Dormouse.HTTP.connect(URI.parse(url), 1000, [])
      Dormouse.Server.keep(server, url, spare)
    end

    assert {:ok, _answer} = Checkpoints.get(client, "k")
    assert %{idle: %{^url => [_one]}} = :sys.get_state(server)
  end

  test "an idle connection that the node closed is not used" do
    {[url], got} = Test.Node.start([{:last, answer(@stamp), self()}, {:last, answer(@stamp), self()}, problem("forbidden", 403)])
    server = start_supervised!({Dormouse, endpoints: url}, id: make_ref())
    client = Dormouse.client(server)

    for _ <- 1..2 do
      assert {:ok, _answer} = Checkpoints.get(client, "k")
      assert_receive :closed
    end

    assert {:error, %Refused{code: "forbidden"}} = Checkpoints.put(client, "k", %{state: %{}})
    assert length(got.()) == 3
  end
end
