defmodule Dormouse.HTTP do
  @moduledoc false
  # One connection of HTTP/1.1 over gen_tcp or ssl. Any function may return {:error, reason}: then
  # the connection is lost, and the caller closes it.

  alias __MODULE__

  @enforce_keys [:transport, :socket, :host]
  defstruct [:transport, :socket, :host, prefix: ""]

  @type t :: %HTTP{transport: module(), socket: term(), host: String.t(), prefix: String.t()}
  @type response :: %{status: pos_integer(), headers: %{String.t() => String.t()}, close: boolean()}

  @typedoc "How long a request may take: the silence in ms in which no part of a message came or went, and a time of now/0."
  @type limits :: {silence :: pos_integer(), until :: integer() | :infinity}

  @header_bytes_max 64 * 1024

  # The bytes of a long message that are sent or read at once.
  @sent_bytes 64 * 1024
  @read_bytes 16 * 1024

  @doc "Connects to the node of a base URL within the timeout in ms."
  @spec connect(URI.t(), timeout(), keyword()) :: {:ok, t()} | {:error, term()}
  def connect(%URI{} = uri, timeout, tls) do
    host = address(uri.host)
    family = if String.contains?(uri.host, ":"), do: [:inet6], else: []
    options = [:binary, active: false, packet: :raw, nodelay: true, packet_size: @header_bytes_max] ++ family

    connected =
      case uri.scheme do
        "https" -> :ssl.connect(host, uri.port, options ++ Keyword.merge(verified(tls), tls), timeout)
        _http -> :gen_tcp.connect(host, uri.port, options, timeout)
      end

    with {:ok, socket} <- connected do
      {:ok, %HTTP{transport: if(uri.scheme == "https", do: :ssl, else: :gen_tcp), socket: socket, host: authority(uri), prefix: uri.path || ""}}
    end
  end

  # An address as a tuple is looked for among the addresses of a certificate, a name among its names.
  defp address(host) do
    case host |> to_charlist() |> :inet.parse_strict_address() do
      {:ok, address} -> address
      {:error, :einval} -> to_charlist(host)
    end
  end

  # :ssl ignores cacertfile if cacerts is given. The system may have no certificates.
  defp verified(tls) do
    trusted = if Keyword.has_key?(tls, :cacertfile) or Keyword.has_key?(tls, :cacerts), do: [], else: [cacerts: :public_key.cacerts_get()]

    trusted ++
      [
        verify: :verify_peer,
        customize_hostname_check: [match_fun: :public_key.pkix_verify_hostname_match_fun(:https)]
      ]
  end

  defp authority(uri) do
    host = if String.contains?(uri.host, ":"), do: "[#{uri.host}]", else: uri.host
    "#{host}:#{uri.port}"
  end

  @doc "Sends a request and reads the head of its answer."
  @spec request(t(), String.t(), String.t(), [{String.t(), String.t()}], iodata(), limits()) :: {:ok, response()} | {:error, term()}
  def request(connection, method, target, headers, body, limits) do
    body = IO.iodata_to_binary(body)
    sized = if method in ["GET", "DELETE"] and body == "", do: [], else: [{"Content-Length", Integer.to_string(byte_size(body))}]
    lines = for {name, value} <- [{"Host", connection.host} | headers] ++ sized, do: [name, ": ", value, "\r\n"]

    with :ok <- setopts(connection, packet: :http_bin, send_timeout_close: true),
         :ok <- send_parts(connection, [method, " ", connection.prefix, target, " HTTP/1.1\r\n", lines, "\r\n"], body, limits),
         {:ok, {:http_response, version, status, _reason}} <- recv(connection, 0, limits),
         {:ok, headers} <- headers(connection, %{}, limits),
         :ok <- packet(connection, :raw) do
      close = version == {1, 0} or String.downcase(headers["connection"] || "") == "close"
      {:ok, %{status: status, headers: headers, close: close}}
    else
      {:ok, {:http_error, line}} -> {:error, {:no_http, line}}
      {:error, _reason} = error -> error
    end
  end

  defp send_parts(connection, head, <<part::binary-size(@sent_bytes), rest::binary>>, limits) when rest != "" do
    with :ok <- send_part(connection, [head, part], limits), do: send_parts(connection, [], rest, limits)
  end

  defp send_parts(connection, head, body, limits), do: send_part(connection, [head, body], limits)

  # A node that does not read ends the request too.
  defp send_part(connection, part, limits) do
    with left when left > 0 <- left(limits),
         :ok <- setopts(connection, send_timeout: left) do
      connection.transport.send(connection.socket, part)
    else
      {:error, _reason} = error -> error
      _over -> {:error, :timeout}
    end
  end

  defp headers(connection, found, limits) do
    case recv(connection, 0, limits) do
      {:ok, {:http_header, _, name, _, value}} -> headers(connection, Map.put(found, name |> to_string() |> String.downcase(), value), limits)
      {:ok, :http_eoh} -> {:ok, found}
      {:ok, {:http_error, line}} -> {:error, {:no_http, line}}
      {:error, _reason} = error -> error
    end
  end

  @doc "Reads the whole body of an answer."
  @spec body(t(), response(), limits()) :: {:ok, binary()} | {:error, term()}
  def body(_connection, %{status: status}, _limits) when status in [204, 304], do: {:ok, ""}

  def body(connection, %{headers: %{"transfer-encoding" => "chunked"}}, limits), do: chunks(connection, [], limits)

  def body(connection, %{headers: %{"content-length" => length}}, limits) do
    case Integer.parse(length) do
      {0, ""} -> {:ok, ""}
      {length, ""} when length > 0 -> exactly(connection, length, [], limits)
      _other -> {:error, {:no_http, length}}
    end
  end

  def body(connection, response, limits) do
    if response.close, do: until_closed(connection, [], limits), else: {:ok, ""}
  end

  defp chunks(connection, done, limits) do
    case chunk(connection, limits) do
      {:ok, ""} -> {:ok, IO.iodata_to_binary(done)}
      {:ok, piece} -> chunks(connection, [done, piece], limits)
      error -> error
    end
  end

  defp until_closed(connection, done, limits) do
    case recv(connection, 0, limits) do
      {:ok, piece} -> until_closed(connection, [done, piece], limits)
      {:error, :closed} -> {:ok, IO.iodata_to_binary(done)}
      error -> error
    end
  end

  @doc ~s(Reads the next chunk of a chunked body; "" is the end.)
  @spec chunk(t(), limits()) :: {:ok, binary()} | {:error, term()}
  def chunk(connection, limits) do
    with :ok <- packet(connection, :line),
         {:ok, line} <- recv(connection, 0, limits),
         {size, _extension} when size >= 0 <- Integer.parse(line, 16),
         :ok <- packet(connection, :raw),
         {:ok, piece} <- piece(connection, size, limits),
         {:ok, "\r\n"} <- recv(connection, 2, limits) do
      {:ok, piece}
    else
      {:error, _reason} = error -> error
      other -> {:error, {:no_http, other}}
    end
  end

  defp piece(_connection, 0, _limits), do: {:ok, ""}
  defp piece(connection, size, limits), do: exactly(connection, size, [], limits)

  defp exactly(_connection, 0, done, _limits), do: {:ok, IO.iodata_to_binary(done)}

  defp exactly(connection, length, done, limits) do
    with {:ok, piece} <- recv(connection, min(length, @read_bytes), limits),
         do: exactly(connection, length - byte_size(piece), [done, piece], limits)
  end

  defp recv(connection, length, limits) do
    case left(limits) do
      left when left > 0 -> connection.transport.recv(connection.socket, length, left)
      _over -> {:error, :timeout}
    end
  end

  defp left({silence, :infinity}), do: silence
  defp left({silence, until}), do: min(silence, until - now())

  defp packet(connection, packet), do: setopts(connection, packet: packet)

  defp setopts(%HTTP{transport: :gen_tcp, socket: socket}, options), do: :inet.setopts(socket, options)
  defp setopts(%HTTP{transport: transport, socket: socket}, options), do: transport.setopts(socket, options)

  @doc "Reports whether the node has neither closed an idle connection nor sent what no request asked for."
  def idle?(connection), do: connection.transport.recv(connection.socket, 0, 0) == {:error, :timeout}

  @doc "Gives the connection to another process."
  def give(connection, pid), do: connection.transport.controlling_process(connection.socket, pid)

  def close(connection), do: connection.transport.close(connection.socket)

  @doc "Closes a connection that was lost, without waiting for the node to read what was sent."
  def drop(connection) do
    _ = setopts(connection, linger: {true, 0})
    close(connection)
  end

  @doc "The clock of deadlines, in ms."
  def now, do: System.monotonic_time(:millisecond)
end
