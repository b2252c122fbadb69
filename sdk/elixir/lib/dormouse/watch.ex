defmodule Dormouse.Watch do
  @moduledoc false
  # Streams of events that continue after a lost connection.

  alias Dormouse.{HTTP, JSON, Refused, Server, Transport}

  # The silence in ms after which a stream counts as lost: a node sends a sign of life each 15 s.
  @silence_ms 45_000

  @lasting ~w(overloaded unavailable not_owner unknown internal)

  @doc """
  Returns a stream of what `decode` makes of the events. It continues at another node after the last
  event, and raises refusals that another attempt would not change.

  `decode` gets an event and a state, and returns `{items, state}`, or `{:ends, refused}`.
  """
  def stream(client, path, options, last, state, decode) do
    begin = fn ->
      %{
        client: client,
        path: path,
        options: options,
        last: last,
        state: state,
        decode: decode,
        connection: nil,
        endpoint: nil,
        parser: nil,
        attempt: 0,
        ended: nil
      }
    end

    Stream.resource(begin, &next/1, &close/1)
  end

  defp next(%{ended: refused}) when refused != nil, do: raise(refused)

  defp next(%{connection: nil} = watch) do
    case Transport.open(watch.client, watch.path, watch.options, watch.last, @silence_ms) do
      {:ok, endpoint, connection} -> {[], %{watch | connection: connection, endpoint: endpoint, parser: parser()}}
      {:lost, endpoint, reason} -> {[], again(%{watch | endpoint: endpoint}, reason)}
      {:refused, endpoint, refused} -> {[], refused(%{watch | endpoint: endpoint}, refused)}
      {:error, refused} -> raise refused
    end
  end

  defp next(watch) do
    case HTTP.chunk(watch.connection, {@silence_ms, :infinity}) do
      {:ok, piece} when piece != "" ->
        {events, parser} = parse(watch.parser, piece)
        take(events, [], %{watch | parser: parser})

      end_or_error ->
        {[], again(watch, end_or_error)}
    end
  end

  defp take([], items, watch), do: {items, watch}

  defp take([%{event: "problem"} = event | _rest], items, watch) do
    {:ok, problem} = JSON.decode(event.data)
    {items, refused(watch, Refused.new(problem))}
  end

  defp take([event | rest], items, watch) do
    {attempt, decoded} = if event.data == "", do: {watch.attempt, {[], watch.state}}, else: {0, watch.decode.(event, watch.state)}

    case decoded do
      {:ends, refused} -> {items, %{watch | ended: refused}}
      {more, state} -> take(rest, items ++ more, %{watch | state: state, attempt: attempt, last: if(event.id == "", do: watch.last, else: event.id)})
    end
  end

  # What came before a refusal is passed on before it is raised.
  defp refused(watch, refused), do: if(refused.code in @lasting, do: again(watch, refused), else: %{watch | ended: refused})

  defp again(watch, failure) do
    close(watch)
    Server.leave(watch.client.server, watch.endpoint)
    attempt = watch.attempt + 1
    Process.sleep(Transport.pause(failure, attempt, Server.settings(watch.client.server).endpoints))
    %{watch | connection: nil, attempt: attempt}
  end

  defp close(%{connection: nil}), do: nil

  defp close(watch) do
    HTTP.close(watch.connection)
    nil
  end

  @doc "Returns the refusal that the last event of a watch is."
  def ended(event, detail), do: Refused.new(event.event, detail, event |> Dormouse.decoded() |> Map.take(["floor"]) |> Map.put("status", 410))

  @doc "Returns a parser of server-sent events."
  def parser, do: %{unfinished: [], after_cr: false, event: "", data: [], id: ""}

  @doc "Reads a piece of a stream. An event without data is passed on too: it has only an id."
  def parse(parser, ""), do: {[], parser}

  # The second half of a CR LF.
  def parse(%{after_cr: true} = parser, "\n" <> piece), do: parse(%{parser | after_cr: false}, piece)

  def parse(parser, piece) do
    # The pieces of a line are joined at its end.
    [first | others] = :binary.split(piece, ["\r\n", "\n", "\r"], [:global])
    [unfinished | lines] = Enum.reverse([[parser.unfinished, first] | others])
    {events, parser} = lines |> Enum.reverse() |> Enum.map(&IO.iodata_to_binary/1) |> Enum.reduce({[], parser}, &line/2)
    {Enum.reverse(events), %{parser | unfinished: unfinished, after_cr: String.ends_with?(piece, "\r")}}
  end

  defp line("", {events, parser}) do
    event = %{event: if(parser.event == "", do: "message", else: parser.event), data: parser.data |> Enum.reverse() |> Enum.join("\n"), id: parser.id}
    {[event | events], %{parser | event: "", data: []}}
  end

  defp line(line, {events, parser}) do
    {name, text} =
      case String.split(line, ":", parts: 2) do
        [name, " " <> text] -> {name, text}
        [name, text] -> {name, text}
        [name] -> {name, ""}
      end

    case name do
      "event" -> {events, %{parser | event: text}}
      "data" -> {events, %{parser | data: [text | parser.data]}}
      "id" -> {events, if(String.contains?(text, "\0"), do: parser, else: %{parser | id: text})}
      _other -> {events, parser}
    end
  end
end
