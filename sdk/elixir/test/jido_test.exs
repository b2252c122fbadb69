defmodule Dormouse.JidoTest do
  use ExUnit.Case, async: true
  alias Dormouse.Jido.Storage
  alias Dormouse.Test.Cluster
  alias Jido.Thread.Entry

  @moduletag :cluster

  setup do
    client = Cluster.client("jido")
    %{opts: [client: client], client: client}
  end

  describe "checkpoints" do
    test "a missing checkpoint is absent, and deleting it succeeds", %{opts: opts} do
      assert Storage.get_checkpoint({:agent, "a"}, opts) == :not_found
      assert Storage.delete_checkpoint({:agent, "a"}, opts) == :ok
    end

    test "a checkpoint of any term is read as it was written, overwritten and deleted", %{opts: opts} do
      for data <- [%{version: 1, state: %{mood: :awake, pair: {1, "x"}}, thread: %{id: "t", rev: 2}}, nil, [1.5, :a], <<0, 255>>] do
        assert Storage.put_checkpoint(:key, data, opts) == :ok
        assert Storage.get_checkpoint(:key, opts) == {:ok, data}
      end

      assert Storage.delete_checkpoint(:key, opts) == :ok
      assert Storage.get_checkpoint(:key, opts) == :not_found
    end

    test "keys differ by value and type, and prefixes are apart", %{opts: opts} do
      keys = [:a, "a", {:a}, ["a"], %{a: 1}, %{"a" => 1}, {:a, 1}, {:a, 1.0}, 1, nil]
      for {key, n} <- Enum.with_index(keys), do: assert(Storage.put_checkpoint(key, n, opts) == :ok)
      for {key, n} <- Enum.with_index(keys), do: assert(Storage.get_checkpoint(key, opts) == {:ok, n})
      assert Storage.get_checkpoint(:a, [prefix: "other"] ++ opts) == :not_found
    end

    test "a value that is no term, and an atom that this VM does not know, are an error", %{opts: opts, client: client} do
      key = "jido/checkpoints/" <> Dormouse.Term.name(:k)

      for bytes <- ["no term", <<131, 119, 9, "qz_unseen">>] do
        assert {:ok, _} = Dormouse.Values.put(client, key, bytes)
        assert Storage.get_checkpoint(:k, opts) == {:error, :invalid_term}
      end
    end
  end

  describe "threads" do
    test "the first append assigns seqs from 0, and a later one goes on", %{opts: opts} do
      assert Storage.load_thread("t", opts) == :not_found

      assert {:ok, thread} =
               Storage.append_thread("t", [%{id: "a", seq: 9, at: 5}, %Entry{kind: :message, payload: %{role: :user}}], [metadata: %{mood: "x"}] ++ opts)

      assert %Jido.Thread{id: "t", rev: 2, metadata: %{mood: "x"}, stats: %{entry_count: 2}} = thread

      assert [%Entry{id: "a", seq: 0, at: 5, kind: :note, payload: %{}, refs: %{}}, %Entry{id: "entry_" <> _, seq: 1, kind: :message, payload: %{role: :user}}] =
               thread.entries

      assert {:ok, %{rev: 3, entries: [_, _, %{seq: 2}]} = longer} = Storage.append_thread("t", %{id: "c"}, opts)
      assert longer.created_at == thread.created_at
      assert longer.metadata == thread.metadata
      assert Storage.load_thread("t", opts) == {:ok, longer}
    end

    test "fields have atoms or strings as keys, atoms first, and nil and false take the default", %{opts: opts} do
      entry = %{"id" => "s", :id => "a", "kind" => :tool_call, "payload" => %{"x" => 1}, :refs => false, :at => nil}
      assert {:ok, %{entries: [entry, other]}} = Storage.append_thread("t", [entry, %{}], opts)
      assert %Entry{id: "a", kind: :tool_call, payload: %{"x" => 1}, refs: %{}} = entry
      assert entry.at == other.at
    end

    test "an entry that could not be read again is refused, and nothing is written", %{opts: opts} do
      for {field, value} <- [kind: "message", payload: [1], refs: "x"] do
        assert Storage.append_thread("t", [%{}, %{field => value}], opts) == {:error, {:invalid_entry, field, value}}
      end

      assert {:error, {:invalid_entry, :entry, 7}} = Storage.append_thread("t", [7], opts)
      assert Storage.load_thread("t", opts) == :not_found
    end

    test "an expected rev decides", %{opts: opts} do
      append = fn rev -> Storage.append_thread("t", [%{}], [expected_rev: rev] ++ opts) end
      assert append.(1) == {:error, :conflict}
      assert Storage.load_thread("t", opts) == :not_found
      assert {:ok, %{rev: 1}} = append.(0)
      assert append.(0) == {:error, :conflict}
      assert append.("1") == {:error, :conflict}
      assert {:ok, %{rev: 2}} = append.(1)
      assert {:ok, %{rev: 3}} = append.(nil)
    end

    test "of appends with the same expected rev one succeeds, and all without one do", %{opts: opts} do
      at_once = fn options ->
        1..12
        |> Task.async_stream(fn n -> Storage.append_thread("t", [%{payload: %{n: n}}], options ++ opts) end, max_concurrency: 12)
        |> Enum.map(&elem(&1, 1))
      end

      results = at_once.(expected_rev: 0)
      assert Enum.count(results, &match?({:ok, _}, &1)) == 1
      assert Enum.count(results, &(&1 == {:error, :conflict})) == 11
      assert Enum.all?(at_once.([]), &match?({:ok, _}, &1))
      assert {:ok, %{rev: 13, entries: entries}} = Storage.load_thread("t", opts)
      assert Enum.map(entries, & &1.seq) == Enum.to_list(0..12)
    end

    test "an empty append records the thread", %{opts: opts} do
      assert {:ok, %{rev: 0, entries: [], metadata: %{mood: "x"}}} = Storage.append_thread("t", [], [metadata: %{mood: "x"}] ++ opts)
      assert {:ok, %{rev: 0}} = Storage.load_thread("t", opts)
      assert Storage.append_thread("t", [], [expected_rev: 3] ++ opts) == {:error, :conflict}
    end

    test "a deleted thread begins anew, and deleting it again succeeds", %{opts: opts} do
      assert {:ok, _} = Storage.append_thread("t", [%{}, %{}], opts)
      assert Storage.delete_thread("t", opts) == :ok
      assert Storage.delete_thread("t", opts) == :ok
      assert {:ok, %{rev: 1, entries: [%{seq: 0}]}} = Storage.append_thread("t", [%{}], [expected_rev: 0] ++ opts)
    end

    test "long threads and large payloads are read whole", %{opts: opts} do
      for part <- 0..2, do: assert({:ok, _} = Storage.append_thread("t", for(n <- 1..900, do: %{payload: %{"n" => part * 900 + n}}), opts))
      assert {:ok, _} = Storage.append_thread("t", [%{payload: %{text: String.duplicate("x", 1_000_000)}}], opts)
      assert {:ok, %{rev: 2701, entries: entries}} = Storage.load_thread("t", opts)
      assert entries |> Enum.take(2700) |> Enum.map(& &1.payload["n"]) == Enum.to_list(1..2700)
      assert byte_size(List.last(entries).payload.text) == 1_000_000
    end

    test "a writer that lost its claim is refused", %{opts: opts, client: client} do
      {:ok, %{"epoch" => epoch}} = Dormouse.Claims.take(client, "agent", "a")
      fenced = [fence: %Dormouse.Fence{claim: "agent", epoch: epoch}] ++ opts
      assert Storage.put_checkpoint(:k, 1, fenced) == :ok
      {:ok, _} = Dormouse.Claims.release(client, "agent", "a", epoch)
      {:ok, _} = Dormouse.Claims.take(client, "agent", "b")
      assert {:error, %Dormouse.Refused{code: "fenced"}} = Storage.put_checkpoint(:k, 2, fenced)
      assert {:error, %Dormouse.Refused{code: "fenced"}} = Storage.append_thread("t", [%{}], fenced)
      assert Storage.get_checkpoint(:k, opts) == {:ok, 1}
    end
  end
