defmodule Dormouse.JSONTest do
  use ExUnit.Case, async: true
  alias Dormouse.JSON

  defp decode!(text) do
    assert {:ok, value} = JSON.decode(text)
    value
  end

  test "values are decoded" do
    assert decode!(~s( {"a" : [1, -2.5, 1e2, 1E-2, -0, true, false, null, "x"], "b":{}, "c":[ ]} )) ==
             %{"a" => [1, -2.5, 100.0, 0.01, 0, true, false, nil, "x"], "b" => %{}, "c" => []}

    assert decode!(~S("\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00")) == "\"\\/\b\f\n\r\té😀"
    assert decode!("123456789012345678901234567890") == 123_456_789_012_345_678_901_234_567_890
    assert decode!(~s({"a":1,"a":2})) == %{"a" => 2}
  end

  test "half of a surrogate pair becomes the replacement character" do
    assert decode!(~S("a\ud83db")) == "a\uFFFDb"
    assert decode!(~S("\ude00\ud83d")) == "\uFFFD\uFFFD"
    assert decode!(~S("\ud83d\u0041")) == "\uFFFDA"
    assert JSON.encode("a" <> <<0xED, 0xA0, 0xBD>> <> "b" <> <<0xFF>>) == {:ok, ~s("a\uFFFDb\uFFFD")}
    assert {:error, %{message: message}} = JSON.encode(<<0xED, 0xA0, 0xBD>>, :refuse)
    assert message =~ "no UTF-8"
  end

  test "a number beyond a float keeps its text" do
    text = ~s({"n":[-1e400,1.5E+999,1e308]})
    assert {:ok, %{"n" => [%JSON.Number{text: "-1e400"}, %JSON.Number{text: "1.5E+999"}, 1.0e308]} = value} = JSON.decode(text)
    assert JSON.encode(%{value | "n" => Enum.take(value["n"], 2)}) == {:ok, ~s({"n":[-1e400,1.5E+999]})}
  end

  test "what is no JSON is an error" do
    for text <- [
          "",
          " ",
          "nul",
          "tru",
          "[1,]",
          "[1 2]",
          "{\"a\"}",
          "{a:1}",
          "{\"a\":1,}",
          "\"abc",
          "\"\\x\"",
          "\"\\u12g4\"",
          "\"\n\"",
          "01",
          "1.",
          "-",
          ".5",
          "1e",
          "1 2",
          "[",
          "{",
          "\"\\"
        ] do
      assert {:error, %JSON.Error{}} = JSON.decode(text), text
    end
  end

  test "terms that JSON cannot hold are an error" do
    for term <- [{1, 2}, self(), ~D[2026-01-01], %{1 => 2}, [1 | 2], fn -> 1 end, <<1::3>>] do
      assert {:error, %JSON.Error{}} = JSON.encode(term), inspect(term)
    end
  end

  test "nesting ends at its limit" do
    nest = fn depth -> String.duplicate("[", depth) <> String.duplicate("]", depth) end
    assert {:ok, term} = JSON.decode(nest.(JSON.depth_max()))
    assert JSON.encode(term) == {:ok, nest.(JSON.depth_max())}
    assert {:error, %{message: message}} = JSON.decode(nest.(JSON.depth_max() + 1))
    assert message =~ "nested more than"
    assert {:error, _} = JSON.encode([term])
  end

  # The properties hold for terms and damages from a seed that a failure names.

  test "a term is the same after a round trip" do
    seeded(fn ->
      for _ <- 1..3000 do
        term = term(4)
        assert {:ok, text} = JSON.encode(term)
        assert String.valid?(text)
        assert JSON.decode(text) == {:ok, term}
      end
    end)
  end

  test "a damaged text is decoded or refused, and what is decoded can be encoded" do
    seeded(fn ->
      for _ <- 1..5000 do
        {:ok, text} = JSON.encode(term(3))

        case JSON.decode(damaged(text)) do
          {:ok, term} -> assert {:ok, _text} = JSON.encode(term)
          {:error, %JSON.Error{}} -> :ok
        end
      end
    end)
  end

  defp seeded(run) do
    seed = :erlang.phash2(System.unique_integer())
    :rand.seed(:exsss, seed)

    try do
      run.()
    rescue
      error -> reraise "with the seed #{seed}: #{Exception.message(error)}", __STACKTRACE__
    end
  end

  defp term(depth) do
    case :rand.uniform(if(depth == 0, do: 7, else: 9)) do
      1 -> nil
      2 -> :rand.uniform(2) == 1
      3 -> :rand.uniform(2000) - 1000
      4 -> (:rand.uniform(1 <<< 62) - (1 <<< 61)) * :rand.uniform(1 <<< 62)
      5 -> (:rand.uniform() - 0.5) * :math.pow(10, :rand.uniform(600) - 300)
      n when n in [6, 7] -> text()
      8 -> for _ <- 1..:rand.uniform(4), do: term(depth - 1)
      9 -> for _ <- 1..:rand.uniform(4), into: %{}, do: {text(), term(depth - 1)}
    end
  end

  defp text do
    for _ <- 1..:rand.uniform(12), into: "" do
      case :rand.uniform(5) do
        1 -> <<:rand.uniform(0x20) - 1>>
        2 -> Enum.random(["\"", "\\", "/", "é", "😀", "\u2028", "\u007f", "\uFFFD"])
        _ -> <<:rand.uniform(0x5E) + 0x20>>
      end
    end
  end

  defp damaged(text) do
    at = :rand.uniform(byte_size(text)) - 1
    <<before::binary-size(at), byte, rest::binary>> = text

    case :rand.uniform(4) do
      1 -> before
      2 -> before <> <<:rand.uniform(256) - 1>> <> rest
      3 -> before <> <<byte, :rand.uniform(256) - 1>> <> rest
      4 -> before <> rest
    end
  end

  defp a <<< b, do: Bitwise.bsl(a, b)
end
