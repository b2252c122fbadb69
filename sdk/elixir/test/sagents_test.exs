defmodule Dormouse.SagentsTest do
  use ExUnit.Case, async: true
  alias Dormouse.{Conversations, Refused}
  alias Dormouse.Test.Cluster

  @moduletag :cluster

  def keyspace(tenant), do: "ex-sagents-#{tenant}"

  defmodule States do
    use Dormouse.Sagents.AgentPersistence, client: Dormouse.SagentsTest.Client, scope: &Dormouse.SagentsTest.keyspace/1
  end

  defmodule OtherNode do
    use Dormouse.Sagents.AgentPersistence, client: Dormouse.SagentsTest.Other, scope: &Dormouse.SagentsTest.keyspace/1
  end

  defmodule Messages do
    use Dormouse.Sagents.DisplayMessagePersistence, client: Dormouse.SagentsTest.Client, scope: &Dormouse.SagentsTest.keyspace/1
  end

  setup_all do
    for name <- [Dormouse.SagentsTest.Client, Dormouse.SagentsTest.Other] do
      start_supervised!({Dormouse, name: name, endpoints: Cluster.endpoints(), token: System.get_env("DORMOUSE_TOKEN")})
    end

    :ok
  end

  setup do
    tenant = Cluster.fresh("t")
    client = Dormouse.with_options(Dormouse.client(Dormouse.SagentsTest.Client), scope: "ex-sagents-#{tenant}")
    %{tenant: tenant, client: client, context: %{agent_id: "helper", conversation_id: "c1", user_request_seq: 2}}
  end

  defp state(text), do: %{"version" => 2, "state" => %{"messages" => [text]}, "serialized_at" => "2026-01-01T00:00:00Z"}
  defp save(module, tenant, text, context), do: module.persist_state(tenant, state(text), Map.put(context, :lifecycle, :on_completion))

  test "a state is loaded as it was saved, by tenant and conversation", %{tenant: tenant, context: context} do
    assert States.load_state(tenant, context) == {:error, :not_found}
    assert save(States, tenant, "one", context) == :ok
    assert save(States, tenant, "two", context) == :ok
    assert States.load_state(tenant, context) == {:ok, state("two")}
    assert States.load_state(tenant, %{context | conversation_id: "c2"}) == {:error, :not_found}
    assert States.load_state(tenant <> "x", context) == {:error, :not_found}
    assert {:error, %Refused{code: "forbidden"}} = States.load_state(tenant, %{context | agent_id: "thief"})
  end

  test "each lifecycle is saved, also without a conversation", %{tenant: tenant, context: context, client: client} do
    context = %{context | conversation_id: nil}

    for lifecycle <- [:on_completion, :on_cancel, :on_error, :on_interrupt, :on_title_generated, :on_shutdown] do
      assert States.persist_state(tenant, state("x"), Map.put(context, :lifecycle, lifecycle)) == :ok
      assert {:ok, %{"lifecycle" => saved}} = Conversations.get(client, "helper")
      assert "on_" <> saved == Atom.to_string(lifecycle)
    end
  end

  test "an agent that was replaced on another node cannot overwrite the newer state", %{tenant: tenant, context: context} do
    assert save(States, tenant, "old", context) == :ok
    assert OtherNode.load_state(tenant, context) == {:ok, state("old")}
    assert save(OtherNode, tenant, "new", context) == :ok
    assert {:error, %Refused{code: "revision_mismatch"}} = save(States, tenant, "late", context)
    assert States.load_state(tenant, context) == {:ok, state("new")}
    assert save(States, tenant, "newer", context) == :ok
  end

  test "conversations that wait for a person are found", %{tenant: tenant, context: context, client: client} do
    assert save(States, tenant, "x", context) == :ok
    assert States.set_interrupted(tenant, context, true) == :ok
    assert {:ok, %{"items" => [%{"id" => "c1"}]}} = Conversations.list(client, interrupted: true)
    assert States.set_interrupted(tenant, context, false) == :ok
    assert {:ok, %{"items" => []}} = Conversations.list(client, interrupted: true)
  end

  @items [
    %{type: :thinking, message_type: :assistant, content: %{"text" => "hm"}},
    %{type: :text, message_type: :assistant, content: %{"text" => "Let me see", "stop_reason" => "length"}},
    %{type: :tool_call, message_type: :assistant, content: %{"call_id" => "k1", "name" => "search", "arguments" => %{"q" => "x"}}}
  ]

  test "the items of a message are rows in their order, with their content as it is", %{tenant: tenant, context: context, client: client} do
    assert {:ok, [_, text, call]} = Messages.save_message(tenant, @items, context)
    assert text["content"]["stop_reason"] == "length"
    assert text["content"]["user_request_seq"] == 2
    assert "call:k1:" <> _ = call["id"]
    assert Messages.save_message(tenant, [], context) == {:ok, []}
    assert {:ok, %{"items" => rows}} = Conversations.messages(client, "c1")
    assert Enum.map(rows, & &1["type"]) == ["thinking", "text", "tool_call"]
    assert Enum.map(rows, & &1["seq"]) == [0, 1, 2]
  end

  test "a tool call goes through its statuses, and a missing one is not found", %{tenant: tenant, context: context, client: client} do
    assert {:ok, _} = Messages.save_message(tenant, @items, context)

    assert {:ok, %{"status" => "executing", "content" => %{"display_text" => "Searching"}}} =
             Messages.update_tool_status(tenant, :executing, %{call_id: "k1", name: "search", display_text: "Searching"}, context)

    for {status, more} <- [completed: %{result: "found"}, failed: %{error: "gone"}, interrupted: %{}, cancelled: %{}] do
      assert {:ok, %{"status" => saved}} = Messages.update_tool_status(tenant, status, Map.merge(%{call_id: "k1"}, more), context)
      assert saved == Atom.to_string(status)
    end

    assert {:ok, %{"items" => rows}} = Conversations.messages(client, "c1", tail: 1)

    assert [%{"status" => "cancelled", "content" => %{"arguments" => %{"q" => "x"}, "display_text" => "Searching", "result" => "found", "error" => "gone"}}] =
             rows

    assert Messages.update_tool_status(tenant, :completed, %{call_id: "k9"}, context) == {:error, :not_found}
    assert Messages.update_tool_status(tenant, :completed, %{call_id: "k1"}, %{context | conversation_id: "none"}) == {:error, :not_found}
  end

  test "calls and results with the id of an earlier call have rows of their own, and a change is one of the newest", %{
    tenant: tenant,
    context: context,
    client: client
  } do
    call = List.last(@items)
    result = %{type: :tool_result, message_type: :tool, content: %{"tool_call_id" => "k1", "name" => "search", "content" => "one"}}
    assert {:ok, [_]} = Messages.save_message(tenant, [call], context)
    assert {:ok, _} = Messages.update_tool_status(tenant, :completed, %{call_id: "k1", result: "one"}, context)
    assert {:ok, [_]} = Messages.save_message(tenant, [result], context)
    assert {:ok, [_]} = Messages.save_message(tenant, [call], context)
    assert {:ok, [_]} = Messages.save_message(tenant, [put_in(result.content["content"], "two")], context)
    assert {:ok, _} = Messages.update_tool_status(tenant, :failed, %{call_id: "k1", error: "gone"}, context)
    assert {:ok, _} = Messages.resolve_tool_result(tenant, "k1", "three", context)

    # Far from the end, too.
    text = %{type: :text, message_type: :user, content: %{"text" => "x"}}
    assert {:ok, _} = Messages.save_message(tenant, List.duplicate(text, 60), context)
    assert {:ok, _} = Messages.update_tool_status(tenant, :cancelled, %{call_id: "k1"}, context)
    assert {:ok, %{"items" => rows}} = Conversations.messages(client, "c1", limit: 4)

    assert Enum.map(rows, &{&1["type"], &1["status"]}) |> Enum.reject(&(elem(&1, 0) == "tool_result")) == [
             {"tool_call", "completed"},
             {"tool_call", "cancelled"}
           ]

    assert for(%{"type" => "tool_result"} = row <- rows, do: row["content"]["content"]) == ["one", "three"]
  end

  test "an interrupted result is resolved, also far from the end", %{tenant: tenant, context: context} do
    result = %{type: :tool_result, message_type: :tool, content: %{"tool_call_id" => "k1", "name" => "ask", "content" => "...", "is_interrupt" => true}}
    assert {:ok, [_]} = Messages.save_message(tenant, [result], context)
    text = %{type: :text, message_type: :user, content: %{"text" => "x"}}
    assert {:ok, _} = Messages.save_message(tenant, List.duplicate(text, 60), context)
    assert {:ok, %{"content" => %{"content" => "yes", "is_interrupt" => false, "name" => "ask"}}} = Messages.resolve_tool_result(tenant, "k1", "yes", context)
    assert Messages.resolve_tool_result(tenant, "k2", "yes", context) == {:error, :not_found}
  end

  test "a message of middleware is saved", %{tenant: tenant, context: context, client: client} do
    attrs = %{message_type: "user", content_type: "text", content: %{"text" => "Yes"}, metadata: %{"by" => "ask_user"}}
    assert {:ok, %{"content" => %{"metadata" => %{"by" => "ask_user"}}}} = Messages.save_synthetic_message(tenant, attrs, context)
    assert {:ok, %{"items" => [%{"synthetic" => true, "role" => "user"}]}} = Conversations.messages(client, "c1")
  end
