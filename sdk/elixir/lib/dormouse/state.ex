defmodule Dormouse.Values do
  @moduledoc "Bytes under keys."

  @enforce_keys [:data, :content_type, :revision]
  defstruct [:data, :content_type, :revision, incarnation: 0]
  @typedoc "A value. Revisions count in one incarnation of a key; it is 0 from a node of an older version."
  @type t :: %__MODULE__{data: binary(), content_type: String.t(), revision: pos_integer(), incarnation: non_neg_integer()}

  @doc "Writes a value. It takes `:content_type`, `:ttl_ms`, `:if_revision` and `:on_exists` too."
  def put(client, key, data, options \\ []) do
    {query, options} = Keyword.split(options, [:ttl_ms, :if_revision, :if_incarnation, :on_exists])
    Dormouse.json(client, "PUT", "/v1/values/{key}", [params: [key: key], query: query, data: data] ++ options)
  end

  @spec get(Dormouse.t(), String.t(), keyword()) :: Dormouse.result(t())
  def get(client, key, options \\ []) do
    with {:ok, %{headers: headers} = answer} <- Dormouse.call(client, "GET", "/v1/values/{key}", [params: [key: key]] ++ options) do
      {revision, ""} = headers["etag"] |> String.replace(["W/", "\""], "") |> Integer.parse()
      incarnation = String.to_integer(headers["dormouse-incarnation"] || "0")
      {:ok, %__MODULE__{data: answer.data, content_type: headers["content-type"] || "", revision: revision, incarnation: incarnation}}
    end
  end

  def delete(client, key, query \\ [], options \\ []), do: Dormouse.json(client, "DELETE", "/v1/values/{key}", [params: [key: key], query: query] ++ options)
  def list(client, query \\ [], options \\ []), do: Dormouse.json(client, "GET", "/v1/values", [query: query] ++ options)
end

defmodule Dormouse.Checkpoints do
  @moduledoc "The states of agents."

  @path "/v1/checkpoints/{key}"

  @doc "Writes the state. It takes `:if_revision` too, which may also be in the body."
  def put(client, key, body, options \\ []) do
    {revision, options} = Keyword.pop(options, :if_revision)
    body = if revision, do: Map.put(body, :if_revision, revision), else: body
    Dormouse.json(client, "PUT", @path, [params: [key: key], body: body] ++ options)
  end

  @doc "Merges a patch into the state. It takes `:if_revision`, `:upsert` and `:shallow` too."
  def patch(client, key, patch, options \\ []) do
    {query, options} = Keyword.split(options, [:if_revision, :upsert, :shallow])
    Dormouse.json(client, "PATCH", @path, [params: [key: key], query: query, body: patch, content_type: "application/merge-patch+json"] ++ options)
  end

  def get(client, key, options \\ []) do
    {query, options} = Keyword.split(options, [:revision])
    Dormouse.json(client, "GET", @path, [params: [key: key], query: query] ++ options)
  end

  def delete(client, key, query \\ [], options \\ []), do: Dormouse.json(client, "DELETE", @path, [params: [key: key], query: query] ++ options)
  def list(client, query \\ [], options \\ []), do: Dormouse.json(client, "GET", "/v1/checkpoints", [query: query] ++ options)
  def history(client, key, options \\ []), do: Dormouse.json(client, "GET", @path <> "/history", [params: [key: key]] ++ options)
end

defmodule Dormouse.Agents do
  @moduledoc "A checkpoint and its thread together."

  def hibernate(client, key, body, options \\ []), do: Dormouse.json(client, "POST", "/v1/agents/{key}/hibernate", [params: [key: key], body: body] ++ options)
  def thaw(client, key, query \\ [], options \\ []), do: Dormouse.json(client, "GET", "/v1/agents/{key}/thaw", [params: [key: key], query: query] ++ options)
  def erase(client, key, options \\ []), do: Dormouse.json(client, "DELETE", "/v1/agents/{key}", [params: [key: key]] ++ options)
end

defmodule Dormouse.Memory do
  @moduledoc "What agents remember."

  @path "/v1/memory/{agent}/{id}"

  def put(client, agent, id, body, options \\ []), do: Dormouse.json(client, "PUT", @path, [params: [agent: agent, id: id], body: body] ++ options)
  def write(client, agent, body, options \\ []), do: Dormouse.json(client, "POST", "/v1/memory/{agent}", [params: [agent: agent], body: body] ++ options)
  def get(client, agent, id, options \\ []), do: Dormouse.json(client, "GET", @path, [params: [agent: agent, id: id]] ++ options)
  def delete(client, agent, id, options \\ []), do: Dormouse.json(client, "DELETE", @path, [params: [agent: agent, id: id]] ++ options)
  def recall(client, body, options \\ []), do: Dormouse.json(client, "POST", "/v1/memory/recall", [body: body] ++ options)
end

defmodule Dormouse.Conversations do
  @moduledoc "The states and messages of conversations."

  @path "/v1/conversations/{id}"

  def save(client, id, body, options \\ []), do: Dormouse.json(client, "PUT", @path, [params: [id: id], body: body] ++ options)
  def get(client, id, query \\ [], options \\ []), do: Dormouse.json(client, "GET", @path, [params: [id: id], query: query] ++ options)
  def list(client, query \\ [], options \\ []), do: Dormouse.json(client, "GET", "/v1/conversations", [query: query] ++ options)
  def delete(client, id, query \\ [], options \\ []), do: Dormouse.json(client, "DELETE", @path, [params: [id: id], query: query] ++ options)
  def set_interrupted(client, id, body, options \\ []), do: Dormouse.json(client, "POST", @path <> "/interrupted", [params: [id: id], body: body] ++ options)
  def save_messages(client, id, body, options \\ []), do: Dormouse.json(client, "POST", @path <> "/messages", [params: [id: id], body: body] ++ options)
  def messages(client, id, query \\ [], options \\ []), do: Dormouse.json(client, "GET", @path <> "/messages", [params: [id: id], query: query] ++ options)

  def update_message(client, id, message, body, options \\ []),
    do: Dormouse.json(client, "PATCH", @path <> "/messages/{message}", [params: [id: id, message: message], body: body] ++ options)
end
