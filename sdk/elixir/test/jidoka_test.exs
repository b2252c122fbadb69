defmodule Dormouse.JidokaTest do
  use ExUnit.Case, async: true
  alias Dormouse.Jidoka.{MemoryStore, SessionStore}
  alias Dormouse.Test.Cluster
  alias Jidoka.Memory.Entry

  @moduletag :cluster

  setup do
    %{opts: [client: Cluster.client("jidoka"), owner_id: "w1"]}
  end

  defp session(id),
    do: %{session_id: id, agent_id: "a", revision: 0, status: :new, requests: [], snapshots: [], lease: nil, result: nil, spec: {:module, %{x: 1}}}

  defp at(opts, now), do: [now_ms: now, lease_ttl_ms: 50] ++ opts

  # Transitions during whose first claim another changes the session.
  defmodule Meanwhile do
    def claim(session, request, opts) do
      if change = Process.delete(:meanwhile), do: change.()
      Jidoka.Session.Transitions.claim(session, request, opts)
    end
  end

  describe "sessions" do
    test "a session is read as it was put, and a missing one is an error", %{opts: opts} do
      assert SessionStore.get_session("s", opts) == {:error, {:session_not_found, "s"}}
      assert SessionStore.claim_resume("s", opts) == {:error, {:session_not_found, "s"}}
      assert SessionStore.put_session(session("s"), opts) == {:ok, session("s")}
      assert SessionStore.get_session("s", opts) == {:ok, session("s")}
    end

    test "sessions are listed by id", %{opts: opts} do
      assert SessionStore.list_sessions(opts) == {:ok, []}
      for id <- ["b", "a/1", "a"], do: assert({:ok, _} = SessionStore.put_session(session(id), opts))
      assert {:ok, sessions} = SessionStore.list_sessions(opts)
      assert Enum.map(sessions, & &1.session_id) == ["a", "a/1", "b"]
    end

    test "a put of an older revision, and one under a lease, are refused", %{opts: opts} do
      assert {:ok, _} = SessionStore.put_session(%{session("s") | revision: 3}, opts)
      assert SessionStore.put_session(session("s"), opts) == {:error, {:stale_session_revision, "s", "s", 3, 0}}
      assert {:ok, _} = SessionStore.claim_session("s", %{request_id: "r1"}, opts)
      assert SessionStore.put_session(%{session("s") | revision: 9}, opts) == {:error, {:session_lease_required, "s"}}
    end

    test "a lapsed turn passes to another owner, and the first one can no longer commit", %{opts: opts} do
      {:ok, _} = SessionStore.put_session(session("s"), opts)

      assert {:ok, %{status: :running, revision: 1, lease: %{lease_id: first, expires_at_ms: 150}}} =
               SessionStore.claim_session("s", %{request_id: "r1"}, at(opts, 100))

      assert SessionStore.claim_session("s", %{request_id: "r2"}, at(opts, 101)) == {:error, {:session_already_running, "s"}}
      assert {:ok, %{revision: 2, lease: %{expires_at_ms: 160}}} = SessionStore.checkpoint_session("s", first, %{snapshot_id: "n1"}, at(opts, 110))
      assert SessionStore.recover_session("s", at(opts, 159)) == {:error, {:session_lease_active, "s", "w1", 160}}
      assert {:error, {:session_lease_expired, "s", ^first, 160}} = SessionStore.checkpoint_session("s", first, %{snapshot_id: "n2"}, at(opts, 160))
      assert {:ok, %{revision: 3, lease: %{lease_id: second}} = recovered} = SessionStore.recover_session("s", at([owner_id: "w2"] ++ opts, 160))
      assert SessionStore.commit_session("s", first, %{recovered | status: :finished}, at(opts, 161)) == {:error, {:stale_session_lease, "s", first}}
      assert {:ok, %{revision: 4, lease: %{expires_at_ms: 212}}} = SessionStore.renew_session("s", second, at(opts, 162))
      assert {:ok, %{revision: 5, lease: nil, status: :finished}} = SessionStore.commit_session("s", second, %{recovered | status: :finished}, at(opts, 163))
    end

    test "of claims and recoveries at the same time one succeeds", %{opts: opts} do
      {:ok, _} = SessionStore.put_session(session("s"), opts)
      at_once = fn run -> 1..8 |> Task.async_stream(run, max_concurrency: 8, timeout: 30_000) |> Enum.map(&elem(&1, 1)) end
      claims = at_once.(fn n -> SessionStore.claim_session("s", %{request_id: "r#{n}"}, at(opts, 100)) end)
      assert Enum.count(claims, &match?({:ok, _}, &1)) == 1
      assert Enum.count(claims, &(&1 == {:error, {:session_already_running, "s"}})) == 7
      recoveries = at_once.(fn _n -> SessionStore.recover_session("s", at(opts, 200)) end)
      assert [{:ok, %{lease: lease}}] = Enum.filter(recoveries, &match?({:ok, _}, &1))
      assert {:ok, %{lease: ^lease}} = SessionStore.get_session("s", opts)
    end

    test "a session that is deleted and put again during a transition is kept", %{opts: opts} do
      again = %{session("s") | spec: {:module, %{x: 2}}}
      {:ok, _} = SessionStore.put_session(session("s"), opts)

      Process.put(:meanwhile, fn ->
        {:ok, _} = Dormouse.Values.delete(opts[:client], "jidoka/sessions/s")
        {:ok, _} = SessionStore.put_session(again, opts)
      end)

      assert {:ok, %{spec: {:module, %{x: 2}}}} = SessionStore.claim_session("s", %{request_id: "r1"}, [transitions: Meanwhile] ++ at(opts, 100))
      assert {:ok, %{spec: {:module, %{x: 2}}, status: :running}} = SessionStore.get_session("s", opts)
    end

    test "a hibernated session is claimed for resume once", %{opts: opts} do
      {:ok, _} = SessionStore.put_session(%{session("s") | status: :hibernated, requests: [%{request_id: "r1"}]}, opts)
      assert {:ok, %{lease: %{request_id: "r1"}}} = SessionStore.claim_resume("s", [clock: fn -> 7 end] ++ opts)
      {:ok, _} = SessionStore.put_session(session("n"), opts)
      assert SessionStore.claim_resume("n", opts) == {:error, {:session_not_resumable, "n", :new}}
    end
  end

  defp write(opts, id, fields), do: MemoryStore.write(%{entry: struct!(%Entry{id: id, agent_id: "a", content: id}, fields)}, opts)

  defp recalled(opts, fields) do
    request = Map.merge(%{agent_id: "a", session_id: nil, scope: :agent, query: "any", limit: 5}, Map.new(fields))
    assert {:ok, %{entries: entries, request: ^request}} = MemoryStore.recall(request, opts)
    Enum.map(entries, & &1.id)
  end

  describe "memories" do
    test "the entries that were written last come first, and a write again moves one there", %{opts: opts} do
      for id <- ["m1", "m2", "m3"], do: assert({:ok, %{status: :ok}} = write(opts, id, []))
      assert recalled(opts, []) == ["m3", "m2", "m1"]
      assert {:ok, _} = write(opts, "m1", content: "new")
      assert recalled(opts, limit: 2) == ["m1", "m3"]
      assert recalled(opts, agent_id: "b") == []
    end

    test "scopes select by session", %{opts: opts} do
      for {id, session} <- [{"none", nil}, {"one", "s1"}, {"two", "s2"}], do: assert({:ok, _} = write(opts, id, session_id: session))
      assert recalled(opts, scope: :agent) == ["none"]
      assert recalled(opts, scope: :agent, session_id: "s1") == ["one", "none"]
      assert recalled(opts, scope: :session, session_id: "s2") == ["two"]
      assert MemoryStore.recall(%{scope: :session, session_id: nil}, opts) == {:error, :missing_memory_session_id}
    end

    test "an entry is read as it was written, with metadata of any terms", %{opts: opts} do
      for {id, metadata} <- [{"json", %{"a" => [1, nil]}}, {"terms", %{at: {1, :x}}}] do
        assert {:ok, %{entry: entry}} = write(opts, id, metadata: metadata, session_id: "s")
        assert {:ok, %{entries: [^entry | _]}} = MemoryStore.recall(%{agent_id: "a", session_id: "s", scope: :session, query: "q", limit: 1}, opts)
      end

      assert {:ok, entries} = MemoryStore.list_entries([agent_id: "a"] ++ opts)
      assert Enum.map(entries, & &1.id) == ["json", "terms"]
      assert {:error, {:missing_option, :agent_id}} = MemoryStore.list_entries(opts)
    end

    test "the query ranks in mode text", %{opts: opts} do
      assert {:ok, _} = write(opts, "tea", content: "Ada likes green tea")
      assert {:ok, _} = write(opts, "late", content: "The parcel is late")
      assert recalled([mode: :text] ++ opts, query: "tea") == ["tea"]
    end

    test "a query of any length and a blank one recall entries", %{opts: opts} do
      for {id, content} <- [{"tea", "Ada likes green tea"}, {"late", "The parcel is late"}], do: assert({:ok, _} = write(opts, id, content: content))
      long = ["tea " <> String.duplicate("x", 8995) <> " parcel", "tea " <> String.duplicate("é", 4498), String.duplicate(" ", 9000) <> "tea"]

      for query <- long do
        assert recalled([mode: :text] ++ opts, query: query) == ["tea"]
        assert recalled(opts, query: query) == ["late", "tea"]
      end

      for query <- ["", "  ", nil], mode <- [:recent, :text], do: assert(recalled([mode: mode] ++ opts, query: query) == ["late", "tea"])
    end
  end
end
