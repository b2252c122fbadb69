defmodule Dormouse.Sagents.DisplayMessagePersistence do
  @moduledoc """
  The messages of Sagents' conversations, as a `Sagents.DisplayMessagePersistence`.

      defmodule MyApp.DisplayMessages do
        use Dormouse.Sagents.DisplayMessagePersistence, client: MyApp.Dormouse
      end

  It takes the options of `Dormouse.Sagents.AgentPersistence`. The items of a message are saved at
  once, in order; their rows are JSON documents with string keys.

  Some providers give each call of a tool the same id. So the `tool_call` of a row is the id of the call
  with a random suffix, and its `content` has the id itself. A change is one of the newest row of a call.
  """

  alias Dormouse.{Conversations, Refused}
  alias Dormouse.Sagents.AgentPersistence

  @helpers Module.concat(["Sagents", "Message", "DisplayHelpers"])

  defmacro __using__(options) do
    quote bind_quoted: [options: options] do
      if match?({:module, _}, Code.ensure_compiled(Sagents.DisplayMessagePersistence)), do: @behaviour(Sagents.DisplayMessagePersistence)
      @dormouse options
      alias Dormouse.Sagents.DisplayMessagePersistence, as: Persistence
      def save_message(scope, message, context), do: Persistence.save_message(@dormouse, scope, message, context)
      def update_tool_status(scope, status, tool_info, context), do: Persistence.update_tool_status(@dormouse, scope, status, tool_info, context)
      def resolve_tool_result(scope, tool_call_id, content, context), do: Persistence.resolve_tool_result(@dormouse, scope, tool_call_id, content, context)
      def save_synthetic_message(scope, attrs, context), do: Persistence.save_synthetic_message(@dormouse, scope, attrs, context)
    end
  end

  @doc "Saves the display items of a message and returns their rows."
  def save_message(options, scope, message, context) do
    case apply(@helpers, :extract_display_items, [message]) do
      [] -> {:ok, []}
      items -> save(options, scope, Enum.map(items, &draft(&1, context)), context)
    end
  end

  @doc "Updates the status of a tool call."
  def update_tool_status(options, scope, status, tool_info, context) do
    change(options, scope, context, {"tool_call", "call_id", tool_info.call_id}, fn content ->
      more = for {name, value} <- tool_info, name in [:display_text, :result, :error], into: %{}, do: {Atom.to_string(name), text(value)}
      %{status: Atom.to_string(status), content: Map.merge(content, more)}
    end)
  end

  @doc "Replaces the content of an interrupted result of a tool."
  def resolve_tool_result(options, scope, tool_call_id, content, context) do
    change(options, scope, context, {"tool_result", "tool_call_id", tool_call_id}, fn before ->
      %{content: Map.merge(before, %{"content" => content, "is_interrupt" => false})}
    end)
  end

  @doc "Saves a message that middleware made."
  def save_synthetic_message(options, scope, attrs, context) do
    content = if attrs[:metadata], do: Map.put(attrs.content, "metadata", attrs.metadata), else: attrs.content
    draft = %{role: attrs.message_type, type: attrs.content_type, content: content, synthetic: true}
    with {:ok, [row]} <- save(options, scope, [draft], context), do: {:ok, row}
  end

  defp draft(item, context) do
    content = if context[:user_request_seq], do: Map.put(item.content, "user_request_seq", context.user_request_seq), else: item.content
    draft = %{role: Atom.to_string(item.message_type), type: Atom.to_string(item.type), content: content}

    case item do
      %{type: :tool_call, content: %{"call_id" => id}} -> Map.put(draft, :tool_call, unique(id))
      %{type: :tool_result, content: %{"tool_call_id" => id}} -> Map.put(draft, :tool_call, unique(id))
      _text -> draft
    end
  end

  defp unique(id), do: id <> ":" <> Base.encode16(:crypto.strong_rand_bytes(8), case: :lower)

  defp save(options, scope, drafts, context) do
    client = AgentPersistence.client(options, scope)
    id = AgentPersistence.id(context)

    with {:ok, %{"messages" => stamps}} <- Conversations.save_messages(client, id, %{messages: drafts, agent_id: context.agent_id}) do
      # A row is what was saved, with what the cluster added: its id, seq and times.
      {:ok,
       drafts
       |> Enum.zip(stamps)
       |> Enum.map(fn {draft, stamp} -> draft |> Map.new(fn {name, value} -> {Atom.to_string(name), value} end) |> Map.merge(stamp) end)}
    end
  end

  # One process, the agent's, writes the messages of a conversation, so it does not change in between.
  defp change(options, scope, context, wanted, make) do
    client = AgentPersistence.client(options, scope)
    id = AgentPersistence.id(context)

    with {:ok, row} <- find(client, id, wanted),
         change = make.(row["content"]),
         {:ok, updated} <- Conversations.update_message(client, id, row["id"], change) do
      {:ok, row |> Map.merge(Map.new(change, fn {name, value} -> {Atom.to_string(name), value} end)) |> Map.merge(Map.get(updated, "message", updated))}
    else
      {:error, %Refused{code: "not_found"}} -> {:error, :not_found}
      error -> error
    end
  end

  # Looks for the newest message of a call, first at the end, where it nearly always is.
  defp find(client, id, wanted) do
    with {:ok, page} <- Conversations.messages(client, id, tail: 50) do
      case newest(page["items"], wanted) do
        nil -> find(client, id, wanted, 0, nil)
        row -> {:ok, row}
      end
    end
  end

  defp find(client, id, wanted, from, before) do
    with {:ok, page} <- Conversations.messages(client, id, from: from, limit: 1000) do
      case {newest(page["items"], wanted) || before, page["next"]} do
        {nil, nil} -> {:error, :not_found}
        {row, nil} -> {:ok, row}
        {row, next} -> find(client, id, wanted, next, row)
      end
    end
  end

  defp newest(rows, {type, name, call_id}), do: rows |> Enum.reverse() |> Enum.find(&(&1["type"] == type and &1["content"][name] == call_id))

  defp text(value) when is_binary(value), do: value
  defp text(value), do: if(Dormouse.Term.json?(value), do: value, else: inspect(value))
end
