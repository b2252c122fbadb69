defmodule RESP do
  @moduledoc """
  A client of the Redis protocol (RESP2) over a TCP socket. One process uses a connection.
  """

  @timeout 15_000

  @doc "Connects to `\"host:port\"`."
  def connect(address) do
    [host, port] = String.split(address, ":")

    :gen_tcp.connect(
      String.to_charlist(host),
      String.to_integer(port),
      [
        :binary,
        active: false,
        packet: :line,
        buffer: 65_536,
        nodelay: true,
        send_timeout: @timeout
      ],
      @timeout
    )
  end

  @doc """
  Sends one command, a list of binaries and integers, and returns its reply: `{:ok, reply}`, or
  `{:error, message}` if the server refused the command, or `{:error, reason}` with an atom if the
  connection failed. After a failure the connection cannot be used again.
  """
  def command(socket, command) do
    with :ok <- :gen_tcp.send(socket, encode(command)), do: reply(socket)
  end

  defp encode(command) do
    [
      "*#{length(command)}\r\n"
      | for argument <- command do
          argument = to_string(argument)
          ["$#{byte_size(argument)}\r\n", argument, "\r\n"]
        end
    ]
  end

  defp reply(socket) do
    with {:ok, line} <- :gen_tcp.recv(socket, 0, @timeout) do
      case String.trim_trailing(line, "\r\n") do
        "+" <> status -> {:ok, status}
        "-" <> message -> {:error, message}
        ":" <> integer -> {:ok, String.to_integer(integer)}
        "$-1" -> {:ok, nil}
        "$" <> size -> bulk(socket, String.to_integer(size))
      end
    end
  end

  # The bytes of a bulk have no lines, so the socket is raw while they are read.
  defp bulk(socket, size) do
    with :ok <- :inet.setopts(socket, packet: :raw),
         {:ok, bytes} <- :gen_tcp.recv(socket, size + 2, @timeout),
         :ok <- :inet.setopts(socket, packet: :line) do
      {:ok, binary_part(bytes, 0, size)}
    end
  end
end
