defmodule Dormouse.Hold do
  @moduledoc """
  A claim or a lease that a process holds. It is renewed at a third of its ttl.

  The process that took it, its owner, gets `{:dormouse_lost, hold, reason}` once it is lost, or can
  no longer be known to be held. The fence protects writes even if the owner does not notice. When the
  owner ends, the claim is released.
  """
  use GenServer

  alias Dormouse.{Fence, HTTP, Problem, Refused, Server}

  @enforce_keys [:pid, :fence]
  defstruct [:pid, :fence]

  @type t :: %__MODULE__{pid: pid(), fence: Fence.t()}

  @doc false
  # renew and release are functions without arguments that return the result of the call.
  def start(fence, ttl_ms, since, renew, release) do
    state = %{fence: fence, ttl_ms: ttl_ms, until: since + ttl_ms, renew: renew, release: release, owner: self(), lost: nil, fenced: false, renewal: nil}
    with {:ok, pid} <- GenServer.start(__MODULE__, state), do: {:ok, %__MODULE__{pid: pid, fence: fence}}
  end

  @doc false
  # The limits of a renewal: it begins at a third of the ttl, and a silent node leaves time for others.
  def limits(ttl_ms), do: [timeout_ms: ttl_ms, attempt_ms: div(ttl_ms, 6)]

  @doc false
  # Makes a renewal. After a refusal that is about the node, such as that of a proxy, the next one goes to another node.
  def renewal(client, renew) do
    server = Dormouse.client(client).server
    endpoint = Server.settings(server).endpoint
    result = renew.()
    if passing?(result), do: Server.leave(server, endpoint)
    result
  end

  defp passing?({:error, %Refused{} = refused}), do: Problem.inconclusive?(refused)
  defp passing?(_result), do: false

  @doc "Returns `:ok`, or `{:error, reason}` if the claim is lost or no longer renewed."
  @spec check(t()) :: :ok | {:error, String.t()}
  def check(hold), do: call(hold, :check)

  @doc "Stops renewing. The claim lapses by itself, unless it is released."
  @spec stop(t()) :: :ok
  def stop(hold) do
    _ = call(hold, :stop)
    :ok
  end

  @doc "Stops renewing, and frees a claim for others."
  @spec release(t()) :: :ok | {:error, Refused.t() | Dormouse.Unknown.t() | String.t()}
  def release(hold), do: call(hold, :release)

  defp call(hold, request) do
    GenServer.call(hold.pid, request, :infinity)
  catch
    :exit, _reason -> {:error, "#{hold.fence.claim} is no longer renewed"}
  end

  @impl true
  def init(state) do
    Process.flag(:trap_exit, true)
    Process.monitor(state.owner)
    {:ok, state |> schedule() |> expire()}
  end

  defp schedule(state) do
    Process.send_after(self(), :renew, div(state.ttl_ms, 3))
    state
  end

  # The claim is held for the ttl since the renewal was sent.
  defp expire(state) do
    Process.send_after(self(), {:expired, state.until}, max(0, state.until - HTTP.now()))
    state
  end

  @impl true
  def handle_call(:check, _from, %{lost: nil} = state), do: {:reply, :ok, state}
  def handle_call(:check, _from, state), do: {:reply, {:error, state.lost}, state}
  def handle_call(:stop, _from, state), do: {:stop, :normal, :ok, state}
  def handle_call(:release, _from, state), do: {:stop, :normal, freed(state), state}

  defp freed(%{fenced: true}), do: :ok

  defp freed(state) do
    case if(HTTP.now() < state.until, do: state.release.(), else: {:ok, nil}) do
      {:ok, _claim} -> :ok
      # Another holder has it already.
      {:error, %Refused{code: "fenced"}} -> :ok
      error -> error
    end
  end

  @impl true
  def handle_info(:renew, %{lost: nil} = state) do
    since = HTTP.now()
    pid = spawn_link(fn -> exit({:renewed, since, state.renew.()}) end)
    {:noreply, %{state | renewal: pid}}
  end

  def handle_info({:EXIT, pid, {:renewed, since, result}}, %{renewal: pid} = state), do: {:noreply, renewed(result, since, %{state | renewal: nil})}
  def handle_info({:EXIT, pid, _crash}, %{renewal: pid} = state), do: {:noreply, schedule(%{state | renewal: nil})}
  def handle_info({:expired, until}, %{until: until, lost: nil} = state), do: {:noreply, lose(state, "#{state.fence.claim} could not be renewed in time")}

  def handle_info({:DOWN, _ref, :process, owner, _reason}, %{owner: owner} = state) do
    _ = freed(state)
    {:stop, :normal, state}
  end

  def handle_info(_message, state), do: {:noreply, state}

  # A renewal under way would outlive the client that it uses.
  @impl true
  def terminate(_reason, %{renewal: nil}), do: :ok
  def terminate(_reason, %{renewal: pid}), do: Process.exit(pid, :kill)

  defp renewed(_result, _since, %{lost: lost} = state) when lost != nil, do: state
  defp renewed({:ok, _claim}, since, state), do: %{state | until: since + state.ttl_ms} |> expire() |> schedule()

  defp renewed({:error, %Refused{status: status} = refused} = failure, _since, state) when status in 400..499 do
    if passing?(failure),
      do: schedule(state),
      else: lose(%{state | fenced: refused.code == "fenced"}, "#{state.fence.claim} is lost: #{Exception.message(refused)}")
  end

  defp renewed(_failure, _since, state), do: schedule(state)

  defp lose(state, reason) do
    send(state.owner, {:dormouse_lost, %__MODULE__{pid: self(), fence: state.fence}, reason})
    %{state | lost: reason}
  end
end
