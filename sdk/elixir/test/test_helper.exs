ExUnit.start(exclude: if(System.get_env("DORMOUSE_ENDPOINTS"), do: [], else: [:cluster]), assert_receive_timeout: 10_000)
