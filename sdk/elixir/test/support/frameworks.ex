# Small modules of the same shape as those of the frameworks, whose packages are not installed here.

defmodule Jido.Thread do
  defstruct id: nil, rev: 0, entries: [], created_at: nil, updated_at: nil, metadata: %{}, stats: %{entry_count: 0}
end

defmodule Jido.Thread.Entry do
  defstruct id: nil, seq: 0, at: nil, kind: nil, payload: %{}, refs: %{}
end

defmodule Jido.Storage do
  @callback get_checkpoint(term(), keyword()) :: {:ok, term()} | :not_found | {:error, term()}
  @callback put_checkpoint(term(), term(), keyword()) :: :ok | {:error, term()}
  @callback delete_checkpoint(term(), keyword()) :: :ok | {:error, term()}
  @callback load_thread(String.t(), keyword()) :: {:ok, term()} | :not_found | {:error, term()}
  @callback append_thread(String.t(), list(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback delete_thread(String.t(), keyword()) :: :ok | {:error, term()}
end

defmodule Sagents.AgentPersistence do
  @callback persist_state(term(), map(), map()) :: :ok | {:error, term()}
  @callback load_state(term(), map()) :: {:ok, map()} | {:error, term()}
  @callback set_interrupted(term(), map(), boolean()) :: :ok | {:error, term()}
  @optional_callbacks set_interrupted: 3
end

defmodule Sagents.DisplayMessagePersistence do
  @callback save_message(term(), term(), map()) :: {:ok, list()} | {:error, term()}
  @callback update_tool_status(term(), atom(), map(), map()) :: {:ok, term()} | {:error, term()}
  @callback resolve_tool_result(term(), String.t(), String.t(), map()) :: {:ok, term()} | {:error, term()}
  @callback save_synthetic_message(term(), map(), map()) :: {:ok, term()} | {:error, term()}
  @optional_callbacks resolve_tool_result: 4, save_synthetic_message: 3
end

defmodule Sagents.Message.DisplayHelpers do
  @doc "A message of the tests is the list of its items."
  def extract_display_items(items), do: items
end

defmodule Jidoka.Session.Store do
  @callback put_session(term(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback get_session(String.t(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback list_sessions(keyword()) :: {:ok, list()} | {:error, term()}
  @callback claim_session(String.t(), term(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback claim_resume(String.t(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback recover_session(String.t(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback checkpoint_session(String.t(), String.t(), term(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback commit_session(String.t(), String.t(), term(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback renew_session(String.t(), String.t(), keyword()) :: {:ok, term()} | {:error, term()}
end

defmodule Jidoka.Session.Transitions do
  @moduledoc "The rules of a session's revision and lease. Times come from the caller, in ms."

  @ttl_ms 30_000

  def put(nil, incoming), do: {:ok, incoming}
  def put(%{lease: lease, session_id: id}, _incoming) when lease != nil, do: {:error, {:session_lease_required, id}}
  def put(%{revision: current}, %{revision: revision} = incoming) when revision >= current, do: {:ok, incoming}
  def put(current, incoming), do: {:error, {:stale_session_revision, current.session_id, incoming.session_id, current.revision, incoming.revision}}

  def claim(%{status: :running, session_id: id}, _request, _opts), do: {:error, {:session_already_running, id}}
  def claim(session, request, opts), do: leased(%{session | status: :running, requests: session.requests ++ [request]}, request.request_id, opts)

  def resume(%{status: status} = session, opts) when status in [:hibernated, :waiting], do: leased(session, List.last(session.requests).request_id, opts)
  def resume(session, _opts), do: {:error, {:session_not_resumable, session.session_id, session.status}}

  def recover(%{status: :running, lease: lease} = session, opts) do
    if opts[:now_ms] >= lease.expires_at_ms,
      do: leased(session, lease.request_id, opts),
      else: {:error, {:session_lease_active, session.session_id, lease.owner_id, lease.expires_at_ms}}
  end

  def recover(session, _opts), do: {:error, {:session_not_recoverable, session.session_id, session.status}}

  def checkpoint(session, lease_id, snapshot, opts) do
    with :ok <- held(session, lease_id, opts) do
      snapshots = Enum.reject(session.snapshots, &(&1.snapshot_id == snapshot.snapshot_id)) ++ [snapshot]
      renewed(%{session | snapshots: snapshots}, opts)
    end
  end

  def commit(session, lease_id, completed, opts) do
    with :ok <- held(session, lease_id, opts), do: {:ok, %{completed | lease: nil, revision: session.revision + 1, requests: session.requests}}
  end

  def renew(session, lease_id, opts), do: with(:ok <- held(session, lease_id, opts), do: renewed(session, opts))

  defp held(%{lease: %{lease_id: lease_id} = lease, session_id: id}, lease_id, opts) do
    if opts[:now_ms] >= lease.expires_at_ms, do: {:error, {:session_lease_expired, id, lease_id, lease.expires_at_ms}}, else: :ok
  end

  defp held(session, lease_id, _opts), do: {:error, {:stale_session_lease, session.session_id, lease_id}}

  defp leased(session, request_id, opts) do
    lease = %{lease_id: "lease_#{System.unique_integer([:positive])}", owner_id: opts[:owner_id], request_id: request_id, expires_at_ms: 0}
    renewed(%{session | lease: lease}, opts)
  end

  defp renewed(session, opts) do
    lease = %{session.lease | expires_at_ms: opts[:now_ms] + Keyword.get(opts, :lease_ttl_ms, @ttl_ms)}
    {:ok, %{session | lease: lease, revision: session.revision + 1}}
  end
end

defmodule Jidoka.Memory.Store do
  @callback recall(term(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback write(term(), keyword()) :: {:ok, term()} | {:error, term()}
  @callback list_entries(keyword()) :: {:ok, list()} | {:error, term()}
end

defmodule Jidoka.Memory.Entry do
  defstruct [:id, :agent_id, :session_id, :content, metadata: %{}]
end
