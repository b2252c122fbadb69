defmodule Dormouse.JSON do
  @moduledoc """
  JSON as a node takes and gives it.

  Objects are maps with string keys, and `null` is `nil`. A number beyond a float, such as `1e400`, is a
  `Dormouse.JSON.Number`. Strings that are no UTF-8 are repaired with U+FFFD or refused.
  """

  @depth_max 512

  defmodule Error do
    @moduledoc "A term that JSON cannot hold, or a text that is no JSON."
    defexception [:message]
  end

  defmodule Number do
    @moduledoc "A number beyond a float, as its text. `encode/2` writes it as it was read."
    @enforce_keys [:text]
    defstruct [:text]
    @type t :: %__MODULE__{text: String.t()}
  end

  @doc "Returns the deepest nesting that `decode/1` and `encode/2` take."
  def depth_max, do: @depth_max

  @doc """
  Encodes a term: maps with string or atom keys, lists, strings, numbers, booleans, nil and other atoms.

  `invalid` says what happens to strings that are no UTF-8: `:replace` or `:refuse`.
  """
  @spec encode(term(), :replace | :refuse) :: {:ok, binary()} | {:error, Error.t()}
  def encode(term, invalid \\ :replace) do
    {:ok, IO.iodata_to_binary(value(term, invalid, @depth_max))}
  rescue
    error in Error -> {:error, error}
  end

  @doc "Decodes a text."
  @spec decode(binary()) :: {:ok, term()} | {:error, Error.t()}
  def decode(text) do
    case skip(parse(skip(text), @depth_max)) do
      {value, ""} -> {:ok, value}
      {_value, rest} -> fail("there is more behind the value: #{excerpt(rest)}")
    end
  rescue
    error in Error -> {:error, error}
  end

  @doc "Returns the text as UTF-8: bytes that are none become U+FFFD, or are refused."
  @spec well_formed(binary(), :replace | :refuse) :: binary()
  def well_formed(text, invalid) do
    cond do
      String.valid?(text) -> text
      invalid == :refuse -> fail("the string #{inspect(binary_part(text, 0, min(40, byte_size(text))))} is no UTF-8")
      true -> text |> repaired([]) |> IO.iodata_to_binary()
    end
  end

  # Half of a surrogate pair, as some programs write it in three bytes, is one character.
  defp repaired(<<0xED, b, c, rest::binary>>, done) when b in 0xA0..0xBF and c in 0x80..0xBF, do: repaired(rest, [done | "\uFFFD"])
  defp repaired(<<c::utf8, rest::binary>>, done), do: repaired(rest, [done | <<c::utf8>>])
  defp repaired(<<_, rest::binary>>, done), do: repaired(rest, [done | "\uFFFD"])
  defp repaired("", done), do: done

  defp fail(message), do: raise(Error, message: message)

  defp excerpt(text), do: inspect(binary_part(text, 0, min(20, byte_size(text))))

  # Encoding

  defp value(_term, _invalid, 0), do: fail("the value is nested more than #{@depth_max} deep")
  defp value(nil, _invalid, _depth), do: "null"
  defp value(true, _invalid, _depth), do: "true"
  defp value(false, _invalid, _depth), do: "false"
  defp value(term, invalid, _depth) when is_binary(term), do: string(term, invalid)
  defp value(term, invalid, _depth) when is_atom(term), do: string(Atom.to_string(term), invalid)
  defp value(term, _invalid, _depth) when is_integer(term), do: Integer.to_string(term)
  defp value(term, _invalid, _depth) when is_float(term), do: Float.to_string(term)
  defp value(%Number{text: text}, _invalid, _depth), do: text

  defp value(term, invalid, depth) when is_list(term) do
    [?[, term |> Enum.map(&value(&1, invalid, depth - 1)) |> Enum.intersperse(?,), ?]]
  rescue
    FunctionClauseError -> fail("an improper list is no JSON")
  end

  defp value(%name{}, _invalid, _depth), do: fail("the struct #{inspect(name)} is no JSON: pass a map")

  defp value(term, invalid, depth) when is_map(term) do
    members = Enum.map(term, fn {name, each} -> [string(name(name), invalid), ?:, value(each, invalid, depth - 1)] end)
    [?{, Enum.intersperse(members, ?,), ?}]
  end

  defp value(term, _invalid, _depth), do: fail("#{inspect(term)} is no JSON")

  defp name(name) when is_binary(name), do: name
  defp name(name) when is_atom(name), do: Atom.to_string(name)
  defp name(name), do: fail("the key #{inspect(name)} is no string")

  defp string(text, invalid), do: [?", text |> well_formed(invalid) |> escaped(0, 0, []), ?"]

  # Copies runs without special characters as they are.
  defp escaped(text, from, length, done) do
    case text do
      <<_::binary-size(from), _::binary-size(length), c, _::binary>> when c in [?", ?\\] or c < 0x20 ->
        escaped(text, from + length + 1, 0, [done, binary_part(text, from, length), escape(c)])

      <<_::binary-size(from), _::binary-size(length), _, _::binary>> ->
        escaped(text, from, length + 1, done)

      _ ->
        [done, binary_part(text, from, length)]
    end
  end

  defp escape(?"), do: "\\\""
  defp escape(?\\), do: "\\\\"
  defp escape(?\n), do: "\\n"
  defp escape(?\t), do: "\\t"
  defp escape(?\r), do: "\\r"
  defp escape(c), do: ["\\u00", Base.encode16(<<c>>, case: :lower)]

  # Decoding. Each parser returns the value and the rest.

  defp skip({value, rest}), do: {value, skip(rest)}
  defp skip(<<c, rest::binary>>) when c in [?\s, ?\t, ?\n, ?\r], do: skip(rest)
  defp skip(rest), do: rest

  defp parse(_text, 0), do: fail("the value is nested more than #{@depth_max} deep")
  defp parse("null" <> rest, _depth), do: {nil, rest}
  defp parse("true" <> rest, _depth), do: {true, rest}
  defp parse("false" <> rest, _depth), do: {false, rest}
  defp parse("\"" <> rest, _depth), do: text(rest, rest, 0, [])

  defp parse("[" <> rest, depth) do
    case skip(rest) do
      "]" <> rest -> {[], rest}
      rest -> elements(rest, depth, [])
    end
  end

  defp parse("{" <> rest, depth) do
    case skip(rest) do
      "}" <> rest -> {%{}, rest}
      rest -> members(rest, depth, [])
    end
  end

  defp parse(<<c, _::binary>> = rest, _depth) when c in [?-, ?0, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9], do: number(rest)
  defp parse("", _depth), do: fail("the text ends within a value")
  defp parse(rest, _depth), do: fail("a value cannot begin with #{excerpt(rest)}")

  defp elements(rest, depth, done) do
    case skip(parse(skip(rest), depth - 1)) do
      {value, "," <> rest} -> elements(rest, depth, [value | done])
      {value, "]" <> rest} -> {Enum.reverse(done, [value]), rest}
      {_value, rest} -> fail("a list goes on with a comma or ends: #{excerpt(rest)}")
    end
  end

  defp members(rest, depth, done) do
    with "\"" <> rest <- skip(rest),
         {name, ":" <> rest} <- skip(text(rest, rest, 0, [])) do
      case skip(parse(skip(rest), depth - 1)) do
        {value, "," <> rest} -> members(rest, depth, [{name, value} | done])
        {value, "}" <> rest} -> {:maps.from_list(Enum.reverse(done, [{name, value}])), rest}
        {_value, rest} -> fail("an object goes on with a comma or ends: #{excerpt(rest)}")
      end
    else
      {_name, rest} -> fail("a colon follows a name: #{excerpt(rest)}")
      rest -> fail("a member begins with its name: #{excerpt(rest)}")
    end
  end

  # start is the text of the run without escapes that is being read, and length its bytes so far.
  defp text(<<?", rest::binary>>, start, length, done), do: {finished([done, binary_part(start, 0, length)]), rest}

  defp text(<<?\\, rest::binary>>, start, length, done) do
    {piece, rest} = unescaped(rest)
    text(rest, rest, 0, [done, binary_part(start, 0, length), piece])
  end

  defp text(<<c, _::binary>>, _start, _length, _done) when c < 0x20, do: fail("a string has the control character #{c}")
  defp text(<<_, rest::binary>>, start, length, done), do: text(rest, start, length + 1, done)
  defp text("", _start, _length, _done), do: fail("the text ends within a string")

  defp finished(pieces), do: pieces |> IO.iodata_to_binary() |> well_formed(:replace)

  defp unescaped("\"" <> rest), do: {"\"", rest}
  defp unescaped("\\" <> rest), do: {"\\", rest}
  defp unescaped("/" <> rest), do: {"/", rest}
  defp unescaped("b" <> rest), do: {"\b", rest}
  defp unescaped("f" <> rest), do: {"\f", rest}
  defp unescaped("n" <> rest), do: {"\n", rest}
  defp unescaped("r" <> rest), do: {"\r", rest}
  defp unescaped("t" <> rest), do: {"\t", rest}

  defp unescaped(<<?u, digits::binary-size(4), rest::binary>>) do
    case {hex(digits), rest} do
      {high, <<"\\u", digits::binary-size(4), after_low::binary>>} when high in 0xD800..0xDBFF ->
        case hex(digits) do
          low when low in 0xDC00..0xDFFF -> {<<0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00)::utf8>>, after_low}
          _other -> {"\uFFFD", rest}
        end

      {half, rest} when half in 0xD800..0xDFFF ->
        {"\uFFFD", rest}

      {code, rest} ->
        {<<code::utf8>>, rest}
    end
  end

  defp unescaped(rest), do: fail("there is no escape \\#{excerpt(rest)}")

  defp hex(digits) do
    case Base.decode16(digits, case: :mixed) do
      {:ok, <<code::16>>} -> code
      :error -> fail("#{excerpt(digits)} are no hexadecimal digits")
    end
  end

  defp number(text) do
    [all, whole, fraction, exponent] =
      case Regex.run(~r/\A(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?/, text) do
        nil -> fail("#{excerpt(text)} is no number")
        found -> Enum.take(found ++ ["", "", ""], 4)
      end

    rest = binary_part(text, byte_size(all), byte_size(text) - byte_size(all))

    if fraction == "" and exponent == "",
      do: {String.to_integer(whole), rest},
      else: {float(whole, if(fraction == "", do: ".0", else: fraction), exponent) || %Number{text: all}, rest}
  end

  defp float(whole, fraction, exponent) do
    String.to_float(whole <> fraction <> exponent)
  rescue
    ArgumentError -> nil
  end
end
