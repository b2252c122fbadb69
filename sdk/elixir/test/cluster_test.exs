defmodule Dormouse.ClusterTest do
  use ExUnit.Case, async: false
  alias Dormouse.{Checkpoints, Claims, Hold, Refused, Test, Threads, Values}
  alias Dormouse.Test.Cluster

  @moduletag :cluster
  @moduletag timeout: 100_000

  # Runs all cases at once, and returns what failed.
  defp all_cases(what, client) do
    operations = Test.Cases.operations()
    cases = Test.Cases.all()
    assert length(cases) > 20

    cases
    |> Task.async_stream(fn {name, steps} -> {name, Test.Cases.run(client, Cluster.fresh(what), steps, operations)} end, max_concurrency: 64, timeout: 90_000)
    |> Enum.flat_map(fn
      {:ok, {_name, :ok}} -> []
      {:ok, {name, {:failed, why}}} -> ["#{what}: #{name}: #{why}"]
    end)
  end

  test "the cases hold through a follower" do
    assert all_cases("follower", Cluster.client("cases", [System.fetch_env!("DORMOUSE_FOLLOWER")])) == []
  end

  test "the cases hold, and watches and claims go on, while the leader is killed" do
    client = Cluster.client("killed")

    rounds =
      for round <- 0..3 do
        Task.async(fn ->
          Process.sleep(round * 150)
          all_cases("killed-#{round}", client)
        end)
      end

    jobs = [Task.async(fn -> watches_across_a_kill(client) end), Task.async(fn -> holds_across_a_kill(client) end) | rounds]
    assert jobs |> Task.await_many(90_000) |> List.flatten() == []
  end

  # Entries are appended while the leader is killed: a watch and the feed of changes have each once.
  defp watches_across_a_kill(client) do
    client = Dormouse.with_options(client, scope: Cluster.fresh("watch"))
    entries = 60
    {:ok, %{index: index}} = Dormouse.call(client, "POST", "/v1/threads/{id}/entries", params: [id: "t"], body: %{entries: [%{id: "e0"}]})
    watch = Task.async(fn -> client |> Threads.watch("t") |> Enum.take(entries) end)
    feed = Task.async(fn -> client |> Dormouse.changes(from_index: index, prefix: "threads/t") |> Enum.take(entries) end)

    for n <- 1..(entries - 1) do
      if n == 15, do: Cluster.kill()
      assert {:ok, _} = Threads.append(client, "t", [%{id: "e#{n}"}], expected_rev: n)
    end

    [watched, changed] = Task.await_many([watch, feed], 30_000)
    assert for(entry <- watched, do: {entry["seq"], entry["id"]}) == for(n <- 0..(entries - 1), do: {n, "e#{n}"})
    assert for({change, _place} <- changed, do: change["rev"]) == Enum.to_list(1..entries)
    []
  end

  # A claim is held across the kill of the leader, and passes on when it is released.
  defp holds_across_a_kill(client) do
    client = Dormouse.with_options(client, scope: Cluster.fresh("hold"))
    {:ok, hold} = Claims.hold(client, "c", "a", ttl_ms: 12_000)
    me = self()

    next =
      Task.async(fn ->
        {:ok, second} = Claims.hold(client, "c", "b", ttl_ms: 12_000, wait: true)
        send(me, :taken)
        receive do: (:end -> Hold.check(second))
        assert {:error, %Refused{code: "fenced"}} = Checkpoints.put(Dormouse.fenced(client, hold.fence), "k", %{state: %{}})
        second.fence.epoch
      end)

    Process.sleep(13_000)
    assert Hold.check(hold) == :ok
    assert {:ok, _} = Checkpoints.put(Dormouse.fenced(client, hold.fence), "k", %{state: %{}})
    assert Hold.release(hold) == :ok
    assert_receive :taken, 20_000
    send(next.pid, :end)
    assert Task.await(next) > hold.fence.epoch
    []
  end

  test "bytes of entries and of values are kept as they are" do
    client = Cluster.client("bytes")
    data = :binary.copy(for(n <- 0..255, into: "", do: <<n>>), 4096)
    assert {:ok, _} = Threads.append_bytes(client, "t", data, content_type: "image/png", entry: "e0", kind: "image", expected_rev: 0)
    assert Threads.entry_bytes(client, "t", "e0") == {:ok, data}
    assert {:ok, %{"content_type" => "image/png"}} = Threads.entry(client, "t", "e0")
    assert {:ok, _} = Values.put(client, "k", data)
    assert {:ok, %Values{data: ^data, content_type: "application/octet-stream", revision: 1, incarnation: first}} = Values.get(client, "k")

    # A revision counts in one incarnation of the key.
    assert {:ok, _} = Values.delete(client, "k", if_revision: 1, if_incarnation: first)
    assert {:ok, _} = Values.put(client, "k", data)
    assert {:error, %Refused{code: "deleted"}} = Values.put(client, "k", "late", if_revision: 1, if_incarnation: first)
  end

  test "bytes that are no UTF-8 arrive as the replacement character" do
    client = Cluster.client("text")
    assert {:ok, _} = Checkpoints.put(client, "k", %{state: %{text: <<"half ", 0xED, 0xA0, 0xBD>>}})
    assert {:ok, %{"state" => %{"text" => "half \uFFFD"}}} = Checkpoints.get(client, "k")
  end

  test "the example of the README runs" do
    [_all, example] = Regex.run(~r/```elixir\n(.*?)```/s, File.read!(Path.expand("../README.md", __DIR__)))
    hosts = ~s("http://127.0.0.1:7600", "http://127.0.0.1:7610", "http://127.0.0.1:7620")
    assert example =~ hosts
    program = String.replace(example, hosts, Enum.map_join(Cluster.endpoints(), ", ", &inspect/1))
    assert ExUnit.CaptureIO.capture_io(fn -> Code.eval_string(program) end) =~ ~s({0, %{"text" => "Hello"}})
  end
end
