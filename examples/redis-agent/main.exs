# Runs the courier, or checks what it did:
#
#     elixirc -o /tmp *.ex && elixir -pa /tmp main.exs [--slow PARCEL | --check]
#
# DORMOUSE_REDIS has the addresses of the nodes, separated by commas.

{options, []} = OptionParser.parse!(System.argv(), strict: [slow: :integer, check: :boolean])

"DORMOUSE_REDIS"
|> System.get_env("127.0.0.1:7604")
|> String.split(",")
|> Nodes.start_link()

command = &Nodes.command/1

if options[:check] do
  Courier.check(command)
else
  Courier.work(command, options[:slow])
end
