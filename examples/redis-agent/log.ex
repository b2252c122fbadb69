defmodule Log do
  @moduledoc "Lines of output that name the process."

  def say(text), do: IO.puts("  [#{System.pid()}] #{text}")
end
