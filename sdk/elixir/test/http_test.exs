defmodule Dormouse.HTTPTest do
  use ExUnit.Case, async: true
  alias Dormouse.{HTTP, Transport}

  # A connection of a slow link: it notes what it is asked for, and the time in ms that it is given for that.
  defmodule Slow do
    def connection(answer) do
      {:ok, pid} = Agent.start_link(fn -> %{answer: answer, options: [], sent: [], read: []} end)
      %HTTP{transport: __MODULE__, socket: pid, host: "a"}
    end

    def sent(connection), do: connection.socket |> Agent.get(& &1.sent) |> Enum.reverse()
    def read(connection), do: connection.socket |> Agent.get(& &1.read) |> Enum.reverse()

    def setopts(pid, options), do: Agent.update(pid, &%{&1 | options: Keyword.merge(&1.options, options)})
    def send(pid, part), do: Agent.update(pid, &%{&1 | sent: [{IO.iodata_length(part), &1.options[:send_timeout]} | &1.sent]})

    def recv(pid, length, timeout) do
      Agent.get_and_update(pid, fn state ->
        {piece, rest} = take(state.answer, length, state.options[:packet])
        {{:ok, piece}, %{state | answer: rest, read: [{byte_size(piece), timeout} | state.read]}}
      end)
    end

    defp take(text, 0, :line) do
      [line, rest] = :binary.split(text, "\n")
      {line <> "\n", rest}
    end

    defp take(text, length, _raw), do: {binary_part(text, 0, length), binary_part(text, length, byte_size(text) - length)}
  end

  @length %{status: 200, headers: %{"content-length" => "100000"}, close: false}
  @chunked %{status: 200, headers: %{"transfer-encoding" => "chunked"}, close: false}
  @text String.duplicate("x", 100_000)

  test "the time of an answer counts from its last part" do
    for {response, answer} <- [{@length, @text}, {@chunked, "186A0\r\n#{@text}\r\n0\r\n\r\n"}] do
      connection = Slow.connection(answer)
      assert {:ok, text} = HTTP.body(connection, response, {5000, HTTP.now() + 60_000})
      assert byte_size(text) == 100_000
      assert Enum.all?(Slow.read(connection), fn {bytes, timeout} -> bytes <= 16 * 1024 and timeout == 5000 end)
    end
  end

  test "the time of a long body counts from its last part" do
    connection = Slow.connection("")
    catch_error(HTTP.request(connection, "PUT", "/", [], @text <> @text, {5000, :infinity}))
    assert [{first, 5000} | others] = Slow.sent(connection)
    assert Enum.sum(Enum.map(others, &elem(&1, 0))) + first > 200_000
    assert length(others) == 3
    assert Enum.all?(others, fn {bytes, timeout} -> bytes <= 64 * 1024 and timeout == 5000 end)
  end

  test "a slow answer and a slow body end with the call" do
    over = {5000, HTTP.now()}
    assert {:error, :timeout} = HTTP.body(Slow.connection(@text), @length, over)
    assert {:error, :timeout} = HTTP.request(Slow.connection(""), "PUT", "/", [], @text, over)
    connection = Slow.connection(@text)
    assert {:ok, text} = HTTP.body(connection, @length, {60_000, HTTP.now() + 50_000})
    assert byte_size(text) == 100_000
    assert Enum.all?(Slow.read(connection), fn {_bytes, timeout} -> timeout in 1..50_000 end)
  end

  test "an attempt is lost after its silence, and with its call" do
    assert Transport.within(%{attempt_ms: 10_000, deadline: 130_000}, 100_000) == {10_000, {11_000, 131_000}}
    assert Transport.within(%{attempt_ms: 10_000, deadline: 103_000}, 100_000) == {3000, {4000, 104_000}}
    assert Transport.within(%{attempt_ms: 10_000, deadline: 99_000}, 100_000) == {1, {1001, 101_000}}
  end

  test "a silent stream is lost, however long its event is" do
    connection = Slow.connection("186A0\r\n#{@text}\r\n")
    assert {:ok, text} = HTTP.chunk(connection, {5000, :infinity})
    assert byte_size(text) == 100_000
    assert Enum.all?(Slow.read(connection), fn {_bytes, timeout} -> timeout == 5000 end)
  end
end
