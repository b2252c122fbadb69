defmodule Dormouse.Sagents.AgentPersistence do
  @moduledoc """
  The states of Sagents' agents, as a `Sagents.AgentPersistence`.

      defmodule MyApp.AgentPersistence do
        use Dormouse.Sagents.AgentPersistence, client: MyApp.Dormouse, scope: &MyApp.Accounts.tenant/1
      end

  `:scope` is a captured function of a module that returns the keyspace of an integrator's scope; without it the client's
  own is used. A conversation is stored under its `conversation_id`, or the `agent_id` if that is nil.

  Each save builds on the one that this VM loaded or saved last. If another node has saved meanwhile,
  the save is refused as `revision_mismatch`, so that an agent that was replaced cannot overwrite its
  successor's state. After a save whose outcome is unknown, the next one learns first what came of it.
  """

  alias Dormouse.{Conversations, Problem, Refused, Unknown}

  # Conversations whose last revision a VM remembers.
  @remembered_max 10_000

  defmacro __using__(options) do
    quote bind_quoted: [options: options] do
      if match?({:module, _}, Code.ensure_compiled(Sagents.AgentPersistence)), do: @behaviour(Sagents.AgentPersistence)
      @dormouse options
      def persist_state(scope, state_data, context), do: Dormouse.Sagents.AgentPersistence.persist_state(@dormouse, scope, state_data, context)
      def load_state(scope, context), do: Dormouse.Sagents.AgentPersistence.load_state(@dormouse, scope, context)
      def set_interrupted(scope, context, interrupted?), do: Dormouse.Sagents.AgentPersistence.set_interrupted(@dormouse, scope, context, interrupted?)
    end
  end

  @doc "Saves the state of an agent."
  def persist_state(options, scope, state_data, context) do
    client = client(options, scope)
    id = id(context)
    "on_" <> lifecycle = Atom.to_string(context.lifecycle)

    with {:ok, revision} <- revision(client, id),
         body = %{state: state_data, lifecycle: lifecycle, agent_id: context.agent_id, if_revision: revision},
         {:ok, _revision} <- save(client, id, body),
         do: :ok
  end

  # Remembers the revision of a save; of one whose outcome is unknown, what sends it again.
  defp save(client, id, body, options \\ []) do
    case Conversations.save(client, id, body, options) do
      {:ok, %{"revision" => revision}} ->
        remember(client, id, revision)
        {:ok, revision}

      {:error, %Unknown{idempotency_key: key}} = error ->
        remember(client, id, {body, key})
        error

      error ->
        error
    end
  end

  @doc "Loads the state of an agent."
  def load_state(options, scope, context) do
    client = client(options, scope)
    id = id(context)

    case Conversations.get(client, id, agent_id: context.agent_id) do
      {:ok, %{"state" => state, "revision" => revision}} ->
        remember(client, id, revision)
        {:ok, state}

      {:ok, %{"revision" => revision}} ->
        # It has messages, and no state yet.
        remember(client, id, revision)
        {:error, :not_found}

      {:error, %Refused{code: "not_found"}} ->
        remember(client, id, 0)
        {:error, :not_found}

      error ->
        error
    end
  end

  @doc "Sets whether a conversation waits for a person."
  def set_interrupted(options, scope, context, interrupted?) do
    with {:ok, _conversation} <- Conversations.set_interrupted(client(options, scope), id(context), %{interrupted: interrupted?}), do: :ok
  end

  @doc false
  def client(options, scope) do
    client = options |> Keyword.fetch!(:client) |> Dormouse.client()
    if options[:scope], do: Dormouse.with_options(client, scope: options[:scope].(scope)), else: client
  end

  @doc false
  def id(%{conversation_id: id}) when is_binary(id), do: id
  def id(%{agent_id: id}), do: id

  # The revision that this VM loaded or saved last; of a conversation that it does not know, the current one.
  defp revision(client, id) do
    case Dormouse.Server.recall(client.server, {client.defaults[:scope], id}) do
      {:ok, {body, key}} ->
        settled(save(client, id, body, idempotency_key: key), client, id, body.if_revision)

      {:ok, revision} ->
        {:ok, revision}

      :error ->
        case Conversations.get(client, id) do
          {:ok, %{"revision" => revision}} -> {:ok, revision}
          {:error, %Refused{code: "not_found"}} -> {:ok, 0}
          error -> error
        end
    end
  end

  # A save that was refused for itself was not applied: the one before it counts.
  defp settled({:error, %Refused{} = refused} = error, client, id, before) do
    if Problem.inconclusive?(refused) do
      error
    else
      remember(client, id, before)
      {:ok, before}
    end
  end

  defp settled(result, _client, _id, _before), do: result

  defp remember(client, id, revision), do: Dormouse.Server.remember(client.server, {client.defaults[:scope], id}, revision, @remembered_max)
end
