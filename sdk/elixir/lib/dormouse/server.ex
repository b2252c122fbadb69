defmodule Dormouse.Server do
  @moduledoc false
  # Holds what the calls of one client share: idle connections, the current endpoint and the id of the
  # cluster. Calls run in their own processes.
  use GenServer

  alias Dormouse.HTTP

  # Idle connections that are kept for each node.
  @idle_max 16

  def start_link(options) do
    endpoints = endpoints(options)

    cond do
      endpoints == [] -> {:error, {:invalid, "there are no endpoints: give the base URL of at least one node"}}
      wrong = Enum.find(endpoints, &(not url?(&1))) -> {:error, {:invalid, "the endpoint #{inspect(wrong)} is no URL: write it as http://HOST:PORT"}}
      true -> GenServer.start_link(__MODULE__, hidden(options), Keyword.take(options, [:name]))
    end
  end

  @doc "Returns the options with the token in a function, so that logs and crash reports do not show it."
  def hidden(options) do
    Keyword.replace_lazy(options, :token, fn
      token when is_binary(token) -> fn -> token end
      token -> token
    end)
  end

  @doc "Returns the settings of the client that this process serves."
  def settings(server), do: GenServer.call(server, :settings)

  @doc "Returns an idle connection to the endpoint, or nil. The caller owns it."
  def take(server, endpoint), do: GenServer.call(server, {:take, endpoint})

  @doc "Keeps a connection that the caller owns."
  def keep(server, endpoint, connection) do
    pid = GenServer.whereis(server)

    if pid != nil and HTTP.give(connection, pid) == :ok,
      do: GenServer.cast(pid, {:keep, endpoint, connection}),
      else: HTTP.close(connection)
  end

  @doc "Closes the idle connections to an endpoint after one was lost: the others are likely lost too."
  def forget(server, endpoint), do: GenServer.cast(server, {:forget, endpoint})

  @doc "Moves on to the next endpoint, unless another call has left this one before."
  def leave(server, endpoint), do: GenServer.cast(server, {:leave, endpoint})

  @doc "Remembers the id of the cluster."
  def joined(server, cluster), do: GenServer.cast(server, {:joined, cluster})

  @doc "Remembers a value under a key, of at most `most` keys: others are forgotten, one for each new one."
  def remember(server, key, value, most), do: GenServer.call(server, {:remember, key, value, most})

  @doc "Returns what was remembered under a key: {:ok, value} or :error."
  def recall(server, key), do: GenServer.call(server, {:recall, key})

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)
    endpoints = List.to_tuple(endpoints(options))
    {:ok, %{settings: Map.new(options), endpoints: endpoints, at: :rand.uniform(tuple_size(endpoints)) - 1, cluster: nil, idle: %{}, remembered: %{}}}
  end

  defp endpoints(options), do: options |> Keyword.fetch!(:endpoints) |> List.wrap() |> Enum.map(&String.trim_trailing(&1, "/"))

  defp url?(endpoint), do: match?(%URI{scheme: scheme, host: host} when scheme in ["http", "https"] and host not in [nil, ""], URI.parse(endpoint))

  @impl true
  def handle_call(:settings, _from, state) do
    {:reply, %{settings: state.settings, endpoint: elem(state.endpoints, state.at), endpoints: tuple_size(state.endpoints), cluster: state.cluster}, state}
  end

  def handle_call({:recall, key}, _from, state), do: {:reply, Map.fetch(state.remembered, key), state}

  def handle_call({:remember, key, value, most}, _from, state) do
    remembered = state.remembered
    full = map_size(remembered) >= most and not is_map_key(remembered, key)
    remembered = if full, do: Map.delete(remembered, remembered |> :maps.iterator() |> :maps.next() |> elem(0)), else: remembered
    {:reply, :ok, %{state | remembered: Map.put(remembered, key, value)}}
  end

  def handle_call({:take, endpoint}, {pid, _tag} = from, state) do
    case state.idle do
      %{^endpoint => [connection | rest]} ->
        state = put_in(state.idle[endpoint], rest)

        if HTTP.give(connection, pid) == :ok do
          {:reply, connection, state}
        else
          HTTP.close(connection)
          handle_call({:take, endpoint}, from, state)
        end

      _none ->
        {:reply, nil, state}
    end
  end

  @impl true
  def handle_cast({:keep, endpoint, connection}, state) do
    idle = Map.get(state.idle, endpoint, [])

    if length(idle) < @idle_max do
      {:noreply, put_in(state.idle[endpoint], [connection | idle])}
    else
      HTTP.close(connection)
      {:noreply, state}
    end
  end

  def handle_cast({:forget, endpoint}, state) do
    {lost, idle} = Map.pop(state.idle, endpoint, [])
    Enum.each(lost, &HTTP.drop/1)
    {:noreply, %{state | idle: idle}}
  end

  def handle_cast({:leave, endpoint}, state) do
    at = if elem(state.endpoints, state.at) == endpoint, do: rem(state.at + 1, tuple_size(state.endpoints)), else: state.at
    {:noreply, %{state | at: at}}
  end

  def handle_cast({:joined, cluster}, state), do: {:noreply, %{state | cluster: state.cluster || cluster}}

  # A port of a connection that a taker has closed, or that died with it.
  @impl true
  def handle_info(_message, state), do: {:noreply, state}

  @impl true
  def terminate(_reason, state) do
    for {_endpoint, connections} <- state.idle, connection <- connections, do: HTTP.close(connection)
    :ok
  end
end
