defmodule Dormouse.Test.Node do
  @moduledoc "A node that answers by a script: each request gets the next reply; the last one is repeated."

  @doc "Starts some nodes that share a script. Returns their base URLs, and a function that returns what they got."
  def start(replies, nodes \\ 1) do
    {:ok, script} = Agent.start_link(fn -> {replies, []} end)

    urls =
      for number <- 1..nodes do
        {:ok, listener} = :gen_tcp.listen(0, [:binary, active: false, packet: :http_bin, ip: {127, 0, 0, 1}, backlog: 64])
        {:ok, port} = :inet.port(listener)
        spawn_link(fn -> accept(listener, script, number) end)
        "http://127.0.0.1:#{port}"
      end

    {urls, fn -> script |> Agent.get(&elem(&1, 1)) |> Enum.reverse() end}
  end

  @doc "Starts a client of three nodes that share a script, for the time of a test. Returns the client, and a function that returns what the nodes got."
  def scripted(replies, options \\ []) do
    {urls, got} = start(replies, 3)
    server = ExUnit.Callbacks.start_supervised!({Dormouse, Keyword.merge([endpoints: urls, timeout_ms: 10_000], options)}, id: make_ref())
    {Dormouse.client(server), got}
  end

  defp accept(listener, script, number) do
    {:ok, socket} = :gen_tcp.accept(listener)
    pid = spawn(fn -> receive(do: (:go -> serve(socket, script, number))) end)
    :ok = :gen_tcp.controlling_process(socket, pid)
    send(pid, :go)
    accept(listener, script, number)
  end

  defp serve(socket, script, number) do
    :inet.setopts(socket, packet: :http_bin)

    case :gen_tcp.recv(socket, 0) do
      {:ok, {:http_request, method, {:abs_path, target}, _version}} ->
        headers = headers(socket, %{})
        :inet.setopts(socket, packet: :raw)
        body = body(socket, String.to_integer(headers["content-length"] || "0"))
        got = %{node: number, method: to_string(method), target: target, headers: headers, body: body}
        reply(socket, Agent.get_and_update(script, &next(&1, got)), script, number)

      _closed ->
        :gen_tcp.close(socket)
    end
  end

  defp next({[last], got}, request), do: {last, {[last], [request | got]}}
  defp next({[reply | rest], got}, request), do: {reply, {rest, [request | got]}}

  defp headers(socket, found) do
    case :gen_tcp.recv(socket, 0) do
      {:ok, {:http_header, _, name, _, value}} -> headers(socket, Map.put(found, name |> to_string() |> String.downcase(), value))
      {:ok, :http_eoh} -> found
    end
  end

  defp body(_socket, 0), do: ""

  defp body(socket, length) do
    {:ok, body} = :gen_tcp.recv(socket, length)
    body
  end

  defp reply(socket, :lost, _script, _number), do: :gen_tcp.close(socket)

  defp reply(socket, {:stream, text}, _script, _number) do
    :gen_tcp.send(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    # Pieces of seven bytes break characters and lines anywhere.
    for piece <- pieces(text), do: :gen_tcp.send(socket, [Integer.to_string(byte_size(piece), 16), "\r\n", piece, "\r\n"])
    :gen_tcp.close(socket)
  end

  # The node closes the connection after this reply, without saying so in it, and tells pid.
  defp reply(socket, {:last, reply, pid}, _script, _number) do
    answered(socket, reply)
    :gen_tcp.close(socket)
    send(pid, :closed)
  end

  defp reply(socket, reply, script, number) do
    answered(socket, reply)
    serve(socket, script, number)
  end

  defp answered(socket, {status, type, headers, text}) do
    lines = for {name, value} <- headers, do: [name, ": ", value, "\r\n"]
    size = Integer.to_string(byte_size(text))
    :gen_tcp.send(socket, ["HTTP/1.1 ", Integer.to_string(status), " X\r\nContent-Type: ", type, "\r\nContent-Length: ", size, "\r\n", lines, "\r\n", text])
  end

  defp pieces(<<piece::binary-size(7), rest::binary>>), do: [piece | pieces(rest)]
  defp pieces(""), do: []
  defp pieces(rest), do: [rest]

  @doc "A reply with a JSON body."
  def answer(body, status \\ 200, headers \\ []) do
    {:ok, text} = Dormouse.JSON.encode(body)
    {status, "application/json", headers, text}
  end

  @doc "A reply that is a problem."
  def problem(code, status, more \\ %{}), do: %{code: code, detail: code, status: status} |> Map.merge(more) |> answer(status)
end