end

defmodule Dormouse.SagentsOutcomesTest do
  use ExUnit.Case, async: true
  import Dormouse.Test.Node, only: [answer: 1, problem: 2, scripted: 1]
  alias Dormouse.{Refused, Unknown}
  alias Dormouse.Sagents.AgentPersistence

  @none problem("not_found", 404)
  @unknown problem("internal", 500)

  defp save(client, text),
    do: AgentPersistence.persist_state([client: client], nil, %{text: text}, %{agent_id: "a", conversation_id: "c", lifecycle: :on_completion})

  # The saves that the node got: their keys, texts and the revisions on which they build.
  defp saves(got) do
    for %{method: "PUT"} = each <- got.() do
      {:ok, %{"state" => %{"text" => text}, "if_revision" => revision}} = Dormouse.JSON.decode(each.body)
      {each.headers["idempotency-key"], text, revision}
    end
  end

  test "an interrupt is noted with the arguments in the order of the callback" do
    {client, got} = scripted([answer(%{id: "c", interrupted: true})])
    assert AgentPersistence.set_interrupted([client: client], nil, %{agent_id: "a", conversation_id: "c"}, true) == :ok
    assert [%{target: "/v1/conversations/c/interrupted", body: ~s({"interrupted":true})}] = got.()
  end

  test "a save learns first what came of one whose outcome was unknown, and builds on it" do
    {client, got} = scripted([@none, @unknown, problem("forbidden", 403), answer(%{revision: 1}), answer(%{revision: 2})])
    assert {:error, %Unknown{idempotency_key: key}} = save(client, "one")
    assert {:error, %Refused{code: "forbidden"}} = save(client, "two")
    assert save(client, "three") == :ok
    assert [{^key, "one", 0}, {^key, "one", 0}, {^key, "one", 0}, {_other, "three", 1}] = saves(got)
  end

  test "a save builds on the one before that whose outcome was unknown, if that was not applied" do
    {client, got} = scripted([@none, answer(%{revision: 1}), @unknown, problem("too_large", 413), answer(%{revision: 2}), answer(%{revision: 3})])
    assert save(client, "one") == :ok
    assert {:error, %Unknown{}} = save(client, "two")
    assert save(client, "three") == :ok
    assert save(client, "four") == :ok
    assert [{_, "one", 0}, {key, "two", 1}, {key, "two", 1}, {_, "three", 1}, {_, "four", 2}] = saves(got)
  end
end
