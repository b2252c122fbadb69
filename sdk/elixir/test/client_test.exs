defmodule Dormouse.ClientTest do
  use ExUnit.Case, async: true
  import Dormouse.Test.Node, only: [answer: 1, answer: 2, answer: 3, problem: 2, problem: 3, scripted: 1, scripted: 2]
  alias Dormouse.{Checkpoints, Claims, Fence, Hold, Refused, Test, Threads, Unknown}

  @stamp %{key: "k", revision: 1}

  test "the path of an endpoint begins the path of each call" do
    {[url], got} = Test.Node.start([answer(@stamp, 201)], 1)
    server = start_supervised!({Dormouse, endpoints: url <> "/prefix/"}, id: make_ref())
    assert {:ok, _stamp} = Checkpoints.put(Dormouse.client(server), "k", %{state: %{}})
    assert [%{target: "/prefix/v1/checkpoints/k"}] = got.()
  end

  describe "outcomes" do
    test "a write is sent again under one key, at another node" do
      {client, got} = scripted([:lost, problem("unknown", 504), problem("unavailable", 503), answer(@stamp, 201)])
      assert {:ok, %{"revision" => 1}} = Checkpoints.put(client, "k", %{state: %{}})
      assert [_one] = got.() |> Enum.map(& &1.headers["idempotency-key"]) |> Enum.uniq()
      assert got.() |> Enum.map(& &1.node) |> Enum.uniq() |> length() == 3
    end

    test "a write with an unknown outcome names its key" do
      {client, got} = scripted([:lost], timeout_ms: 300)
      assert {:error, %Unknown{idempotency_key: key}} = result = Checkpoints.put(client, "k", %{state: %{}})
      assert key == hd(got.()).headers["idempotency-key"]
      assert Dormouse.outcome(result) == :unknown
      assert_raise Unknown, ~r/unknown outcome/, fn -> Dormouse.ok!(result) end
    end

    test "a write that was only refused in passing is refused" do
      {client, _got} = scripted([problem("unavailable", 503)], timeout_ms: 300)
      assert {:error, %Refused{code: "unavailable"}} = Checkpoints.put(client, "k", %{state: %{}})
    end

    test "a refusal that says nothing of an earlier attempt is unknown" do
      for code <- ~w(forbidden unauthenticated read_only quota_exceeded internal corrupt) do
        {client, _got} = scripted([:lost, problem(code, 403)])
        assert {:error, %Unknown{}} = Checkpoints.put(client, "k", %{state: %{}})
      end
    end

    test "a write is unknown after an error that does not say whether it was applied" do
      for code <- ~w(internal request_expired) do
        for before <- [[], [:lost], [problem("unavailable", 503)]] do
          {client, got} = scripted(before ++ [problem(code, 500)])
          assert {:error, %Unknown{idempotency_key: key}} = Checkpoints.put(client, "k", %{state: %{}})
          assert key == hd(got.()).headers["idempotency-key"]
        end

        {client, _got} = scripted([problem(code, 500)])
        assert {:error, %Refused{code: ^code}} = Checkpoints.get(client, "k")
      end
    end

    test "a write that no node took a connection for is refused" do
      server = start_supervised!({Dormouse, endpoints: [refusing(), "http://no-such-host.invalid"], timeout_ms: 100}, id: make_ref())
      assert {:error, %Refused{code: "unavailable"}} = Checkpoints.put(Dormouse.client(server), "k", %{state: %{}})
    end

    test "a call that is sent once goes to the next node if the first refuses connections" do
      {[url], got} = Test.Node.start([answer(%{})], 1)
      server = start_supervised!({Dormouse, endpoints: [refusing(), url], timeout_ms: 2000}, id: make_ref())
      client = Dormouse.client(server)
      # Which node is asked first is random: after a call it is the one that answered.
      assert {:ok, _} = Dormouse.call(client, "GET", "/v1/cluster", [])
      :ok = Dormouse.Server.leave(server, url)
      assert {:ok, _} = Dormouse.call(client, "PUT", "/v1/no/such/path", body: %{})
      assert [_read, _write] = got.()
    end

    test "a node that does not read does not hold a call longer than its timeout" do
      {:ok, listener} = :gen_tcp.listen(0, [:binary, active: false, ip: {127, 0, 0, 1}, recbuf: 4096])
      {:ok, port} = :inet.port(listener)
      server = start_supervised!({Dormouse, endpoints: "http://127.0.0.1:#{port}", timeout_ms: 100}, id: make_ref())
      began = System.monotonic_time(:millisecond)
      assert {:error, %Unknown{}} = Dormouse.Values.put(Dormouse.client(server), "k", String.duplicate("v", 8_000_000))
      # The client waits a second longer than the node.
      assert System.monotonic_time(:millisecond) - began < 3000
    end

    test "an answer of a write that is no JSON is like a lost one" do
      broken = {200, "application/json", [], ~s({"revision": 1)}
      {client, got} = scripted([broken, answer(@stamp)])
      assert {:ok, %{"revision" => 1}} = Checkpoints.put(client, "k", %{state: %{}})
      assert [%{headers: %{"idempotency-key" => key}}, %{headers: %{"idempotency-key" => key}}] = got.()

      {client, got} = scripted([broken])
      assert {:error, %Unknown{idempotency_key: key}} = Checkpoints.put(client, "k", %{state: %{}}, timeout_ms: 300)
      assert key == hd(got.()).headers["idempotency-key"]
      assert {:error, %Refused{code: "internal"}} = Checkpoints.get(client, "k")
    end

    test "a refusal of the state machine is final" do
      {client, got} = scripted([:lost, problem("revision_mismatch", 409, %{revision: 7})])

      assert {:error, %Refused{code: "revision_mismatch", status: 409, problem: %{"revision" => 7}}} =
               Checkpoints.put(client, "k", %{state: %{}, if_revision: 1})

      assert length(got.()) == 2
    end

    test "a call without a key is not sent again after a lost answer" do
      {client, got} = scripted([:lost])

      assert {:error, %Unknown{idempotency_key: nil}} =
               Dormouse.call(client, "POST", "/v1/managers/{manager}/instances/{key}/touch", params: [manager: "m", key: "k"], body: %{})

      assert length(got.()) == 1
    end

    test "a token without a hash is created without a key, and once" do
      body = %{principal: "ci", grants: []}
      {client, got} = scripted([answer(%{id: "tok_1", secret: "s"}, 201)])
      assert {:ok, _answer} = Dormouse.call(client, "POST", "/v1/tokens", body: body)
      assert {:ok, _answer} = Dormouse.call(client, "POST", "/v1/tokens", body: body, idempotency_key: "mine")
      assert Enum.map(got.(), & &1.headers["idempotency-key"]) == [nil, "mine"]
      {client, got} = scripted([:lost])
      assert {:error, %Unknown{idempotency_key: nil}} = Dormouse.call(client, "POST", "/v1/tokens", body: body)
      assert length(got.()) == 1

      for hash <- [%{hash: "ab"}, %{"hash" => "ab"}] do
        {client, got} = scripted([:lost, answer(%{id: "tok_1"}, 201)])
        assert {:ok, _answer} = Dormouse.call(client, "POST", "/v1/tokens", body: Map.merge(body, hash))
        assert [%{headers: %{"idempotency-key" => key}}, %{headers: %{"idempotency-key" => key}}] = got.()
      end
    end

    test "a read is never unknown" do
      for reply <- [:lost, problem("unknown", 504)] do
        {client, _got} = scripted([reply], timeout_ms: 300)
        assert {:error, %Refused{code: "unavailable"}} = Checkpoints.get(client, "k")
      end
    end

    test "an overloaded node is asked again after the time that it names" do
      {client, _got} = scripted([problem("overloaded", 429, %{retry_after_ms: 60}), answer(@stamp)])
      began = System.monotonic_time(:millisecond)
      assert {:ok, _} = Checkpoints.put(client, "k", %{state: %{}})
      assert System.monotonic_time(:millisecond) - began >= 60
    end

    test "a node that names no time to wait is not asked again without a pause" do
      {client, got} = scripted([problem("overloaded", 429, %{retry_after_ms: 0})], timeout_ms: 300)
      assert {:error, %Refused{code: "overloaded"}} = Checkpoints.put(client, "k", %{state: %{}})
      assert length(got.()) < 10
    end

    test "an answer without a problem document has a code all the same" do
      {client, _got} = scripted([{502, "text/html", [], "<html>"}], timeout_ms: 300)
      assert {:error, %Unknown{}} = Checkpoints.put(client, "k", %{state: %{}})
    end

    test "a client needs endpoints that are URLs" do
      Process.flag(:trap_exit, true)
      assert {:error, {:invalid, message}} = Dormouse.start_link(endpoints: [])
      assert message =~ "at least one node"
      assert {:error, {:invalid, message}} = Dormouse.start_link(endpoints: ["127.0.0.1:7600"])
      assert message =~ "http://HOST:PORT"
    end
  end

  describe "requests" do
    test "ids are percent-encoded, and scope, fence, token and cluster are sent" do
      {client, got} = scripted([answer(@stamp, 201, [{"Dormouse-Cluster", "c1"}])], token: fn -> "secret" end, scope: "ä")
      fenced = Dormouse.fenced(client, %Fence{claim: "session:s1", epoch: 7})
      assert {:ok, _} = Checkpoints.put(fenced, "a/b ü", %{state: %{}})
      assert {:ok, _} = Checkpoints.put(fenced, "a", %{state: %{}}, fence: %Fence{claim: "é", epoch: 8})
      assert [first, second] = got.()
      assert first.target == "/v1/checkpoints/a%2Fb%20%C3%BC"
      assert first.headers["dormouse-fence"] == ~s(claim="session:s1";epoch=7)
      assert second.headers["dormouse-fence"] == ~s(claim=%"%C3%A9";epoch=8)
      assert first.headers["authorization"] == "Bearer secret"
      assert first.headers["dormouse-scope"] == "ä"
      assert first.headers["dormouse-cluster"] == nil
      assert second.headers["dormouse-cluster"] == "c1"
    end

    test "an option that is nil leaves that of the client" do
      {client, got} = scripted([answer(@stamp, 201)])
      own = Dormouse.with_options(client, scope: "t", fence: %Fence{claim: "c", epoch: 1})
      assert {:ok, _} = Checkpoints.put(own, "k", %{state: %{}, if_revision: 2}, scope: nil, fence: nil, if_revision: nil)
      assert [%{headers: %{"dormouse-scope" => "t", "dormouse-fence" => ~s(claim="c";epoch=1)}, body: ~s({"if_revision":2,"state":{}})}] = got.()
    end

    test "reads have no fence and no key" do
      {client, got} = scripted([answer(%{items: [], next: nil})])
      fenced = Dormouse.fenced(client, %Fence{claim: "c", epoch: 1})
      assert {:ok, _} = Checkpoints.list(fenced, [prefix: "a b", limit: 2], stale: true, min_index: 3)
      assert [%{target: "/v1/checkpoints?prefix=a%20b&limit=2&stale=true&min_index=3", headers: headers}] = got.()
      refute Map.has_key?(headers, "dormouse-fence")
      refute Map.has_key?(headers, "idempotency-key")
    end

    test "the options of reads go only to the calls that take them" do
      change = {:stream, ~s(id: 1\nevent: change\ndata: {"index":1,"kind":"value","key":"k"}\n\n)}
      {client, got} = scripted([answer(%{}), answer(%{}), answer(@stamp), change])
      reader = Dormouse.with_options(client, stale: true, min_index: 3)
      assert {:ok, _} = Dormouse.read(reader, [])
      assert {:ok, _} = Dormouse.json(reader, "GET", "/v1/whoami")
      assert {:ok, _} = Checkpoints.put(reader, "k", %{state: %{}})
      assert [_change] = reader |> Dormouse.changes() |> Enum.take(1)
      assert Enum.map(got.(), & &1.target) == ["/v1/reads?stale=true&min_index=3", "/v1/whoami?stale=true", "/v1/checkpoints/k", "/v1/changes"]
    end

    test "what cannot be sent is refused" do
      {client, got} = scripted([answer(@stamp)], invalid_utf8: :refuse)
      assert {:error, %Refused{code: "invalid", problem: %{"detail" => "key is missing"}}} = Checkpoints.get(client, "")
      for dots <- [".", ".."], do: assert({:error, %Refused{code: "invalid"}} = Checkpoints.get(client, dots))
      assert {:error, %Refused{code: "invalid"}} = Checkpoints.put(client, "k", %{state: %{pid: self()}})
      assert {:error, %Refused{code: "invalid"}} = Checkpoints.put(client, "k", %{state: %{text: <<0xFF>>}})
      assert {:error, %Refused{code: "invalid"}} = Checkpoints.get(client, <<0xFF>>)
      assert got.() == []
    end

    test "headers cannot be broken into" do
      {client, got} = scripted([answer(@stamp)])

      for option <- [scope: "a\r\nX-Evil: 1", idempotency_key: "k\n", scope: "a\0b"] do
        assert {:error, %Refused{code: "invalid"}} = Checkpoints.put(client, "k", %{state: %{}}, [option])
      end

      assert got.() == []
    end
  end

  defp entry(seq), do: ~s(id: #{seq}\nevent: entry\ndata: {"id":"e#{seq}","seq":#{seq},"payload":{"text":"é😀"}}\n\n)

  describe "watches" do
    test "a watch continues after the last entry at another node" do
      ending = {:stream, entry(3) <> "event: deleted\r\ndata: {\"floor\":2}\r\n\r\n"}

      {client, got} =
        scripted([answer(%{id: "t", incarnation: 5}), {:stream, ": open\n\n" <> entry(0) <> entry(1)}, :lost, {:stream, entry(1) <> entry(2)}, ending])

      me = self()

      refused =
        assert_raise Refused, ~r/deleted/, fn ->
          client |> Threads.watch("t") |> Enum.each(&send(me, {:entry, &1["seq"], &1["payload"]["text"]}))
        end

      assert refused.problem["floor"] == 2
      assert for(_ <- 0..3, do: receive(do: ({:entry, seq, "é😀"} -> seq))) == [0, 1, 2, 3]
      refute_received {:entry, _seq, _text}
      assert Enum.at(got.(), 1).target == "/v1/threads/t/watch?from=0&incarnation=5"
      assert got.() |> Enum.drop(1) |> Enum.map(& &1.headers["last-event-id"]) == [nil, "1", "1", "2"]
    end

    test "changes continue after a place, and after ids without data" do
      change = fn place -> ~s(id: #{place}\nevent: change\ndata: {"index":1,"kind":"value","key":"k"}\n\n) end
      {client, got} = scripted([{:stream, change.("7.0") <> "id: 9\n\n"}, {:stream, change.("10.0")}])
      assert [{%{"key" => "k"}, "7.0"}, {_change, "10.0"}] = client |> Dormouse.changes(after: "6.1", prefix: "values/") |> Enum.take(2)
      assert Enum.map(got.(), & &1.headers["last-event-id"]) == ["6.1", "9"]
    end

    test "a problem in a stream ends it, unless it passes" do
      raised = fn code -> ~s(event: problem\ndata: {"code":"#{code}","detail":"d","status":503}\n\n) end
      {client, _got} = scripted([answer(%{incarnation: 1}), {:stream, entry(0) <> raised.("unavailable")}, {:stream, entry(1) <> raised.("forbidden")}])
      me = self()
      assert_raise Refused, ~r/forbidden/, fn -> client |> Threads.watch("t") |> Enum.each(&send(me, &1["seq"])) end
      assert_received 0
      assert_received 1
    end

    test "a watch of a claim passes on each holder once, also if the claim was renewed meanwhile" do
      held = fn epoch, until -> ~s(event: claim\ndata: {"name":"c","holder":"w","epoch":#{epoch},"ttl_ms":1000,"expires_at":#{until}}\n\n) end
      free = ~s(event: claim\ndata: {"name":"c"}\n\n)
      streams = [held.(3, 1), held.(3, 2) <> free, free <> held.(4, 3), held.(4, 4) <> held.(5, 5)]
      {client, _got} = scripted(Enum.map(streams, &{:stream, &1}))
      assert client |> Claims.watch("c") |> Enum.take(4) |> Enum.map(& &1["expires_at"]) == [1, nil, 3, 5]
    end

    test "a watch waits before it asks again a node that opens its stream and refuses then" do
      refused = fn more ->
        {:ok, problem} = Dormouse.JSON.encode(Map.merge(%{code: "overloaded", detail: "d", status: 429}, more))
        {:stream, ": open\n\nevent: problem\ndata: #{problem}\n\n"}
      end

      change = {:stream, ~s(id: 1\nevent: change\ndata: {"index":1,"kind":"value","key":"k"}\n\n)}
      {client, _got} = scripted(List.duplicate(refused.(%{}), 4) ++ [refused.(%{retry_after_ms: 500}), change])
      watcher = Task.async(fn -> receive(do: (:go -> client |> Dormouse.changes() |> Enum.take(2))) end)
      :erlang.trace_pattern({Process, :sleep, 1}, true, [])
      :erlang.trace(watcher.pid, true, [:call])
      send(watcher.pid, :go)
      assert [_one, _two] = Task.await(watcher)
      assert [0, 0, third, fourth, 500, 0] = sleeps(watcher.pid)
      assert third > 0 and fourth > 0
    end
  end

  describe "events" do
    test "events are parsed whatever the pieces in which they arrive" do
      text = ": hello\r\nid: 1\r\nevent: a\r\ndata: x\r\ndata: é\r\n\r\nid: 2\n\ndata:y\n\n"

      for size <- 1..byte_size(text) do
        assert parsed(text, size) == [%{event: "a", data: "x\né", id: "1"}, %{event: "message", data: "", id: "2"}, %{event: "message", data: "y", id: "2"}]
      end
    end

    test "a large event arrives in many pieces" do
      data = String.duplicate("x", 4 * 1024 * 1024)
      assert [%{data: ^data}] = parsed("data: " <> data <> "\n\n", 65_536)
    end
  end

  defp parsed(text, size) do
    pieces = for at <- 0..(byte_size(text) - 1)//size, do: binary_part(text, at, min(size, byte_size(text) - at))
    {events, _parser} = Enum.flat_map_reduce(pieces, Dormouse.Watch.parser(), &Dormouse.Watch.parse(&2, &1))
    events
  end

  describe "holds" do
    test "a hold renews itself, and is lost when a renewal is refused" do
      claim = answer(%{name: "c", holder: "w", epoch: 3})
      {client, got} = scripted([claim, claim, problem("fenced", 409)])
      assert {:ok, hold} = Claims.hold(client, "c", "w", ttl_ms: 1500)
      assert hold.fence == %Fence{claim: "c", epoch: 3}
      assert Hold.check(hold) == :ok
      assert_receive {:dormouse_lost, ^hold, reason}
      assert reason =~ "fenced"
      assert Hold.check(hold) == {:error, reason}
      # A silent node leaves time for others.
      assert [_take, "250", "250"] = Enum.map(got.(), & &1.headers["dormouse-timeout-ms"])
    end

    test "a hold is lost once it could not be renewed within its ttl" do
      {client, _got} = scripted([answer(%{name: "c", epoch: 3}), :lost])
      assert {:ok, hold} = Claims.hold(client, "c", "w", ttl_ms: 90)
      assert_receive {:dormouse_lost, ^hold, reason}
      assert reason =~ "in time"
      assert Hold.release(hold) == :ok
      assert {:error, _reason} = Hold.check(hold)
    end

    test "a refusal of a renewal that is about the node is no loss: the next renewal goes to another node" do
      claim = answer(%{name: "c", holder: "w", epoch: 3})

      for passing <- [problem("unauthenticated", 401), problem("forbidden", 403), {404, "text/html", [], "<html>"}] do
        {client, got} = scripted([claim, passing, claim])
        assert {:ok, hold} = Claims.hold(client, "c", "w", ttl_ms: 60_000)
        for _ <- 1..2, do: renew(hold)
        assert Hold.check(hold) == :ok
        assert [%{node: taken}, %{node: taken}, %{node: other}] = got.()
        assert other != taken
        assert Hold.release(hold) == :ok
        assert %{target: "/v1/claims/c/release"} = List.last(got.())
      end
    end

    test "a claim whose renewal was refused is released, unless it was fenced" do
      claim = answer(%{name: "c", holder: "w", epoch: 3})

      for {code, released} <- [{"invalid", true}, {"fenced", false}] do
        {client, got} = scripted([claim, problem(code, 409), claim])
        assert {:ok, hold} = Claims.hold(client, "c", "w", ttl_ms: 60_000)
        renew(hold)
        assert_receive {:dormouse_lost, ^hold, _reason}
        assert Hold.release(hold) == :ok
        assert Enum.any?(got.(), &(&1.target == "/v1/claims/c/release")) == released
      end
    end

    test "a claim is released, also when its owner ends" do
      {client, got} = scripted([answer(%{name: "c", epoch: 3})])
      assert {:ok, hold} = Claims.hold(client, "c", "w", ttl_ms: 60_000)
      assert Hold.release(hold) == :ok
      {owner, ref} = spawn_monitor(fn -> exit({:held, Claims.hold(client, "c", "w", ttl_ms: 60_000)}) end)
      assert_receive {:DOWN, ^ref, :process, ^owner, {:held, {:ok, hold}}}
      ref = Process.monitor(hold.pid)
      assert_receive {:DOWN, ^ref, :process, _pid, _reason}
      assert for(%{target: "/v1/claims/c/release"} = each <- got.(), do: each.body) == List.duplicate(~s({"epoch":3,"holder":"w"}), 2)
    end

    test "the idempotency key of a hold is that of its first attempt to take the claim alone" do
      free = {:stream, ~s(event: claim\ndata: {"name":"c","epoch":2}\n\n)}
      {client, got} = scripted([problem("already_claimed", 409), free, answer(%{name: "c", epoch: 3})])
      assert {:ok, hold} = Claims.hold(client, "c", "w", ttl_ms: 1500, wait: true, idempotency_key: "mine")
      until(fn -> Enum.any?(got.(), &(&1.target == "/v1/claims/c/renew")) end)
      assert Hold.release(hold) == :ok
      assert ["mine" | keys] = for(%{method: "POST"} = each <- got.(), do: each.headers["idempotency-key"])
      assert length(Enum.uniq(["mine" | keys])) == 1 + length(keys)
    end

    test "a refusal of the watch that waits for a claim is the result of the hold" do
      {client, _got} = scripted([problem("already_claimed", 409), problem("forbidden", 403)])
      assert {:error, %Refused{code: "forbidden"}} = Claims.hold(client, "c", "w", wait: true)
    end

    test "a renewal under way ends with its hold" do
      owner = self()
      renew = fn -> send(owner, {:renews, self()}) && Process.sleep(:infinity) end
      assert {:ok, hold} = Hold.start(%Fence{claim: "c", epoch: 3}, 3_000, Dormouse.HTTP.now(), renew, fn -> {:ok, %{}} end)
      assert_receive {:renews, renewal}
      ref = Process.monitor(renewal)
      assert Hold.stop(hold) == :ok
      assert_receive {:DOWN, ^ref, :process, ^renewal, :killed}
    end
  end

  # Renews a hold now, and waits for the result.
  defp renew(hold) do
    send(hold.pid, :renew)
    until(fn -> :sys.get_state(hold.pid).renewal == nil end)
  end

  # Returns the waits of a traced process that has ended.
  defp sleeps(pid) do
    ref = :erlang.trace_delivered(pid)
    assert_receive {:trace_delivered, ^pid, ^ref}
    Stream.repeatedly(fn -> receive(do: ({:trace, ^pid, :call, {Process, :sleep, [ms]}} -> ms), after: (0 -> nil)) end) |> Enum.take_while(& &1)
  end

  # Returns the URL of a port of loopback that refuses connections.
  defp refusing do
    {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
    {:ok, port} = :inet.port(listener)
    :ok = :gen_tcp.close(listener)
    "http://127.0.0.1:#{port}"
  end

  defp until(check), do: check.() || (Process.sleep(5) && until(check))
end
