excluded =
  case System.get_env("DORMOUSE_URLS") do
    nil -> [:cluster, :tls]
    "https:" <> _rest -> [:cluster]
    _plain -> [:tls]
  end

ExUnit.start(exclude: excluded, assert_receive_timeout: 10_000)
