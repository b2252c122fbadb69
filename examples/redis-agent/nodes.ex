defmodule Nodes do
  @moduledoc """
  Sends commands to any of several nodes. If a node does not answer, or cannot say what came of a
  command, the same command goes to the next node. The commands of `Storage` may be repeated.
  """

  use Agent

  @attempts 100
  @pause 100

  def start_link(addresses) do
    Agent.start_link(fn -> {nil, addresses} end, name: __MODULE__)
  end

  @doc "Sends one command; has the shape of `Redix.command/2` on a connection."
  def command(command, attempt \\ 1) do
    case Agent.get_and_update(__MODULE__, &try_command(&1, command), :infinity) do
      {:again, reason} when attempt < @attempts ->
        if attempt == 1, do: Log.say("   … #{reason}: sends the command again")
        Process.sleep(@pause)
        command(command, attempt + 1)

      {:again, reason} ->
        {:error, reason}

      reply ->
        reply
    end
  end

  defp try_command({nil, [address | others]}, command) do
    case RESP.connect(address) do
      {:ok, socket} -> try_command({socket, [address | others]}, command)
      {:error, reason} -> {{:again, "node #{address}: #{reason}"}, {nil, others ++ [address]}}
    end
  end

  defp try_command({socket, [address | others]} = state, command) do
    case RESP.command(socket, command) do
      {:ok, reply} ->
        {{:ok, reply}, state}

      {:error, "TRYAGAIN" <> _} ->
        {{:again, "node #{address} has no leader yet"}, state}

      {:error, "ERR unknown:" <> _} ->
        {{:again, "node #{address} does not know the outcome"}, state}

      {:error, message} when is_binary(message) ->
        {{:error, message}, state}

      {:error, reason} ->
        :gen_tcp.close(socket)
        {{:again, "node #{address}: #{reason}"}, {nil, others ++ [address]}}
    end
  end
end
