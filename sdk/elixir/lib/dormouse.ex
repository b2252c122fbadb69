defmodule Dormouse do
  @moduledoc """
  A client of Dormouse, a replicated store of AI agents' state.

      children = [{Dormouse, name: MyApp.Dormouse, endpoints: ["http://127.0.0.1:7600"]}]
      client = Dormouse.client(MyApp.Dormouse)
      {:ok, %{"revision" => 1}} = Dormouse.Checkpoints.put(client, "agent-7", %{state: %{step: "plan"}})

  A call returns `{:ok, value}`, `{:error, %Dormouse.Refused{}}` (it was not applied) or
  `{:error, %Dormouse.Unknown{}}` (it may have been applied). JSON objects are maps with string keys;
  in requests, atoms are keys too.

  ## Options of any call

    * `:timeout_ms` - the time within which the call tries again
    * `:attempt_ms` - the time of one attempt, if that of the client is longer
    * `:scope` - the keyspace of a tenant
    * `:idempotency_key` - of writes: send a call again under the key of the call before to learn its outcome
    * `:fence` - a `Dormouse.Fence`: a write applies only while the claim is at this epoch
    * `:stale` - of reads: answer from the node's own state
    * `:min_index` - of reads: wait until the node has applied this index

  An option that is nil is an absent one. A call refuses options that it does not know as `invalid`, and ignores those
  of other calls, so that a client can have them for all.
  """

  alias Dormouse.{Answer, Fence, Refused, Server, Transport, Unknown, Watch}

  @enforce_keys [:server]
  defstruct [:server, defaults: []]

  @type t :: %__MODULE__{server: GenServer.server(), defaults: keyword()}
  @type result(value) :: {:ok, value} | {:error, Refused.t() | Unknown.t()}

  @doc """
  Starts what the calls of a client share.

    * `:endpoints` - the base URLs of nodes; any node serves any call
    * `:name` - a name for `client/1`
    * `:token` - a bearer token, or a function that returns the current one
    * `:scope` - the keyspace of a tenant
    * `:timeout_ms` - the time within which a call tries again; 30,000 if absent
    * `:attempt_ms` - the time of one attempt, counted from the last part of its answer that came, or of a long body that went; 10,000 if absent
    * `:invalid_utf8` - what happens to strings of requests that are no UTF-8: `:replace` (by U+FFFD) or `:refuse`
    * `:tls` - options of `:ssl` for https, such as `cacertfile:`
  """
  def start_link(options), do: Server.start_link(options)

  @doc false
  def child_spec(options), do: %{id: options[:name] || __MODULE__, start: {__MODULE__, :start_link, [Server.hidden(options)]}}

  @doc "Returns the client that a started process serves."
  @spec client(GenServer.server() | t()) :: t()
  def client(%__MODULE__{} = client), do: client
  def client(server), do: %__MODULE__{server: server}

  @doc "Returns a client whose calls have these options unless they say otherwise."
  @spec with_options(t(), keyword()) :: t()
  def with_options(client, options), do: %{client | defaults: Keyword.merge(client.defaults, options)}

  @doc "Returns a client whose writes apply only under the fence."
  @spec fenced(t(), Fence.t()) :: t()
  def fenced(client, %Fence{} = fence), do: with_options(client, fence: fence)

  @doc """
  Makes any call of the API. The path is one of the OpenAPI document, with its parameters in braces.

  Beside the options of any call it takes `:params`, `:query`, `:body` (JSON), `:data` (bytes) and
  `:content_type`.
  """
  @spec call(t(), String.t(), String.t(), keyword()) :: result(Answer.t())
  def call(client, method, path, options \\ []), do: Transport.call(client(client), method, path, options)

  @doc "Makes a call and returns the decoded JSON of its answer, nil if it has none."
  @spec json(t(), String.t(), String.t(), keyword()) :: result(term())
  def json(client, method, path, options \\ []) do
    with {:ok, answer} <- call(client, method, path, options), do: Answer.body(answer)
  end

  @doc "Applies several ops, all or none. The `results` have one result for each op, in order."
  @spec commit(t(), [map()], keyword()) :: result(map())
  def commit(client, ops, options \\ []), do: json(client, "POST", "/v1/commits", [body: %{ops: ops}] ++ options)

  @doc ~S(Answers several reads at one index. Each of the `answers` has "found" or "error".)
  @spec read(t(), [map()], keyword()) :: result(map())
  def read(client, reads, options \\ []), do: json(client, "POST", "/v1/reads", [body: %{reads: reads}] ++ options)

  @doc """
  Returns a stream of all changes of the scope, each once, across lost connections and killed nodes.

  Its items are `{change, place}`. Pass a place as `:after` to continue behind it, also in another
  process. It takes `:prefix` and `:from_index` too, and raises a refusal `compacted` if the feed no
  longer has what comes next.
  """
  @spec changes(t(), keyword()) :: Enumerable.t()
  def changes(client, options \\ []) do
    {own, options} = Keyword.split(options, [:prefix, :from_index, :after])
    query = Keyword.take(own, [:prefix, :from_index])

    Watch.stream(client(client), "/v1/changes", [query: query] ++ options, own[:after] || "", nil, fn
      %{event: "compacted"} = event, _state -> {:ends, Watch.ended(event, "the feed no longer has the changes after this place")}
      %{event: "change"} = event, state -> {[{decoded(event), event.id}], state}
      _event, state -> {[], state}
    end)
  end

  @doc false
  def decoded(event) do
    {:ok, value} = Dormouse.JSON.decode(event.data)
    value
  end

  @doc "Returns `:done`, `:refused` or `:unknown`."
  @spec outcome(result(term())) :: :done | :refused | :unknown
  def outcome({:ok, _value}), do: :done
  def outcome({:error, %Refused{}}), do: :refused
  def outcome({:error, %Unknown{}}), do: :unknown

  @doc "Returns the value of a call that is done, and raises otherwise."
  @spec ok!(result(value)) :: value when value: term()
  def ok!({:ok, value}), do: value
  def ok!({:error, error}), do: raise(error)
end
