defmodule Dormouse.Jidoka.SessionStore do
  @moduledoc """
  The sessions of Jidoka, as a durable `Jidoka.Session.Store`.

      store = {Dormouse.Jidoka.SessionStore, client: MyApp.Dormouse}

  Options: `:client` (required), `:prefix` (`"jidoka/sessions"`), and those of a transition, such as
  `:lease_ttl_ms`, `:owner_id` and `:clock`.

  A session is one value. Each transition reads it, applies Jidoka's own rules
  (`Jidoka.Session.Transitions`, or the module in `:transitions`) and writes it back only if its
  incarnation and revision are still the same. So of workers on any node that claim or recover a
  session exactly one succeeds. A write that ends as `%Dormouse.Unknown{}` may have been applied: read
  the session again.
  """

  alias Dormouse.{Refused, Term, Transport, Values}

  if match?({:module, _}, Code.ensure_compiled(Jidoka.Session.Store)), do: @behaviour(Jidoka.Session.Store)

  @transitions Module.concat(["Jidoka", "Session", "Transitions"])

  # Attempts of a transition while other workers change the session at the same time.
  @attempts_max 20

  def put_session(session, opts), do: transition(session.session_id, opts, :create, &apply(transitions(opts), :put, [&1, session]))

  def get_session(session_id, opts) do
    with {:ok, session, _version} <- read(session_id, opts), do: {:ok, session}
  end

  def list_sessions(opts), do: list(opts, nil, [])

  def claim_session(session_id, request, opts), do: timed(session_id, opts, :claim, &[&1, request, &2])
  def claim_resume(session_id, opts), do: timed(session_id, opts, :resume, &[&1, &2])
  def recover_session(session_id, opts), do: timed(session_id, opts, :recover, &[&1, &2])
  def checkpoint_session(session_id, lease_id, snapshot, opts), do: timed(session_id, opts, :checkpoint, &[&1, lease_id, snapshot, &2])
  def commit_session(session_id, lease_id, session, opts), do: timed(session_id, opts, :commit, &[&1, lease_id, session, &2])
  def renew_session(session_id, lease_id, opts), do: timed(session_id, opts, :renew, &[&1, lease_id, &2])

  # A transition gets the time at which its attempt began, unless the caller gives one.
  defp timed(session_id, opts, name, args) do
    transition(session_id, opts, :existing, fn session ->
      now = Keyword.get_lazy(opts, :now_ms, Keyword.get(opts, :clock) || fn -> System.system_time(:millisecond) end)
      apply(transitions(opts), name, args.(session, Keyword.put(opts, :now_ms, now)))
    end)
  end

  defp transition(session_id, opts, missing, change, attempt \\ 1) do
    with {:ok, before, version} <- current(session_id, opts, missing),
         {:ok, session} <- change.(before),
         {:ok, _stamp} <- write(session_id, session, version, opts) do
      {:ok, session}
    else
      {:changed, _refused} when attempt < @attempts_max ->
        Process.sleep(Transport.backoff(min(attempt - 1, 3)))
        transition(session_id, opts, missing, change, attempt + 1)

      {:changed, refused} ->
        {:error, refused}

      error ->
        error
    end
  end

  defp current(session_id, opts, missing) do
    case {read(session_id, opts), missing} do
      {{:error, {:session_not_found, _id}}, :create} -> {:ok, nil, [if_revision: 0]}
      {result, _missing} -> result
    end
  end

  defp read(session_id, opts) do
    case Values.get(client(opts), key(session_id, opts), call(opts)) do
      {:ok, value} -> with {:ok, session} <- Term.decode(value.data), do: {:ok, session, version(value)}
      {:error, %Refused{code: "not_found"}} -> {:error, {:session_not_found, session_id}}
      error -> error
    end
  end

  defp version(%Values{incarnation: 0} = value), do: [if_revision: value.revision]
  defp version(value), do: [if_revision: value.revision, if_incarnation: value.incarnation]

  defp write(session_id, session, version, opts) do
    case Values.put(client(opts), key(session_id, opts), Term.encode(session), version ++ [content_type: Term.content_type()] ++ call(opts)) do
      {:error, %Refused{code: "revision_mismatch"} = refused} ->
        {:changed, refused}

      # The session that was read is deleted. Without an incarnation, the key is sealed, and stays so.
      {:error, %Refused{code: "deleted"} = refused} = error ->
        if version[:if_incarnation], do: {:changed, refused}, else: error

      result ->
        result
    end
  end

  defp list(opts, after_key, done) do
    query = [prefix: key("", opts), include: "body", after: after_key]

    with {:ok, page} <- Values.list(client(opts), query, call(opts)),
         {:ok, sessions} <- decoded(page["items"]) do
      done = [sessions | done]
      if page["next"], do: list(opts, page["next"], done), else: {:ok, done |> Enum.reverse() |> Enum.concat() |> Enum.sort_by(& &1.session_id)}
    end
  end

  defp decoded(items) do
    Enum.reduce_while(Enum.reverse(items), {:ok, []}, fn item, {:ok, done} ->
      case item["body"] |> Base.decode64!() |> Term.decode() do
        {:ok, session} -> {:cont, {:ok, [session | done]}}
        error -> {:halt, error}
      end
    end)
  end

  defp transitions(opts), do: Keyword.get(opts, :transitions, @transitions)
  defp client(opts), do: opts |> Keyword.fetch!(:client) |> Dormouse.client()
  defp call(opts), do: Keyword.take(opts, [:timeout_ms, :scope])
  defp key(session_id, opts), do: "#{Keyword.get(opts, :prefix, "jidoka/sessions")}/#{session_id}"
end