end

defmodule Dormouse.JidoOutcomesTest do
  use ExUnit.Case, async: true
  import Dormouse.Test.Node, only: [answer: 1, problem: 2, scripted: 1]
  alias Dormouse.{Refused, Unknown}
  alias Dormouse.Jido.Storage

  test "an append whose thread could not be read afterwards is no refusal" do
    {client, _got} = scripted([answer(%{rev: 1}), problem("forbidden", 403)])
    assert {:error, %Unknown{cause: %Refused{code: "forbidden"}} = unknown} = Storage.append_thread("t", [%{}], client: client)
    assert Exception.message(unknown) =~ "appended"
  end

  test "an append that was refused is a refusal" do
    {client, _got} = scripted([problem("forbidden", 403)])
    assert {:error, %Refused{code: "forbidden"}} = Storage.append_thread("t", [%{}], client: client)
  end

  # Returns metadata as it is read after an append, and the body of that.
  defp written(metadata) do
    {client, got} = scripted([problem("forbidden", 403)])
    assert {:error, %Refused{}} = Storage.append_thread("t", [], client: client, metadata: metadata)
    assert [%{body: body}] = got.()
    {:ok, %{"metadata" => stored}} = Dormouse.JSON.decode(body)
    {read(stored), stored}
  end

  defp read(stored) do
    {client, _got} = scripted([answer(%{incarnation: 1, rev: 0, floor: 0, created_at: 1, updated_at: 2, metadata: stored})])
    with {:ok, thread} <- Storage.load_thread("t", client: client), do: thread.metadata
  end

  test "metadata of any term is read as it was written, and is JSON if that suffices" do
    assert written(%{mood: "x", count: 2}) == {%{mood: "x", count: 2}, %{"mood" => "x", "count" => 2}}

    for metadata <- [%{mood: :awake}, %{"mood" => "x"}, %{pair: {1, 2}}, %{mood: %{deep: 1}}, %{owner: self()}, %{text: <<255>>}] do
      assert {^metadata, stored} = written(metadata)
      assert [{"erlang_external_term", _bytes}] = Map.to_list(stored)
      # Metadata that looks like bytes is none of them.
      assert {^stored, _again} = written(stored)
    end

    assert read(%{"erlang_external_term" => "?"}) == {:error, :invalid_term}
  end

  describe "a thread that changes while its pages are read" do
    defp thread(incarnation, rev), do: answer(%{incarnation: incarnation, rev: rev, floor: 0, created_at: 1, updated_at: 2, metadata: %{}})

    defp page(incarnation, rev, seqs, next) do
      items = for seq <- seqs, do: %{id: "#{incarnation}-#{seq}", seq: seq, at: 1, kind: "note", payload: %{}, refs: %{}}
      answer(%{incarnation: incarnation, rev: rev, floor: 0, items: items, next: next})
    end

    test "is read from the start if another thread has its id" do
      {client, got} = scripted([thread(7, 3), page(7, 3, 0..1, 2), page(9, 3, 2..2, nil), thread(9, 4), page(9, 4, 0..1, 2), page(9, 4, 2..3, nil)])
      assert {:ok, %{rev: 4, entries: entries}} = Storage.load_thread("t", client: client)
      assert Enum.map(entries, & &1.id) == ["9-0", "9-1", "9-2", "9-3"]
      assert length(got.()) == 6
    end

    test "is read from the start if it is shorter now, or was compacted" do
      for changed <- [problem("conflict", 409), problem("compacted", 410)] do
        {client, _got} = scripted([thread(7, 3), page(7, 3, 0..1, 2), changed, thread(9, 1), page(9, 1, 0..0, nil)])
        assert {:ok, %{rev: 1, entries: [%{id: "9-0"}]}} = Storage.load_thread("t", client: client)
      end
    end

    test "is absent if it was deleted" do
      {client, _got} = scripted([thread(7, 3), page(7, 3, 0..1, 2), problem("not_found", 404)])
      assert Storage.load_thread("t", client: client) == :not_found
    end

    test "is an error if a page cannot be read" do
      {client, got} = scripted([thread(7, 3), page(7, 3, 0..1, 2), problem("forbidden", 403)])
      assert {:error, %Refused{code: "forbidden"}} = Storage.load_thread("t", client: client)
      assert length(got.()) == 3
    end
  end
end
