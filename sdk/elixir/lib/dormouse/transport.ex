defmodule Dormouse.Transport do
  @moduledoc false
  # Sends calls to the nodes: fails over, and retries what is safe to retry.

  alias Dormouse.{Answer, HTTP, JSON, Keys, Operations, Problem, Refused, Server, Unknown}

  # Codes after which another attempt may succeed. The refused attempt was not applied.
  @transient ~w(overloaded unavailable not_owner)

  # Codes after which a write may have been applied, as after "unknown".
  @undecided ~w(internal request_expired)

  @timeout_ms 30_000
  @attempt_ms 10_000

  # The parts of a request, and the options of any call.
  @request [:params, :query, :body, :data, :content_type]
  @options [:timeout_ms, :attempt_ms, :scope, :idempotency_key, :fence, :stale, :min_index]

  @doc "Makes a call. options has the request's parts beside the options of any call."
  def call(client, method, path, options) do
    shared = Server.settings(client.server)
    policy = Map.get(shared.settings, :invalid_utf8, :replace)

    with {:ok, options} <- merged(client, options),
         {:ok, target} <- target(method, path, options, policy),
         {:ok, body} <- encoded(options, policy),
         name = "#{method} #{path}",
         keyed = Keys.takes?(name, options[:body], options[:idempotency_key]),
         key = if(keyed, do: options[:idempotency_key] || random()),
         {:ok, headers} <- headers(name, options, shared.settings, key, body, policy) do
      attempts(%{
        client: client,
        name: name,
        method: method,
        target: target,
        body: body,
        headers: headers,
        key: key,
        write: not Operations.read?(name),
        repeatable: Operations.read?(name) or keyed,
        deadline: HTTP.now() + (options[:timeout_ms] || shared.settings[:timeout_ms] || @timeout_ms),
        attempt_ms: min(options[:attempt_ms] || :infinity, shared.settings[:attempt_ms] || @attempt_ms),
        tls: shared.settings[:tls] || [],
        ambiguous: nil,
        attempt: 0
      })
    end
  end

  # The options of a call over those of the client. An option that is nil is an absent one.
  defp merged(client, options) do
    options = Keyword.merge(client.defaults, Enum.reject(options, &match?({_name, nil}, &1)))

    case Enum.uniq(Keyword.keys(options)) -- (@request ++ @options) do
      [] -> {:ok, options}
      unknown -> {:error, Refused.new("invalid", "the call has options that it does not take: #{Enum.map_join(unknown, ", ", &inspect/1)}")}
    end
  end

  @doc "Opens a stream of events after the event with the id last."
  def open(client, path, options, last, silence) do
    shared = Server.settings(client.server)

    with {:ok, options} <- merged(client, options),
         {:ok, target} <- target("GET", path, options, :replace),
         {:ok, headers} <- headers("GET " <> path, options, shared.settings, nil, "", :replace),
         {:ok, authorization} <- authorization(shared.settings[:token]) do
      headers = headers ++ authorization ++ [{"Accept", "text/event-stream"}] ++ common(shared)
      headers = if last == "", do: headers, else: [{"Last-Event-ID", last} | headers]
      deadline = HTTP.now() + @attempt_ms

      case HTTP.connect(URI.parse(shared.endpoint), @attempt_ms, shared.settings[:tls] || []) do
        {:ok, connection} ->
          opened(connection, shared.endpoint, HTTP.request(connection, "GET", target, headers, "", {@attempt_ms, deadline}), {silence, deadline + silence})

        {:error, reason} ->
          {:lost, shared.endpoint, reason}
      end
    end
  end

  defp opened(connection, endpoint, {:ok, %{status: 200}}, _limits), do: {:ok, endpoint, connection}

  defp opened(connection, endpoint, {:ok, response}, limits) do
    body = HTTP.body(connection, response, limits)
    HTTP.close(connection)

    case body do
      {:ok, text} -> {:refused, endpoint, Refused.new(Problem.of(response.status, text))}
      {:error, reason} -> {:lost, endpoint, reason}
    end
  end

  defp opened(connection, endpoint, {:error, reason}, _limits) do
    HTTP.drop(connection)
    {:lost, endpoint, reason}
  end

  defp attempts(call) do
    shared = Server.settings(call.client.server)

    case attempt(call, shared) do
      {:ok, answer} ->
        {:ok, answer}

      {:error, %Refused{code: code} = refused} when code != "unknown" and code not in @transient ->
        cond do
          call.write and code in @undecided ->
            unknown(%{call | ambiguous: call.ambiguous || refused}, "the node says #{Exception.message(refused)}")

          call.ambiguous != nil and call.write and Problem.inconclusive?(call.name, refused) ->
            unknown(call, "a later attempt was refused, an earlier one may have been applied")

          true ->
            {:error, refused}
        end

      {:error, failure} ->
        again(call, shared, failure)
    end
  end

  defp again(call, shared, failure) do
    ambiguous = if call.write and not unapplied?(failure), do: failure
    call = %{call | ambiguous: call.ambiguous || ambiguous, attempt: call.attempt + 1}
    Server.leave(call.client.server, shared.endpoint)
    pause = pause(failure, call.attempt, shared.endpoints)

    if HTTP.now() + pause < call.deadline and (call.repeatable or call.ambiguous == nil) do
      Process.sleep(pause)
      attempts(call)
    else
      ended(call, failure)
    end
  end

  # Whether a failed attempt was not applied: it was refused, or no connection came about.
  defp unapplied?(%Refused{code: code}), do: code in @transient
  defp unapplied?({:not_sent, _reason}), do: true
  defp unapplied?({:lost, _reason}), do: false

  defp ended(%{ambiguous: ambiguous} = call, _failure) when ambiguous != nil, do: unknown(call, "the time for the call is over")
  defp ended(_call, %Refused{code: code} = refused) when code != "unknown", do: {:error, refused}
  defp ended(_call, failure), do: {:error, Refused.new("unavailable", "no node answered in time: #{inspect(failure)}")}

  defp unknown(call, detail), do: {:error, %Unknown{idempotency_key: call.key, detail: detail, cause: call.ambiguous}}

  @doc "Returns the wait in ms after so many failed attempts: none while there are nodes to try, but at least as long as a refusal says."
  def pause(failure, attempt, endpoints), do: max(named(failure), if(attempt < endpoints, do: 0, else: backoff(attempt - 1)))

  defp named(%Refused{problem: %{"retry_after_ms" => ms}}) when is_integer(ms), do: ms
  defp named(_failure), do: 0

  @doc "Returns the wait in ms before an attempt, counted from 0: doubled each time, with jitter."
  def backoff(attempt) do
    half = div(min(1000, 25 * 2 ** min(attempt, 6)), 2)
    half + :rand.uniform(half)
  end

  defp attempt(call, shared) do
    {within, limits} = within(call, HTTP.now())

    with {:ok, authorization} <- authorization(shared.settings[:token]),
         {:ok, connection} <- connection(call, shared.endpoint, within + 1000) do
      headers = [{"Dormouse-Timeout-Ms", Integer.to_string(within)} | call.headers] ++ authorization ++ common(shared)

      case exchange(connection, call, headers, limits) do
        {:ok, response, body} ->
          if response.close, do: HTTP.close(connection), else: Server.keep(call.client.server, shared.endpoint, connection)
          if shared.cluster == nil and response.headers["dormouse-cluster"], do: Server.joined(call.client.server, response.headers["dormouse-cluster"])
          answer(call, response, body)

        {:error, reason} ->
          HTTP.drop(connection)
          Server.forget(call.client.server, shared.endpoint)
          {:error, {:lost, reason}}
      end
    end
  end

  @doc "Returns the timeout of an attempt in ms, and the limits of its request."
  def within(%{attempt_ms: attempt_ms, deadline: deadline}, now) do
    within = max(1, min(attempt_ms, deadline - now))
    # The node answers at the timeout it was given; the client gives up a little later. On a slow connection another attempt would take as long.
    {within, {within + 1000, max(now, deadline) + 1000}}
  end

  # A call that is sent once gets a new connection, so that a lost connection means a lost call.
  defp connection(call, endpoint, timeout) do
    case if(call.repeatable, do: Server.take(call.client.server, endpoint)) do
      nil ->
        with {:error, reason} <- HTTP.connect(URI.parse(endpoint), timeout, call.tls), do: {:error, {:not_sent, reason}}

      connection ->
        if HTTP.idle?(connection) do
          {:ok, connection}
        else
          HTTP.drop(connection)
          connection(call, endpoint, timeout)
        end
    end
  end

  defp exchange(connection, call, headers, limits) do
    with {:ok, response} <- HTTP.request(connection, call.method, call.target, headers, call.body, limits),
         {:ok, body} <- HTTP.body(connection, response, limits) do
      {:ok, response, body}
    end
  end

  defp answer(call, %{status: status} = response, body) when status in 200..299 do
    answer = %Answer{status: status, headers: response.headers, index: String.to_integer(response.headers["dormouse-index"] || "0"), data: body}
    if call.write, do: whole(call.method, answer), else: {:ok, answer}
  end

  defp answer(_call, response, body), do: {:error, Refused.new(Problem.of(response.status, body))}

  # The client did not hear what came of a write whose answer is broken, or is not of a node, such as the page of a proxy.
  defp whole(method, answer) do
    case {Answer.decode(answer), answer.data == "" or method == "GET" or Answer.json?(answer)} do
      {{:ok, _body} = decoded, true} -> {:ok, %{answer | decoded: decoded}}
      {{:ok, nil}, false} -> {:error, {:lost, "the answer has status #{answer.status} and is no JSON: it is not of a node"}}
      {{:error, error}, _json} -> {:error, {:lost, error.message}}
    end
  end

  defp common(%{cluster: nil}), do: []
  defp common(%{cluster: cluster}), do: [{"Dormouse-Cluster", cluster}]

  defp headers(name, options, settings, key, body, policy) do
    fence = options[:fence]
    scope = options[:scope] || settings[:scope]
    kind = options[:content_type] || if(options[:data] == nil, do: "application/json", else: "application/octet-stream")

    headers =
      Enum.filter(
        [
          (body != "" or options[:data] != nil) && {"Content-Type", kind},
          scope && {"Dormouse-Scope", JSON.well_formed(scope, policy)},
          key && {"Idempotency-Key", JSON.well_formed(key, policy)},
          fence && not Operations.read?(name) && {"Dormouse-Fence", "claim=#{quoted(fence.claim)};epoch=#{fence.epoch}"}
        ],
        & &1
      )

    sendable(headers)
  rescue
    error in JSON.Error -> {:error, Refused.new("invalid", error.message)}
  end

  # If the caller's function fails, nothing was sent: that is a refusal.
  defp authorization(nil), do: {:ok, []}

  defp authorization(token) do
    sendable([{"Authorization", "Bearer #{String.trim(if is_function(token, 0), do: token.(), else: token)}"}])
  rescue
    error -> {:error, Refused.new("unauthenticated", "the function of the token failed: #{Exception.message(error)}")}
  end

  defp sendable(headers) do
    case Enum.find(headers, fn {_name, value} -> String.contains?(value, ["\r", "\n", "\0"]) end) do
      nil -> {:ok, headers}
      {name, _value} -> {:error, Refused.new("invalid", "the value of the header #{name} has a line break or a NUL: remove it")}
    end
  end

  defp quoted(claim) do
    if claim =~ ~r/\A[ -~]*\z/,
      do: ~s("#{claim |> String.replace("\\", "\\\\") |> String.replace("\"", "\\\"")}"),
      else: ~s(%"#{URI.encode(JSON.well_formed(claim, :replace), &URI.char_unreserved?/1)}")
  end

  defp encoded(options, policy) do
    cond do
      options[:data] != nil -> {:ok, options[:data]}
      not Keyword.has_key?(options, :body) or options[:body] == nil -> {:ok, ""}
      true -> with {:error, error} <- JSON.encode(options[:body], policy), do: {:error, Refused.new("invalid", error.message)}
    end
  end

  defp target(method, path, options, policy) do
    params = Map.new(options[:params] || [], fn {name, value} -> {to_string(name), value} end)
    names = for [_all, name] <- Regex.scan(~r/\{(\w+)\}/, path), do: name
    missing = Enum.filter(names, &(params[&1] in [nil, ""]))
    # A URL with such a part is another URL, even if its dots are percent-encoded.
    dots = Enum.filter(names, &(params[&1] in [".", ".."]))

    case {missing, dots} do
      {[], []} ->
        encode = &URI.encode(JSON.well_formed(to_string(&1), policy), fn c -> URI.char_unreserved?(c) end)
        query = Enum.map_join(query("#{method} #{path}", options), "&", fn {name, value} -> "#{name}=#{encode.(value)}" end)
        path = Regex.replace(~r/\{(\w+)\}/, path, fn _all, name -> encode.(params[name]) end)
        {:ok, if(query == "", do: path, else: path <> "?" <> query)}

      {[name | _rest], _dots} ->
        {:error, Refused.new("invalid", "#{name} is missing")}

      {[], [name | _rest]} ->
        {:error, Refused.new("invalid", "#{name} is #{inspect(params[name])}: choose another id")}
    end
  rescue
    error in JSON.Error -> {:error, Refused.new("invalid", error.message)}
  end

  defp query(name, options) do
    # They may be those of the client, for other calls.
    read = [stale: Operations.stale?(name) && options[:stale], min_index: Operations.min_index?(name) && options[:min_index]]
    for {name, value} <- Enum.to_list(options[:query] || []) ++ read, each <- List.wrap(value), each != nil, each != false, do: {name, each}
  end

  defp random, do: Base.encode16(:crypto.strong_rand_bytes(16), case: :lower)
end
