ExUnit.start(exclude: if(System.get_env("DORMOUSE_URLS"), do: [], else: [:cluster]), assert_receive_timeout: 10_000)
