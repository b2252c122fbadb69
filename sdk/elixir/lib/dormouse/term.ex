defmodule Dormouse.Term do
  @moduledoc false
  # Erlang terms as bytes, for stores whose values JSON cannot hold.

  alias Dormouse.JSON

  @content_type "application/x-erlang-external-term"

  def content_type, do: @content_type

  def encode(term), do: :erlang.term_to_binary(term)

  @doc "Decodes bytes. Atoms that this VM does not know are refused."
  def decode(bytes) do
    {:ok, :erlang.binary_to_term(bytes, [:safe])}
  rescue
    ArgumentError -> {:error, :invalid_term}
  end

  @doc "Returns a name for any term: the same for equal terms of the same types, on each version of OTP."
  def name(term) do
    Base.url_encode64(:crypto.hash(:sha256, :erlang.term_to_binary(term, [:deterministic, minor_version: 2])), padding: false)
  end

  @doc "Reports whether JSON gives the term back as it was."
  def json?(term) do
    with {:ok, text} <- JSON.encode(term, :refuse), {:ok, ^term} <- JSON.decode(text), do: true, else: (_other -> false)
  end

  @doc "Returns a struct of the module if that is loaded, and a map with the same fields otherwise."
  def struct(module, fields), do: if(Code.ensure_loaded?(module), do: Kernel.struct!(module, fields), else: Map.new(fields))
end
