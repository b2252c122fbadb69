defmodule Dormouse.MixProject do
  use Mix.Project

  def project do
    [
      app: :dormouse,
      version: "0.1.0",
      elixir: "~> 1.14",
      description: "Client for Dormouse, a replicated store of AI agents' state",
      package: [licenses: ["Apache-2.0"], links: %{}, files: ~w(lib mix.exs README.md)],
      elixirc_paths: if(Mix.env() == :test, do: ["lib", "test/support"], else: ["lib"]),
      elixirc_options: [warnings_as_errors: true],
      deps: []
    ]
  end

  def application, do: [extra_applications: [:crypto, :public_key, :ssl]]
end
